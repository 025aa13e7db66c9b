import java.util.List;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.common.config.ConfigResource;

/** Groups of every kind. */
final class GroupTools {
  private final Cluster cluster;
  private final Tool tool;

  GroupTools(Cluster cluster, Tool tool) {
    this.cluster = cluster;
    this.tool = tool;
  }

  void add(Checks checks) {
    checks.add("tool.ConsumerGroupCommand", () -> {
      consumerGroup("classic", "range");
      consumerGroup("consumer", "uniform");
    });
    checks.add("tool.ShareGroupCommand", this::shareGroup);
    checks.add("tool.GroupsCommand", this::groups);
    checks.add("tool.StreamsGroupCommand", this::streamsGroups);
    checks.add("tool.StreamsResetter", this::streamsResetter);
  }

  private Tool.Result group(String... arguments) throws Exception {
    return tool.run("consumer.group.ConsumerGroupCommand", arguments);
  }

  private void consumerGroup(String protocol, String assignor) throws Exception {
    String topic = cluster.topic(2);
    String name = Cluster.fresh("group");
    for (int i = 0; i < 2; ++i) cluster.produce(topic, i, List.of("a", "b", "c"));
    try (KafkaConsumer<String, String> consumer =
        cluster.consumer(name, "group.protocol", protocol, "client.id", "tool")) {
      consumer.subscribe(List.of(topic));
      Cluster.take(consumer, 6);
      consumer.commitSync();
      group("--list").shows(name);
      group("--list", "--state", "stable").shows("GROUP STATE", name + " Stable");
      group("--list", "--type", protocol).shows("GROUP TYPE", "(?i)" + name + " " + protocol);
      group("--describe", "--group", name).shows(
          "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID",
          name + " " + topic + " 0 3 3 0 \\S+ /127.0.0.1 tool", name + " " + topic + " 1 3 3 0 \\S+ /127.0.0.1 tool");
      group("--describe", "--group", name, "--state").shows(
          "GROUP COORDINATOR \\(ID\\) ASSIGNMENT-STRATEGY STATE #MEMBERS",
          name + " \\S+ \\(\\d+\\) " + assignor + " Stable 1");
      group("--describe", "--group", name, "--members").shows(name + " \\S+ /127.0.0.1 tool 2");
      group("--describe", "--group", name, "--members", "--verbose").shows(name + " \\S+ /127.0.0.1 tool 2 .*" + topic
          + ":0,1.*");
      group("--delete", "--group", name).shows(".*GroupNotEmptyException.*");
      group("--group", name, "--reset-offsets", "--to-earliest", "--topic", topic, "--execute")
          .lacks(name + " " + topic + " 0 0");
    }
    Tool.soon(() -> group("--describe", "--group", name, "--state"), name + " \\S+ \\(\\d+\\) .* Empty 0");
    group("--group", name, "--reset-offsets", "--to-earliest", "--topic", topic, "--dry-run")
        .shows("GROUP TOPIC PARTITION NEW-OFFSET", name + " " + topic + " 0 0", name + " " + topic + " 1 0");
    group("--group", name, "--reset-offsets", "--shift-by", "-1", "--topic", topic + ":0", "--execute")
        .shows(name + " " + topic + " 0 2");
    group("--group", name, "--reset-offsets", "--to-latest", "--all-topics", "--export", "--dry-run")
        .shows(topic + ",0,3", topic + ",1,3");
    group("--group", name, "--delete-offsets", "--topic", topic + ":1").shows("TOPIC PARTITION STATUS",
        topic + " 1 Successful");
    group("--describe", "--group", name).shows(name + " " + topic + " 0 2 3 1 - - -").lacks(".* " + topic + " 1 .*");
    group("--delete", "--group", name).shows("Deletion of requested consumer groups \\('" + name
        + "'\\) was successful\\.");
    group("--delete", "--group", name).shows(".*GroupIdNotFoundException.*");
    group("--describe", "--group", name).shows("Error: .*GroupIdNotFoundException.*");
    group("--group", name, "--delete-offsets", "--topic", Cluster.fresh("none") + ":0")
        .shows("Error: The group id does not exist\\.");
  }

  private Tool.Result share(String... arguments) throws Exception {
    return tool.run("consumer.group.ShareGroupCommand", arguments);
  }

