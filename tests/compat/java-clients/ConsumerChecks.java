import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.clients.consumer.SubscriptionPattern;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InvalidRegularExpression;

final class ConsumerChecks {
  private final Cluster cluster;

  ConsumerChecks(Cluster cluster) {
    this.cluster = cluster;
  }

  void add(Checks checks) {
    checks.add("consume.group.classic", () -> {
      twoMembers("group.protocol", "classic", "partition.assignment.strategy",
          "org.apache.kafka.clients.consumer.RangeAssignor");
      twoMembers("group.protocol", "classic", "partition.assignment.strategy",
          "org.apache.kafka.clients.consumer.CooperativeStickyAssignor");
    });
    checks.add("consume.group.consumer", () -> {
      twoMembers("group.protocol", "consumer");
      twoMembers("group.protocol", "consumer", "group.remote.assignor", "range");
    });
    checks.add("consume.group.migration", this::migration);
    checks.add("consume.group.static", () -> {
      staticMember("classic");
      staticMember("consumer");
    });
    checks.add("consume.group.regex", this::regex);
    checks.add("consume.commit", () -> {
      commit("classic");
      commit("consumer");
    });
    checks.add("consume.auto_commit", this::autoCommit);
    checks.add("consume.seek", this::seek);
    checks.add("consume.timestamps", this::timestamps);
  }

  private static Set<TopicPartition> all(String topic, int partitions) {
    Set<TopicPartition> all = new HashSet<>();
    for (int i = 0; i < partitions; ++i) all.add(new TopicPartition(topic, i));
    return all;
  }

  private static void shared(Collection<KafkaConsumer<String, String>> members, Set<TopicPartition> partitions)
      throws Exception {
    Checks.until("the partitions are shared evenly", () -> {
      Set<TopicPartition> assigned = new HashSet<>();
      boolean even = true;
      for (KafkaConsumer<String, String> member : members) {
        member.poll(Cluster.POLL);
        even = even && member.assignment().size() == partitions.size() / members.size();
        assigned.addAll(member.assignment());
      }
      return even && assigned.equals(partitions);
    });
  }

  /** The second takes over when the first leaves. */
  private void twoMembers(String... settings) throws Exception {
    String topic = cluster.topic(4);
    String group = Cluster.fresh("group");
    try (KafkaConsumer<String, String> first = cluster.consumer(group, settings);
        KafkaConsumer<String, String> second = cluster.consumer(group, settings)) {
      first.subscribe(List.of(topic));
      shared(List.of(first), all(topic, 4));
      second.subscribe(List.of(topic));
      shared(List.of(first, second), all(topic, 4));
      first.close();
      shared(List.of(second), all(topic, 4));
      cluster.produce(topic, 3, List.of("value"));
      Checks.equal(List.of("value"), Cluster.values(Cluster.take(second, 1)));
    }
  }

  /** Members of both protocols in one group. */
  private void migration() throws Exception {
    String topic = cluster.topic(2);
    String group = Cluster.fresh("group");
    try (KafkaConsumer<String, String> classic = cluster.consumer(group, "group.protocol", "classic",
             "partition.assignment.strategy", "org.apache.kafka.clients.consumer.CooperativeStickyAssignor");
        KafkaConsumer<String, String> modern = cluster.consumer(group, "group.protocol", "consumer")) {
      classic.subscribe(List.of(topic));
      shared(List.of(classic), all(topic, 2));
      modern.subscribe(List.of(topic));
      shared(List.of(classic, modern), all(topic, 2));
      classic.close();
      shared(List.of(modern), all(topic, 2));
    }
  }

  /** A static member that comes back has what it had. */
  private void staticMember(String protocol) throws Exception {
    String topic = cluster.topic(4);
    String group = Cluster.fresh("group");
    try (KafkaConsumer<String, String> other =
        cluster.consumer(group, "group.protocol", protocol, "group.instance.id", "other")) {
      other.subscribe(List.of(topic));
      Set<TopicPartition> had;
      try (KafkaConsumer<String, String> member =
          cluster.consumer(group, "group.protocol", protocol, "group.instance.id", "member")) {
        member.subscribe(List.of(topic));
        shared(List.of(other, member), all(topic, 4));
        had = member.assignment();
      }
      other.poll(Cluster.POLL);
      Checks.equal(2, other.assignment().size());
      try (KafkaConsumer<String, String> again =
          cluster.consumer(group, "group.protocol", protocol, "group.instance.id", "member")) {
        again.subscribe(List.of(topic));
        shared(List.of(other, again), all(topic, 4));
        Checks.equal(had, again.assignment());
      }
    }
  }

