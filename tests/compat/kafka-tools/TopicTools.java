import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

/** Topics, their configs, records and places. */
final class TopicTools {
  private final Cluster cluster;
  private final Tool tool;

  TopicTools(Cluster cluster, Tool tool) {
    this.cluster = cluster;
    this.tool = tool;
  }

  void add(Checks checks) {
    checks.add("tool.TopicCommand", this::topics);
    checks.add("tool.ConfigCommand", this::configs);
    checks.add("tool.ConfigCommand.users", this::users);
    checks.add("tool.GetOffsetShell", this::offsets);
    checks.add("tool.DeleteRecordsCommand", this::deleteRecords);
    checks.add("tool.LogDirsCommand", this::logDirs);
    checks.add("tool.LeaderElectionCommand", this::elections);
    checks.add("tool.ReassignPartitionsCommand", this::reassignments);
    checks.add("tool.ReplicaVerificationTool", this::replicas);
  }

  private Tool.Result topic(String... arguments) throws Exception {
    return tool.run("TopicCommand", arguments);
  }

  private void topics() throws Exception {
    String name = Cluster.fresh("tool");
    topic("--create", "--topic", name, "--partitions", "2", "--config", "retention.ms=3600000")
        .shows("Created topic " + name + "\\.");
    cluster.served(name, 2);
    topic("--create", "--topic", name).refuses("Error while executing topic command : Topic '" + name
        + "' already exists\\.");
    topic("--create", "--topic", name, "--if-not-exists").shows();
    topic("--create", "--topic", name + "x", "--replication-factor", "2")
        .refuses("Error while executing topic command : Unable to replicate the partition 2 time\\(s\\).*");
    topic("--create", "--topic", name + "x", "--config", "no.such=1").refuses(".*Unknown topic config name: no.such");
    topic("--list", "--topic", name + ".*").shows(name).lacks(name + "x");
    topic("--describe", "--topic", name).shows(
        "Topic: " + name + " TopicId: \\S{22} PartitionCount: 2 ReplicationFactor: 1 Configs: .*retention.ms=3600000",
        "Topic: " + name + " Partition: 0 Leader: \\d+ Replicas: \\d+ Isr: \\d+ Elr: LastKnownElr:",
        "Topic: " + name + " Partition: 1 Leader: \\d+ Replicas: \\d+ Isr: \\d+ Elr: LastKnownElr:");
    topic("--describe", "--topics-with-overrides").shows("Topic: " + name + " .*");
    topic("--describe", "--unavailable-partitions").shows().lacks(".*" + name + ".*");
    topic("--alter", "--topic", name, "--partitions", "3").shows();
    Tool.soon(() -> topic("--describe", "--topic", name), "Topic: " + name + " Partition: 2 .*");
    topic("--alter", "--topic", name, "--partitions", "1")
        .refuses(".*currently has 3 partition\\(s\\); 1 would not be an increase\\.");
    topic("--delete", "--topic", name).shows();
    Checks.until("it is gone", () -> topic("--list").lacks(name) != null);
    topic("--delete", "--topic", name).refuses("Error while executing topic command : Topic '" + name
        + "' does not exist as expected");
  }

  private Tool.Result config(String type, String name, String... arguments) throws Exception {
    List<String> all = new java.util.ArrayList<>(List.of("--entity-type", type));
    all.addAll(name.isEmpty() ? List.of("--entity-default") : List.of("--entity-name", name));
    all.addAll(List.of(arguments));
    return tool.run("ConfigCommand", all.toArray(String[]::new));
  }

