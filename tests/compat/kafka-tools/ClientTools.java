import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.config.ConfigResource;

/** Tools that produce and consume. */
final class ClientTools {
  private static final String COUNT = "1000";

  private final Cluster cluster;
  private final Tool tool;

  ClientTools(Cluster cluster, Tool tool) {
    this.cluster = cluster;
    this.tool = tool;
  }

  void add(Checks checks) {
    checks.add("tool.ConsoleProducer", this::consoleProducer);
    checks.add("tool.ConsoleConsumer", this::consoleConsumer);
    checks.add("tool.ConsoleShareConsumer", this::consoleShareConsumer);
    checks.add("tool.ProducerPerformance", this::producerPerformance);
    checks.add("tool.ConsumerPerformance", this::consumerPerformance);
    checks.add("tool.ShareConsumerPerformance", this::shareConsumerPerformance);
    checks.add("tool.EndToEndLatency", this::endToEndLatency);
    checks.add("tool.TransactionalMessageCopier", this::transactionalMessageCopier);
    checks.add("tool.VerifiableProducer", this::verifiableProducer);
    checks.add("tool.VerifiableConsumer", this::verifiableConsumer);
    checks.add("tool.VerifiableShareConsumer", this::verifiableShareConsumer);
  }

  private Tool.Result produce(String input, String... arguments) throws Exception {
    List<String> all = new ArrayList<>(List.of("--bootstrap-server", tool.bootstrap));
    all.addAll(List.of(arguments));
    return Tool.run("ConsoleProducer", input, all);
  }

  private Tool.Result consume(String... arguments) throws Exception {
    return tool.run("consumer.ConsoleConsumer", arguments);
  }

  private void consoleProducer() throws Exception {
    String topic = cluster.topic(1);
    produce("a\nb\n", "--topic", topic).shows();
    for (String codec : List.of("gzip", "snappy", "lz4", "zstd")) {
      produce(codec + "\n", "--topic", topic, "--compression-codec", codec, "--sync").shows();
    }
    produce("c\n", "--topic", topic, "--request-required-acks", "1").shows();
    Checks.equal(List.of("a", "b", "gzip", "snappy", "lz4", "zstd", "c"), Cluster.values(cluster.read(topic, 0, 7)));
    produce("h:1,i:2\tkey\tvalue\n", "--topic", topic, "--reader-property", "parse.key=true", "--reader-property",
        "parse.headers=true").shows();
    consume("--topic", topic, "--partition", "0", "--offset", "7", "--max-messages", "1", "--formatter-property",
        "print.key=true", "--formatter-property", "print.headers=true", "--formatter-property", "print.offset=true")
        .shows("Offset:7 h:1,i:2 key value");
  }

  private void consoleConsumer() throws Exception {
    String topic = cluster.topic(1);
    String group = Cluster.fresh("group");
    cluster.produce(topic, 0, List.of("a", "b", "c"));
    consume("--topic", topic, "--from-beginning", "--max-messages", "2", "--group", group).shows("a", "b").lacks("c");
    consume("--topic", topic, "--max-messages", "1", "--group", group, "--command-property", "group.protocol=consumer")
        .shows("c").lacks("a|b");
    consume("--include", topic + ".*", "--from-beginning", "--max-messages", "3", "--isolation-level",
        "read_committed").shows("a", "b", "c");
    consume("--topic", topic, "--partition", "0", "--offset", "latest", "--timeout-ms", "500").lacks("a|b|c");
    // The tool reads the broker's own topics, too.
    consume("--topic", "__consumer_offsets", "--from-beginning", "--timeout-ms", "3000", "--formatter",
        "org.apache.kafka.tools.consumer.OffsetsMessageFormatter")
        .has(".*\"group\":\"" + group + "\",\"topic\":\"" + topic + "\",\"partition\":0.*\"offset\":2.*");
  }

  private String shareGroup() throws Exception {
    String group = Cluster.fresh("share");
    cluster.configure(ConfigResource.Type.GROUP, group, "share.auto.offset.reset", "earliest");
    return group;
  }

  private void consoleShareConsumer() throws Exception {
    String topic = cluster.topic(1);
    String group = shareGroup();
    cluster.produce(topic, 0, List.of("a", "b", "c"));
    tool.run("consumer.ConsoleShareConsumer", "--topic", topic, "--group", group, "--max-messages", "3",
        "--timeout-ms", "20000", "--release").shows("a", "b", "c");
    tool.run("consumer.ConsoleShareConsumer", "--topic", topic, "--group", group, "--max-messages", "3",
        "--timeout-ms", "20000", "--formatter-property", "print.delivery=true").shows("Delivery:2 a", "Delivery:2 c");
  }

