import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.config.ConfigResource;

final class ShareChecks {
  private final Cluster cluster;

  ShareChecks(Cluster cluster) {
    this.cluster = cluster;
  }

  void add(Checks checks) {
    checks.add("share.consume", this::implicit);
    checks.add("share.acknowledge", this::explicit);
    checks.add("share.renew", this::renew);
    checks.add("share.close", this::closeGivesBack);
    checks.add("share.two_members", this::twoMembers);
    checks.add("share.max_deliveries", this::maxDeliveries);
    checks.add("share.read_committed", this::readCommitted);
  }

  private String group(String... configs) throws Exception {
    String group = Cluster.fresh("share");
    cluster.configure(ConfigResource.Type.GROUP, group, "share.auto.offset.reset", "earliest");
    for (int i = 0; i < configs.length; i += 2) {
      cluster.configure(ConfigResource.Type.GROUP, group, configs[i], configs[i + 1]);
    }
    return group;
  }

  private KafkaShareConsumer<String, String> member(String group, String topic, String mode) {
    KafkaShareConsumer<String, String> member = cluster.shareConsumer(group, "share.acknowledgement.mode", mode);
    member.subscribe(List.of(topic));
    return member;
  }

  interface Treatment {
    AcknowledgeType of(ConsumerRecord<String, String> record);
  }

  /** Polls until so many came; acknowledges as told, if told, and commits each poll's. */
  private static List<String> take(KafkaShareConsumer<String, String> member, int count, Treatment treatment)
      throws Exception {
    List<String> taken = new ArrayList<>();
    Checks.until(count + " records", () -> {
      for (ConsumerRecord<String, String> record : member.poll(Cluster.POLL)) {
        taken.add(record.value());
        if (treatment != null) member.acknowledge(record, treatment.of(record));
      }
      committed(member.commitSync());
      return taken.size() >= count;
    });
    return taken;
  }

  private static void committed(Map<TopicIdPartition, Optional<KafkaException>> results) {
    for (Optional<KafkaException> error : results.values()) error.ifPresent(e -> {
      throw e;
    });
  }

  private void implicit() throws Exception {
    String topic = cluster.topic(1);
    String group = group();
    List<String> values = Cluster.numbered("", 200);
    cluster.produce(topic, 0, values);
    try (var member = member(group, topic, "implicit")) {
      Checks.equal(values, take(member, 200, null));
    }
    cluster.produce(topic, 0, List.of("last"));
    try (var member = member(group, topic, "implicit")) {
      Checks.equal(List.of("last"), take(member, 1, null));
    }
  }

  private void explicit() throws Exception {
    String topic = cluster.topic(1);
    String group = group();
    cluster.produce(topic, 0, Cluster.numbered("", 30));
    Map<String, List<Integer>> deliveries = new HashMap<>();
    List<String> callbacks = new ArrayList<>();
    try (var member = member(group, topic, "explicit")) {
      member.setAcknowledgementCommitCallback((offsets, error) -> {
        if (error != null) callbacks.add(error.toString());
        offsets.values().forEach(set -> set.forEach(offset -> callbacks.add("" + offset)));
      });
      // 10 accepted, 10 rejected, 10 released and accepted when they come again.
      take(member, 40, record -> {
        deliveries.computeIfAbsent(record.value(), key -> new ArrayList<>())
            .add((int) record.deliveryCount().orElseThrow());
        int number = Integer.parseInt(record.value());
        if (number % 3 == 0) return AcknowledgeType.REJECT;
        return number % 3 == 1 && record.deliveryCount().get() == 1 ? AcknowledgeType.RELEASE
            : AcknowledgeType.ACCEPT;
      });
      Checks.throwing(IllegalStateException.class,
          () -> member.acknowledge(topic, 0, 77, AcknowledgeType.ACCEPT));
      Checks.until("the callbacks", () -> {
        member.poll(Cluster.POLL);
        return callbacks.size() >= 40;
      });
    }
    Map<String, List<Integer>> wanted = new HashMap<>();
    for (int i = 0; i < 30; ++i) wanted.put("" + i, i % 3 == 1 ? List.of(1, 2) : List.of(1));
    Checks.equal(wanted, deliveries);
    Checks.equal(30, new TreeSet<>(callbacks).size());
  }