  private void shareGroup() throws Exception {
    String topic = cluster.topic(1);
    String name = Cluster.fresh("share");
    cluster.configure(ConfigResource.Type.GROUP, name, "share.auto.offset.reset", "earliest");
    cluster.produce(topic, 0, List.of("a", "b", "c"));
    try (KafkaShareConsumer<String, String> consumer = cluster.shareConsumer(name, "client.id", "tool")) {
      consumer.subscribe(List.of(topic));
      List<String> taken = new java.util.ArrayList<>();
      Checks.until("all records", () -> {
        consumer.poll(Cluster.POLL).forEach(record -> taken.add(record.value()));
        consumer.commitSync();
        return taken.size() == 3;
      });
      share("--list").shows(name);
      share("--list", "--state").shows("GROUP STATE", name + " Stable");
      share("--describe", "--group", name, "--members").shows(name + " \\S+ /127.0.0.1 tool 1 " + topic + ":0");
      share("--describe", "--group", name, "--state").shows("GROUP COORDINATOR \\(ID\\) STATE #MEMBERS",
          name + " \\S+ \\(\\d+\\) Stable 1");
      share("--delete", "--group", name).shows(".*GroupNotEmptyException.*|.*is not EMPTY.*");
    }
    Tool.soon(() -> share("--describe", "--group", name, "--state"), name + " \\S+ \\(\\d+\\) Empty 0");
    share("--describe", "--group", name).shows("GROUP TOPIC PARTITION START-OFFSET LAG",
        name + " " + topic + " 0 \\d 0");
    share("--group", name, "--reset-offsets", "--to-earliest", "--topic", topic, "--dry-run")
        .shows("GROUP TOPIC PARTITION NEW-OFFSET", name + " " + topic + " 0 0");
    share("--group", name, "--reset-offsets", "--to-earliest", "--topic", topic, "--execute")
        .shows(name + " " + topic + " 0 0");
    share("--describe", "--group", name).shows(name + " " + topic + " 0 0 3");
    share("--group", name, "--delete-offsets", "--topic", topic).shows("TOPIC STATUS", topic + " Successful");
    share("--delete", "--group", name).shows("Deletion of requested share groups \\('" + name
        + "'\\) was successful\\.");
    share("--list").lacks(name);
  }

  private void groups() throws Exception {
    String topic = cluster.topic(1);
    String classic = Cluster.fresh("classic");
    String consumer = Cluster.fresh("consumer");
    String share = Cluster.fresh("share");
    try (var first = cluster.consumer(classic, "group.protocol", "classic");
        var second = cluster.consumer(consumer, "group.protocol", "consumer");
        var third = cluster.shareConsumer(share)) {
      first.subscribe(List.of(topic));
      second.subscribe(List.of(topic));
      third.subscribe(List.of(topic));
      Checks.until("all groups", () -> {
        first.poll(Cluster.POLL);
        second.poll(Cluster.POLL);
        third.poll(Cluster.POLL);
        return tool.run("GroupsCommand", "--list").shows("GROUP TYPE PROTOCOL", classic + " Classic consumer",
            consumer + " Consumer consumer", share + " Share share") != null;
      });
    }
    tool.run("GroupsCommand", "--list", "--share").shows(share + " Share share").lacks(classic + ".*");
    tool.run("GroupsCommand", "--list", "--consumer").shows(consumer + " .*", classic + " .*").lacks(share + ".*");
    tool.run("GroupsCommand", "--list", "--group-type", "classic").shows(classic + " .*").lacks(consumer + " .*");
  }

  /** There are none. */
  private void streamsGroups() throws Exception {
    tool.run("streams.StreamsGroupCommand", "--list").shows().lacks(".+");
  }

  private void streamsResetter() throws Exception {
    String topic = cluster.topic(1);
    String application = Cluster.fresh("application");
    String internal = application + "-counts-changelog";
    cluster.produce(topic, 0, List.of("a", "b"));
    try (KafkaConsumer<String, String> consumer = cluster.consumer(application)) {
      consumer.subscribe(List.of(topic));
      Cluster.take(consumer, 2);
      consumer.commitSync();
    }
    Cluster.get(cluster.admin.createTopics(
        List.of(new org.apache.kafka.clients.admin.NewTopic(internal, 1, (short) 1))).all());
    cluster.served(internal, 1);
    tool.run("StreamsResetter", "--application-id", application, "--input-topics", topic, "--force")
        .shows("Reset-offsets for input topics \\[" + topic + "]", "Topic: " + topic + " Partition: 0 Offset: 0",
            ".*" + internal + ".*");
    Checks.until("the internal topic is gone",
        () -> !Cluster.get(cluster.admin.listTopics().names()).contains(internal));
    group("--describe", "--group", application).shows(application + " " + topic + " 0 0 2 2 - - -");
  }
}