  /** The broker matches with RE2, which knows \pL and no back-references. */
  private void regex() throws Exception {
    String prefix = Cluster.fresh("re");
    Set<TopicPartition> wanted = new HashSet<>();
    for (String name : List.of(prefix + ".b2", prefix + ".a1", prefix + ".11", prefix + ".a1.not")) {
      Cluster.get(cluster.admin.createTopics(
          List.of(new org.apache.kafka.clients.admin.NewTopic(name, 1, (short) 1))).all());
      cluster.served(name, 1);
      if (name.matches(".*[ab].$")) wanted.add(new TopicPartition(name, 0));
    }
    String group = Cluster.fresh("group");
    try (KafkaConsumer<String, String> consumer = cluster.consumer(group, "group.protocol", "consumer")) {
      consumer.subscribe(new SubscriptionPattern(prefix + "\\.\\pL[[:digit:]]"));
      shared(List.of(consumer), wanted);
      consumer.subscribe(new SubscriptionPattern("(a)\\1"));
      Checks.throwing(InvalidRegularExpression.class, () -> {
        for (int i = 0; i < 100; ++i) consumer.poll(Cluster.POLL);
      });
    }
    // The client itself matches where java.util.regex is asked for.
    try (KafkaConsumer<String, String> consumer = cluster.consumer(Cluster.fresh("group"))) {
      consumer.subscribe(java.util.regex.Pattern.compile(prefix + "\\.[ab]\\d"));
      shared(List.of(consumer), wanted);
    }
  }

  private void commit(String protocol) throws Exception {
    String topic = cluster.topic(2);
    String group = Cluster.fresh("group");
    Map<TopicPartition, OffsetAndMetadata> wanted = Map.of(new TopicPartition(topic, 0),
        new OffsetAndMetadata(4, "half way"), new TopicPartition(topic, 1), new OffsetAndMetadata(10));
    for (int i = 0; i < 2; ++i) cluster.produce(topic, i, Cluster.numbered(i + "-", 10));
    try (KafkaConsumer<String, String> consumer = cluster.consumer(group, "group.protocol", protocol)) {
      consumer.subscribe(List.of(topic));
      Checks.equal(20, Cluster.take(consumer, 20).size());
      consumer.commitSync();
      Map<TopicPartition, OffsetAndMetadata> found = consumer.committed(all(topic, 2));
      Checks.equal(List.of(10L, 10L), found.values().stream().map(OffsetAndMetadata::offset).toList());
      List<Object> results = new ArrayList<>();
      consumer.commitAsync(Map.of(new TopicPartition(topic, 0), wanted.get(new TopicPartition(topic, 0))),
          (offsets, error) -> results.add(error == null ? offsets.keySet() : error));
      Checks.until("the callback", () -> {
        consumer.poll(Cluster.POLL);
        return !results.isEmpty();
      });
      Checks.equal(List.<Object>of(Set.of(new TopicPartition(topic, 0))), results);
      found = consumer.committed(all(topic, 2));
      Checks.equal(4L, found.get(new TopicPartition(topic, 0)).offset());
      Checks.equal("half way", found.get(new TopicPartition(topic, 0)).metadata());
      Checks.equal(10L, found.get(new TopicPartition(topic, 1)).offset());
    }
    cluster.produce(topic, 1, List.of("more"));
    try (KafkaConsumer<String, String> consumer = cluster.consumer(group, "group.protocol", protocol)) {
      consumer.subscribe(List.of(topic));
      List<String> found = new ArrayList<>(Cluster.values(Cluster.take(consumer, 7)));
      found.sort(null);
      Checks.equal(List.of("0-4", "0-5", "0-6", "0-7", "0-8", "0-9", "more"), found);
      // Who is no member of a group with members commits nothing there.
      try (KafkaConsumer<String, String> stranger = cluster.consumer(group)) {
        stranger.assign(all(topic, 2));
        Checks.throwing(CommitFailedException.class, () -> stranger.commitSync(wanted));
      }
    }
  }