  /** A renewed lock: the record comes again without another delivery. */
  private void renew() throws Exception {
    String topic = cluster.topic(1);
    String group = group();
    cluster.produce(topic, 0, List.of("a", "b"));
    try (var member = member(group, topic, "explicit")) {
      List<Integer> counts = new ArrayList<>();
      take(member, 4, record -> {
        counts.add((int) record.deliveryCount().orElseThrow());
        return counts.size() <= 2 ? AcknowledgeType.RENEW : AcknowledgeType.ACCEPT;
      });
      Checks.equal(List.of(1, 1, 1, 1), counts);
      Checks.check(member.acquisitionLockTimeoutMs().orElseThrow() >= 1000, member.acquisitionLockTimeoutMs());
    }
    cluster.produce(topic, 0, List.of("c"));
    try (var member = member(group, topic, "implicit")) {
      Checks.equal(List.of("c"), take(member, 1, null));
    }
  }

  private void closeGivesBack() throws Exception {
    String topic = cluster.topic(1);
    String group = group();
    cluster.produce(topic, 0, List.of("1", "2", "3"));
    try (var member = member(group, topic, "explicit")) {
      Checks.until("records", () -> member.poll(Cluster.POLL).count() == 3);
    }
    try (var member = member(group, topic, "explicit")) {
      Checks.equal(List.of("1", "2", "3"), take(member, 3, record -> AcknowledgeType.ACCEPT));
    }
  }

  private void twoMembers() throws Exception {
    String topic = cluster.topic(1);
    String group = group();
    Map<String, Integer> taken = new TreeMap<>();
    List<String> values = Cluster.numbered("", 400);
    try (var first = member(group, topic, "implicit"); var second = member(group, topic, "implicit")) {
      for (int i = 0; i < 400; i += 20) cluster.produce(topic, 0, values.subList(i, i + 20));
      Checks.until("all records", () -> {
        for (var member : List.of(first, second)) {
          for (var record : member.poll(Cluster.POLL)) taken.merge(record.value(), 1, Integer::sum);
        }
        return taken.size() == 400;
      });
    }
    Checks.equal(400, taken.values().stream().mapToInt(Integer::intValue).sum());
  }

  private void maxDeliveries() throws Exception {
    String topic = cluster.topic(1);
    String group = group("share.delivery.count.limit", "2");
    cluster.produce(topic, 0, List.of("bad", "good"));
    try (var member = member(group, topic, "explicit")) {
      List<String> taken = take(member, 3,
          record -> record.value().equals("bad") ? AcknowledgeType.RELEASE : AcknowledgeType.ACCEPT);
      taken.sort(null);
      Checks.equal(List.of("bad", "bad", "good"), taken);
      cluster.produce(topic, 0, List.of("next"));
      Checks.equal(List.of("next"), take(member, 1, record -> AcknowledgeType.ACCEPT));
    }
  }

  private void readCommitted() throws Exception {
    String topic = cluster.topic(1);
    String group = group("share.isolation.level", "read_committed");
    try (KafkaProducer<String, String> producer = cluster.producer("transactional.id", Cluster.fresh("txn"))) {
      producer.initTransactions();
      for (boolean commits : new boolean[] {false, true}) {
        producer.beginTransaction();
        Cluster.produce(producer, topic, 0, List.of("" + commits));
        if (commits) {
          producer.commitTransaction();
        } else {
          producer.abortTransaction();
        }
      }
    }
    try (var member = member(group, topic, "implicit")) {
      Checks.equal(List.of("true"), take(member, 1, null));
    }
  }
}
