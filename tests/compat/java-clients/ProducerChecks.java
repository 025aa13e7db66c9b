import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.record.TimestampType;

final class ProducerChecks {
  private final Cluster cluster;

  ProducerChecks(Cluster cluster) {
    this.cluster = cluster;
  }

  void add(Checks checks) {
    checks.add("metadata", this::metadata);
    checks.add("produce.codecs", this::codecs);
    checks.add("produce.headers", this::headers);
    checks.add("produce.nulls", this::nulls);
    checks.add("produce.idempotent", this::idempotent);
    checks.add("produce.acks", this::acks);
    checks.add("produce.timestamps", this::timestamps);
    checks.add("produce.errors", this::errors);
  }

  private void metadata() throws Exception {
    String topic = cluster.topic(3);
    try (KafkaProducer<String, String> producer = cluster.producer();
        var consumer = cluster.consumer(null)) {
      List<PartitionInfo> partitions = producer.partitionsFor(topic);
      Checks.equal(3, partitions.size());
      for (PartitionInfo partition : partitions) {
        Checks.check(!partition.leader().isEmpty(), partition);
        Checks.equal(List.of(partition.leader()), List.of(partition.inSyncReplicas()));
        Checks.equal(List.of(partition.leader()), List.of(partition.replicas()));
      }
      Checks.equal(3, consumer.partitionsFor(topic).size());
      Checks.check(consumer.listTopics().containsKey(topic), "it is in the list of all topics");
    }
    // A producer makes a topic that is not there.
    String missing = Cluster.fresh("auto");
    RecordMetadata written = cluster.produce(missing, 0, List.of("first")).get(0);
    Checks.equal(0L, written.offset());
    Checks.equal(List.of("first"), Cluster.values(cluster.read(missing, 0, 1)));
  }

  private void codecs() throws Exception {
    String topic = cluster.topic(1);
    List<String> wanted = new ArrayList<>();
    for (String codec : List.of("none", "gzip", "snappy", "lz4", "zstd")) {
      List<String> values = Cluster.numbered(codec + "-" + "x".repeat(200) + "-", 100);
      wanted.addAll(values);
      try (KafkaProducer<String, String> producer = cluster.producer("compression.type", codec, "linger.ms", "100")) {
        Cluster.produce(producer, topic, 0, values);
        double ratio = producer.metrics().entrySet().stream()
            .filter(metric -> metric.getKey().name().equals("compression-rate-avg"))
            .filter(metric -> metric.getKey().group().equals("producer-metrics"))
            .mapToDouble(metric -> (double) metric.getValue().metricValue()).findFirst().orElseThrow();
        Checks.check(codec.equals("none") ? ratio == 1.0 : ratio < 0.5, codec + " compresses to " + ratio);
      }
    }
    Checks.equal(wanted, Cluster.values(cluster.read(topic, 0, wanted.size())));
  }

  private void headers() throws Exception {
    String topic = cluster.topic(1, "retention.ms", "-1");
    ProducerRecord<String, String> record = new ProducerRecord<>(topic, 0, 1234567890123L, "key", "value");
    record.headers().add("a", "1".getBytes(StandardCharsets.UTF_8)).add("a", "2".getBytes(StandardCharsets.UTF_8))
        .add("null", null).add("empty", new byte[0]).add("", new byte[] {0, -1})
        .add("ключ", new byte[10000]);
    try (KafkaProducer<String, String> producer = cluster.producer()) {
      Cluster.get(producer.send(record));
    }
    ConsumerRecord<String, String> found = cluster.read(topic, 0, 1).get(0);
    Checks.equal("key", found.key());
    Checks.equal(1234567890123L, found.timestamp());
    Checks.equal(TimestampType.CREATE_TIME, found.timestampType());
    Checks.equal(List.of(record.headers().toArray()), List.<Header>of(found.headers().toArray()));
  }