  private void configs() throws Exception {
    String topic = cluster.topic(1);
    config("topics", topic, "--alter", "--add-config", "max.message.bytes=5000,cleanup.policy=[compact,delete]")
        .shows("Completed updating config for topic " + topic + "\\.");
    Tool.soon(() -> config("topics", topic, "--describe"), "Dynamic configs for topic " + topic + " are:",
        Pattern.quote("cleanup.policy=compact,delete sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:cleanup.policy="
            + "compact,delete, DEFAULT_CONFIG:log.cleanup.policy=delete}"),
        Pattern.quote("max.message.bytes=5000 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:max.message.bytes=5000, "
            + "DEFAULT_CONFIG:message.max.bytes=1048588}"));
    config("topics", topic, "--alter", "--delete-config", "cleanup.policy").shows();
    Tool.soon(() -> config("topics", topic, "--describe", "--all"), "All configs for topic " + topic + " are:",
        "cleanup.policy=delete .*", "max.message.bytes=5000 .*", "segment.bytes=1073741824 .*",
        "compression.type=producer .*", "message.timestamp.type=CreateTime .*");
    config("topics", topic, "--alter", "--add-config", "no.such=1").refuses(".*Unknown topic config name: no.such.*");

    config("brokers", "", "--alter", "--add-config", "log.cleaner.threads=2")
        .shows("Completed updating default config for brokers in the cluster\\.");
    Tool.soon(() -> config("brokers", "", "--describe"),
        Pattern.quote("log.cleaner.threads=2 sensitive=false synonyms={DYNAMIC_DEFAULT_BROKER_CONFIG:"
            + "log.cleaner.threads=2}"));
    config("brokers", "", "--alter", "--delete-config", "log.cleaner.threads").shows();

    String group = Cluster.fresh("group");
    config("groups", group, "--alter", "--add-config", "share.auto.offset.reset=earliest")
        .shows("Completed updating config for group " + group + "\\.");
    Tool.soon(() -> config("groups", group, "--describe"),
        Pattern.quote("share.auto.offset.reset=earliest sensitive=false synonyms={DYNAMIC_GROUP_CONFIG:"
            + "share.auto.offset.reset=earliest, DEFAULT_CONFIG:share.auto.offset.reset=latest}"));

    String client = Cluster.fresh("client");
    config("clients", client, "--alter", "--add-config", "consumer_byte_rate=2000")
        .shows("Completed updating config for client " + client + "\\.");
    Tool.soon(() -> config("clients", client, "--describe"),
        "Quota configs for client-id '" + client + "' are consumer_byte_rate=2000.0");
    config("clients", client, "--alter", "--delete-config", "consumer_byte_rate").shows();
  }

  private void users() throws Exception {
    String user = Cluster.fresh("user");
    for (String added : List.of("producer_byte_rate=1000", "SCRAM-SHA-256=[password=secret]")) {
      config("users", user, "--alter", "--add-config", added)
          .shows("Completed updating config for user " + user + "\\.");
    }
    Tool.soon(() -> config("users", user, "--describe"),
        "Quota configs for user-principal '" + user + "' are producer_byte_rate=1000.0",
        "SCRAM credential configs for user-principal '" + user + "' are SCRAM-SHA-256=iterations=4096");
    for (String deleted : List.of("producer_byte_rate", "SCRAM-SHA-256")) {
      config("users", user, "--alter", "--delete-config", deleted).shows();
    }
    Checks.until("nothing is left",
        () -> config("users", user, "--describe").shows().lacks(".*" + user + ".*") != null);
  }

  private void offsets() throws Exception {
    String topic = cluster.topic(3);
    cluster.produce(topic, 0, List.of("a", "b"));
    cluster.produce(topic, 2, List.of("c"));
    tool.run("GetOffsetShell", "--topic", topic).shows(topic + ":0:2", topic + ":1:0", topic + ":2:1");
    tool.run("GetOffsetShell", "--topic-partitions", topic + ":0-2", "--time", "earliest")
        .shows(topic + ":0:0", topic + ":1:0").lacks(topic + ":2:.*");
    tool.run("GetOffsetShell", "--topic", topic, "--time", "max-timestamp").shows(topic + ":2:0")
        .lacks(topic + ":1:.*");
    tool.run("GetOffsetShell", "--topic", topic, "--partitions", "0", "--time", "1").shows(topic + ":0:0");
    tool.run("GetOffsetShell", "--topic", Cluster.fresh("none"))
        .refuses("Error occurred: Could not match any topic-partitions with the specified filters");
  }