  private void autoCommit() throws Exception {
    String topic = cluster.topic(1);
    String group = Cluster.fresh("group");
    TopicPartition partition = new TopicPartition(topic, 0);
    cluster.produce(topic, 0, Cluster.numbered("", 10));
    try (KafkaConsumer<String, String> consumer =
        cluster.consumer(group, "enable.auto.commit", "true", "auto.commit.interval.ms", "50")) {
      consumer.subscribe(List.of(topic));
      Cluster.take(consumer, 10);
      Checks.until("the commit of what was polled", () -> {
        consumer.poll(Cluster.POLL);
        return consumer.committed(Set.of(partition)).get(partition).offset() == 10;
      });
      cluster.produce(topic, 0, List.of("last"));
      Cluster.take(consumer, 1);
    }
    Map<TopicPartition, OffsetAndMetadata> found =
        Cluster.get(cluster.admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata());
    Checks.equal(11L, found.get(partition).offset());
  }

  private void seek() throws Exception {
    String topic = cluster.topic(2);
    TopicPartition first = new TopicPartition(topic, 0);
    TopicPartition second = new TopicPartition(topic, 1);
    for (int i = 0; i < 2; ++i) cluster.produce(topic, i, Cluster.numbered(i + "-", 10));
    try (KafkaConsumer<String, String> consumer = cluster.consumer(null, "max.poll.records", "3")) {
      consumer.assign(List.of(first, second));
      Checks.equal(Map.of(first, 0L, second, 0L), consumer.beginningOffsets(List.of(first, second)));
      Checks.equal(Map.of(first, 10L, second, 10L), consumer.endOffsets(List.of(first, second)));
      consumer.pause(List.of(second));
      consumer.seek(first, 7);
      Checks.equal(List.of("0-7", "0-8", "0-9"), Cluster.values(Cluster.take(consumer, 3)));
      Checks.equal(0, consumer.poll(Cluster.POLL).count());
      consumer.resume(List.of(second));
      consumer.seekToEnd(List.of(second));
      Checks.equal(10L, consumer.position(second));
      consumer.seekToBeginning(List.of(second));
      Checks.equal(List.of("1-0", "1-1", "1-2"), Cluster.values(Cluster.take(consumer, 3)));
      // Beyond the end it goes where auto.offset.reset says.
      consumer.assign(List.of(first));
      consumer.seek(first, 77);
      Checks.equal(List.of("0-0", "0-1", "0-2"), Cluster.values(Cluster.take(consumer, 3)));
      Checks.equal(7L, consumer.currentLag(first).orElseThrow());
    }
  }

  private void timestamps() throws Exception {
    String topic = cluster.topic(1, "retention.ms", "-1");
    TopicPartition partition = new TopicPartition(topic, 0);
    try (KafkaProducer<String, String> producer = cluster.producer()) {
      for (long time : new long[] {1000, 3000, 2000, 5000}) {
        Cluster.get(producer.send(new ProducerRecord<>(topic, 0, time, null, "at " + time)));
      }
    }
    try (KafkaConsumer<String, String> consumer = cluster.consumer(null)) {
      for (long[] pair : new long[][] {{0, 0}, {1000, 0}, {1001, 1}, {2000, 1}, {3001, 3}, {5000, 3}}) {
        OffsetAndTimestamp found = consumer.offsetsForTimes(Map.of(partition, pair[0])).get(partition);
        Checks.equal(pair[1], found.offset());
      }
      Checks.equal(null, consumer.offsetsForTimes(Map.of(partition, 5001L)).get(partition));
      consumer.assign(List.of(partition));
      List<ConsumerRecord<String, String>> found = Cluster.take(consumer, 4);
      Checks.equal(List.of(1000L, 3000L, 2000L, 5000L), found.stream().map(ConsumerRecord::timestamp).toList());
    }
  }
}