  private void nulls() throws Exception {
    String topic = cluster.topic(1);
    try (KafkaProducer<String, String> producer = cluster.producer()) {
      producer.send(new ProducerRecord<>(topic, null, null));
      producer.send(new ProducerRecord<>(topic, "key", null));
      producer.send(new ProducerRecord<>(topic, null, "value"));
      Cluster.get(producer.send(new ProducerRecord<>(topic, "", "")));
    }
    List<String> found = new ArrayList<>();
    for (ConsumerRecord<String, String> record : cluster.read(topic, 0, 4)) {
      found.add(record.key() + " " + record.serializedKeySize() + " " + record.value() + " "
          + record.serializedValueSize());
    }
    Checks.equal(List.of("null -1 null -1", "key 3 null -1", "null -1 value 5", " 0  0"), found);
  }

  private void idempotent() throws Exception {
    String topic = cluster.topic(3);
    int count = 3000;
    try (KafkaProducer<String, String> producer = cluster.producer("enable.idempotence", "true", "batch.size", "2000",
        "max.in.flight.requests.per.connection", "5", "retries", "1000")) {
      List<Future<RecordMetadata>> sent = new ArrayList<>();
      for (int i = 0; i < count; ++i) sent.add(producer.send(new ProducerRecord<>(topic, i % 3, null, "" + i)));
      for (int i = 0; i < count; ++i) Checks.equal((long) i / 3, Cluster.get(sent.get(i)).offset());
    }
    for (int partition = 0; partition < 3; ++partition) {
      List<ConsumerRecord<String, String>> found = cluster.read(topic, partition, count / 3);
      for (int i = 0; i < count / 3; ++i) Checks.equal("" + (i * 3 + partition), found.get(i).value());
      TopicPartition where = new TopicPartition(topic, partition);
      var state = Cluster.get(cluster.admin.describeProducers(List.of(where)).partitionResult(where));
      Checks.equal(1, state.activeProducers().size());
      Checks.equal(count / 3 - 1, state.activeProducers().get(0).lastSequence());
    }
  }

  private void acks() throws Exception {
    String topic = cluster.topic(1);
    for (String acks : List.of("0", "1", "all")) {
      RecordMetadata written = cluster.produce(topic, 0, List.of(acks), "acks", acks, "enable.idempotence", "false")
          .get(0);
      Checks.equal(!acks.equals("0"), written.hasOffset());
    }
    Checks.equal(List.of("0", "1", "all"), Cluster.values(cluster.read(topic, 0, 3)));
  }

  private void timestamps() throws Exception {
    String topic = cluster.topic(1, "message.timestamp.type", "LogAppendTime");
    long before = System.currentTimeMillis();
    RecordMetadata written;
    try (KafkaProducer<String, String> producer = cluster.producer()) {
      written = Cluster.get(producer.send(new ProducerRecord<>(topic, 0, 1L, "key", "value")));
    }
    ConsumerRecord<String, String> found = cluster.read(topic, 0, 1).get(0);
    Checks.equal(TimestampType.LOG_APPEND_TIME, found.timestampType());
    Checks.equal(written.timestamp(), found.timestamp());
    Checks.check(found.timestamp() >= before && found.timestamp() <= System.currentTimeMillis(), found);
  }

  private void errors() throws Exception {
    String topic = cluster.topic(1, "max.message.bytes", "1000");
    try (KafkaProducer<String, String> producer = cluster.producer("max.block.ms", "2000")) {
      Checks.throwing(RecordTooLargeException.class,
          () -> Cluster.get(producer.send(new ProducerRecord<>(topic, "x".repeat(2000)))));
      Checks.throwing(InvalidTopicException.class,
          () -> Cluster.get(producer.send(new ProducerRecord<>("no topic", "x"))));
      Checks.throwing(TimeoutException.class,
          () -> Cluster.get(producer.send(new ProducerRecord<>(topic, 7, null, "x"))));
      Checks.equal(0L, Cluster.get(producer.send(new ProducerRecord<>(topic, "small"))).offset());
    }
  }
}