  private Tool.Result withFile(String json, String name, String option, String... arguments) throws Exception {
    Path file = Files.createTempFile("ackord-tool.", ".json");
    try {
      Files.writeString(file, json);
      List<String> all = new java.util.ArrayList<>(List.of(option, file.toString()));
      all.addAll(List.of(arguments));
      return tool.run(name, all.toArray(String[]::new));
    } finally {
      Files.delete(file);
    }
  }

  private void deleteRecords() throws Exception {
    String topic = cluster.topic(1);
    cluster.produce(topic, 0, Cluster.numbered("", 5));
    String json = "{\"version\":1,\"partitions\":[{\"topic\":\"" + topic + "\",\"partition\":0,\"offset\":%d}]}";
    withFile(String.format(json, 3), "DeleteRecordsCommand", "--offset-json-file")
        .shows("partition: " + topic + "-0 low_watermark: 3");
    withFile(String.format(json, 9), "DeleteRecordsCommand", "--offset-json-file")
        .shows("partition: " + topic + "-0 error: .*OffsetOutOfRangeException.*");
    tool.run("GetOffsetShell", "--topic", topic, "--time", "earliest").shows(topic + ":0:3");
  }

  private void logDirs() throws Exception {
    String topic = cluster.topic(1);
    cluster.produce(topic, 0, List.of("x".repeat(932)));
    tool.run("LogDirsCommand", "--describe", "--topic-list", topic).shows(
        "Received log directory information from brokers \\d+",
        "\\{\"brokers\":\\[\\{\"broker\":\\d+,\"logDirs\":\\[\\{\"partitions\":\\[\\{\"partition\":\"" + topic
            + "-0\",\"size\":1\\d\\d\\d,\"offsetLag\":0,\"isFuture\":false}],\"error\":null,\"logDir\":.*");
    tool.run("LogDirsCommand", "--describe", "--broker-list", "999").refuses(".*do not exist.*999.*");
  }

  private void elections() throws Exception {
    String topic = cluster.topic(1);
    for (String type : List.of("preferred", "unclean")) {
      tool.run("LeaderElectionCommand", "--election-type", type, "--topic", topic, "--partition", "0")
          .shows("Valid replica already elected for partitions " + topic + "-0");
    }
    tool.run("LeaderElectionCommand", "--election-type", "preferred", "--all-topic-partitions").shows();
    tool.run("LeaderElectionCommand", "--election-type", "preferred", "--topic", topic, "--partition", "7")
        .refuses(".*1 replica\\(s\\) could not be elected.*");
  }

  private void reassignments() throws Exception {
    String topic = cluster.topic(1);
    String node = Cluster.get(cluster.admin.describeCluster().nodes()).iterator().next().idString();
    String name = "reassign.ReassignPartitionsCommand";
    String replicas = "\"replicas\":[" + node + "],\"log_dirs\":[\"any\"]";
    String plan = "{\"version\":1,\"partitions\":[{\"topic\":\"" + topic + "\",\"partition\":0," + replicas + "}]}";
    withFile("{\"version\":1,\"topics\":[{\"topic\":\"" + topic + "\"}]}", name, "--topics-to-move-json-file",
        "--broker-list", node, "--generate").shows("Current partition replica assignment",
        "Proposed partition reassignment configuration", Pattern.quote(plan));
    withFile(plan, name, "--reassignment-json-file", "--execute")
        .shows("Successfully started partition reassignment for " + topic + "-0");
    withFile(plan, name, "--reassignment-json-file", "--verify", "--preserve-throttles")
        .shows("Reassignment of partition " + topic + "-0 is completed\\.");
    tool.run(name, "--list").shows("No partition reassignments found\\.");
  }

  private void replicas() throws Exception {
    String topic = cluster.topic(1);
    cluster.produce(topic, 0, List.of("a"));
    tool.process(".*max lag is 0 for partition .*", "ReplicaVerificationTool", "--broker-list", tool.bootstrap,
        "--topics-include", topic, "--report-interval-ms", "500").shows(".*max lag is 0 for partition .*");
  }
}