  private Tool.Result producerPerformance(String topic) throws Exception {
    return Tool.run("ProducerPerformance", "", List.of("--bootstrap-server", tool.bootstrap, "--topic", topic,
        "--num-records", COUNT, "--record-size", "100", "--throughput", "-1"));
  }

  private void producerPerformance() throws Exception {
    String topic = cluster.topic(1);
    producerPerformance(topic).shows(COUNT + " records sent, \\S+ records/sec .* 99.9th\\.");
    tool.run("GetOffsetShell", "--topic", topic).shows(topic + ":0:" + COUNT);
    // In transactions.
    Tool.run("ProducerPerformance", "", List.of("--bootstrap-server", tool.bootstrap, "--topic", topic,
        "--num-records", COUNT, "--record-size", "100", "--throughput", "-1", "--transactional-id",
        Cluster.fresh("txn"), "--transaction-duration-ms", "50")).shows(COUNT + " records sent, .*");
  }

  private void consumerPerformance() throws Exception {
    String topic = cluster.topic(1);
    producerPerformance(topic);
    tool.run("ConsumerPerformance", "--topic", topic, "--num-records", COUNT).shows(
        "start.time, end.time, data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec, .*",
        "\\S+ \\S+, \\S+ \\S+, 0.0954, \\S+, " + COUNT + ", .*");
  }

  private void shareConsumerPerformance() throws Exception {
    String topic = cluster.topic(1);
    String group = shareGroup();
    producerPerformance(topic);
    tool.run("ShareConsumerPerformance", "--topic", topic, "--group", group, "--num-records", COUNT, "--timeout",
        "20000").shows("start.time, end.time, data.consumed.in.MB, MB.sec, nMsg.sec, data.consumed.in.nMsg, .*",
        "\\S+ \\S+, \\S+ \\S+, 0.0954, \\S+, \\S+, " + COUNT + ", .*");
  }

  private void endToEndLatency() throws Exception {
    String topic = cluster.topic(1);
    Tool.run("EndToEndLatency", "", List.of("--bootstrap-server", tool.bootstrap, "--topic", topic, "--num-records",
        "50", "--producer-acks", "all", "--record-size", "10")).shows("Avg latency: \\S+ ms",
        "Percentiles: 50th = \\d+, 99th = \\d+, 99.9th = \\d+");
    tool.run("GetOffsetShell", "--topic", topic).shows(topic + ":0:50");
  }

  private void transactionalMessageCopier() throws Exception {
    String source = cluster.topic(1);
    String sink = cluster.topic(1);
    List<String> values = Cluster.numbered("", 100);
    cluster.produce(source, 0, values);
    tool.process(null, "TransactionalMessageCopier", "--broker-list", tool.bootstrap, "--input-topic", source,
        "--input-partition", "0", "--output-topic", sink, "--transactional-id", Cluster.fresh("txn"),
        "--consumer-group", Cluster.fresh("group"), "--max-messages", "100", "--transaction-size", "10",
        "--enable-random-aborts").shows(".*\"consumed\":100.*");
    Checks.equal(values, Cluster.values(cluster.read(sink, 0, 100, "isolation.level", "read_committed")));
  }

  private void verifiableProducer() throws Exception {
    String topic = cluster.topic(1);
    tool.process(null, "VerifiableProducer", "--bootstrap-server", tool.bootstrap, "--topic", topic, "--max-messages",
        "100").shows(".*\"name\":\"tool_data\".*\"sent\":100,\"acked\":100.*");
    Checks.equal(Cluster.numbered("", 100), Cluster.values(cluster.read(topic, 0, 100)));
  }

  private void verifiableConsumer() throws Exception {
    String topic = cluster.topic(1);
    cluster.produce(topic, 0, Cluster.numbered("", 100));
    tool.process(null, "VerifiableConsumer", "--bootstrap-server", tool.bootstrap, "--topic", topic, "--group-id",
        Cluster.fresh("group"), "--group-protocol", "consumer", "--max-messages", "100", "--reset-policy", "earliest")
        .shows(".*\"name\":\"partitions_assigned\".*", ".*\"name\":\"records_consumed\".*",
            ".*\"name\":\"offsets_committed\",.*\"offset\":100}],\"success\":true.*");
  }

  private void verifiableShareConsumer() throws Exception {
    String topic = cluster.topic(1);
    cluster.produce(topic, 0, Cluster.numbered("", 100));
    tool.process(null, "VerifiableShareConsumer", "--bootstrap-server", tool.bootstrap, "--topic", topic,
        "--group-id", Cluster.fresh("share"), "--max-messages", "100", "--acknowledgement-mode", "sync",
        "--offset-reset-strategy", "earliest").shows(".*\"name\":\"records_consumed\".*",
            ".*\"name\":\"offsets_acknowledged\",\"count\":100,.*\"success\":true.*");
  }
}
