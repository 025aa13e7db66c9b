import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.ProducerFencedException;

final class TransactionChecks {
  private final Cluster cluster;

  TransactionChecks(Cluster cluster) {
    this.cluster = cluster;
  }

  void add(Checks checks) {
    checks.add("txn.commit", this::commit);
    checks.add("txn.abort", this::abort);
    checks.add("txn.offsets", () -> {
      offsets("classic");
      offsets("consumer");
    });
    checks.add("txn.fencing", this::fencing);
    checks.add("consume.read_committed", this::readCommitted);
  }

  private KafkaProducer<String, String> transactional() {
    KafkaProducer<String, String> producer = cluster.producer("transactional.id", Cluster.fresh("txn"));
    producer.initTransactions();
    return producer;
  }

  private List<String> committed(String topic, int partition, int count) throws Exception {
    return Cluster.values(cluster.read(topic, partition, count, "isolation.level", "read_committed"));
  }

  private void commit() throws Exception {
    List<String> topics = List.of(cluster.topic(2), cluster.topic(2));
    try (KafkaProducer<String, String> producer = transactional()) {
      for (int i = 0; i < 3; ++i) {
        producer.beginTransaction();
        for (String topic : topics) {
          for (int partition = 0; partition < 2; ++partition) {
            Cluster.produce(producer, topic, partition, List.of("a" + i, "b" + i));
          }
        }
        producer.commitTransaction();
      }
    }
    for (String topic : topics) {
      for (int partition = 0; partition < 2; ++partition) {
        Checks.equal(List.of("a0", "b0", "a1", "b1", "a2", "b2"), committed(topic, partition, 6));
        Checks.equal(9L, cluster.end(new TopicPartition(topic, partition)));
      }
    }
  }

  private void abort() throws Exception {
    String topic = cluster.topic(1);
    try (KafkaProducer<String, String> producer = transactional()) {
      for (boolean commits : new boolean[] {false, true, false, true}) {
        producer.beginTransaction();
        Cluster.produce(producer, topic, 0, List.of(commits + "-1", commits + "-2"));
        if (commits) {
          producer.commitTransaction();
        } else {
          producer.abortTransaction();
        }
      }
    }
    Checks.equal(List.of("true-1", "true-2", "true-1", "true-2"), committed(topic, 0, 4));
    Checks.equal(List.of("false-1", "false-2", "true-1", "true-2", "false-1", "false-2", "true-1", "true-2"),
        Cluster.values(cluster.read(topic, 0, 8)));
  }

  /** Consume, transform, produce: aborted first, then committed. */
  private void offsets(String protocol) throws Exception {
    String source = cluster.topic(1);
    String sink = cluster.topic(1);
    String group = Cluster.fresh("group");
    TopicPartition partition = new TopicPartition(source, 0);
    cluster.produce(source, 0, List.of("1", "2", "3"));
    try (KafkaProducer<String, String> producer = transactional();
        KafkaConsumer<String, String> consumer = cluster.consumer(group, "group.protocol", protocol)) {
      consumer.subscribe(List.of(source));
      for (boolean commits : new boolean[] {false, true}) {
        producer.beginTransaction();
        Map<TopicPartition, OffsetAndMetadata> next = new HashMap<>();
        for (var record : Cluster.take(consumer, 3)) {
          producer.send(new ProducerRecord<>(sink, "out-" + record.value()));
          next.put(partition, new OffsetAndMetadata(record.offset() + 1, "in a transaction"));
        }
        producer.sendOffsetsToTransaction(next, consumer.groupMetadata());
        if (commits) {
          producer.commitTransaction();
        } else {
          producer.abortTransaction();
          Checks.equal(null, consumer.committed(java.util.Set.of(partition)).get(partition));
          consumer.seekToBeginning(List.of(partition));
        }
      }
      OffsetAndMetadata found = consumer.committed(java.util.Set.of(partition)).get(partition);
      Checks.equal(3L, found.offset());
      Checks.equal("in a transaction", found.metadata());
    }
    Checks.equal(List.of("out-1", "out-2", "out-3"), committed(sink, 0, 3));
  }

  private void fencing() throws Exception {
    String topic = cluster.topic(1);
    String id = Cluster.fresh("txn");
    try (KafkaProducer<String, String> old = cluster.producer("transactional.id", id);
        KafkaProducer<String, String> successor = cluster.producer("transactional.id", id)) {
      old.initTransactions();
      old.beginTransaction();
      Cluster.produce(old, topic, 0, List.of("old"));
      successor.initTransactions();
      successor.beginTransaction();
      Cluster.produce(successor, topic, 0, List.of("new"));
      successor.commitTransaction();
      Checks.throwing(InvalidProducerEpochException.class,
          () -> Cluster.get(old.send(new ProducerRecord<>(topic, "late"))));
      Checks.throwing(ProducerFencedException.class, old::abortTransaction);
    }
    Checks.equal(List.of("new"), committed(topic, 0, 1));
  }

  private void readCommitted() throws Exception {
    String topic = cluster.topic(1);
    TopicPartition partition = new TopicPartition(topic, 0);
    cluster.produce(topic, 0, List.of("before"));
    try (KafkaProducer<String, String> producer = transactional();
        KafkaConsumer<String, String> consumer = cluster.consumer(null, "isolation.level", "read_committed");
        KafkaConsumer<String, String> all = cluster.consumer(null)) {
      consumer.assign(List.of(partition));
      all.assign(List.of(partition));
      producer.beginTransaction();
      Cluster.produce(producer, topic, 0, List.of("open"));
      cluster.produce(topic, 0, List.of("after"));
      // All is there, but only what comes before the open transaction is stable.
      Checks.equal(List.of("before", "open", "after"), Cluster.values(Cluster.take(all, 3)));
      Checks.equal(List.of("before"), Cluster.values(Cluster.take(consumer, 1)));
      Checks.equal(Map.of(partition, 1L), consumer.endOffsets(List.of(partition)));
      Checks.equal(Map.of(partition, 3L), all.endOffsets(List.of(partition)));
      Checks.equal(3L, cluster.offset(partition, OffsetSpec.latest()));
      Checks.equal(0, consumer.poll(Cluster.POLL).count());
      producer.abortTransaction();
      Checks.equal(List.of("after"), Cluster.values(Cluster.take(consumer, 1)));
      Checks.until("the marker is passed", () -> {
        consumer.poll(Cluster.POLL);
        return consumer.position(partition) == 4;
      });
    }
  }
}
