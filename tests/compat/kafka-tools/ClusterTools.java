import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.producer.KafkaProducer;

/** The cluster: its node, features, metadata, transactions and client metrics. */
final class ClusterTools {
  private final Cluster cluster;
  private final Tool tool;

  ClusterTools(Cluster cluster, Tool tool) {
    this.cluster = cluster;
    this.tool = tool;
  }

  void add(Checks checks) {
    checks.add("tool.BrokerApiVersionsCommand", this::apiVersions);
    checks.add("tool.ClusterTool", this::clusterTool);
    checks.add("tool.FeatureCommand", this::features);
    checks.add("tool.MetadataQuorumCommand", this::quorum);
    checks.add("tool.TransactionsCommand", this::transactions);
    checks.add("tool.ClientMetricsCommand", this::clientMetrics);
    checks.add("tool.AclCommand", this::acls);
  }

  /** For tools whose command comes before --bootstrap-server, or after it. */
  private Tool.Result run(String name, String... arguments) throws Exception {
    return Tool.run(name, "", List.of(arguments));
  }

  private void apiVersions() throws Exception {
    tool.run("BrokerApiVersionsCommand").shows("\\S+ \\(id: \\d+ rack: null isFenced: false\\) -> \\(",
        "Produce\\(0\\): 0 to 13 \\[usable: 13],", "Fetch\\(1\\): 4 to 18 \\[usable: 18],",
        "ConsumerGroupHeartbeat\\(68\\): 0 to 1 \\[usable: 1],", "ShareFetch\\(78\\): 1 to 2 \\[usable: 2],",
        "ShareAcknowledge\\(79\\): 1 to 2 \\[usable: 2],");
  }

  private void clusterTool() throws Exception {
    run("ClusterTool", "cluster-id", "--bootstrap-server", tool.bootstrap).shows("Cluster ID: \\S{22}");
    run("ClusterTool", "list-endpoints", "--bootstrap-server", tool.bootstrap)
        .shows("ID HOST PORT RACK STATE ENDPOINT_TYPE", "\\d+ \\S+ \\d+ null unfenced broker");
    run("ClusterTool", "unregister", "--bootstrap-server", tool.bootstrap, "--id", "999")
        .refuses(".*Broker ID 999 is not currently registered");
  }

  private void features() throws Exception {
    tool.run("FeatureCommand", "describe").shows(
        "Feature: group.version SupportedMinVersion: 0 SupportedMaxVersion: 1 FinalizedVersionLevel: 1 Epoch: \\d+",
        "Feature: transaction.version SupportedMinVersion: 0 SupportedMaxVersion: 2 FinalizedVersionLevel: 2 "
            + "Epoch: \\d+",
        "Feature: metadata.version .* FinalizedVersionLevel: \\S+ Epoch: \\d+", "Feature: share.version .*");
    tool.run("FeatureCommand", "downgrade", "--feature", "share.version=0", "--dry-run")
        .shows("share.version can be downgraded to 0\\.");
    tool.run("FeatureCommand", "upgrade", "--feature", "share.version=1", "--dry-run")
        .refuses("Can not upgrade share.version to 1\\. .*Can't downgrade the version of this feature.*");
    tool.run("FeatureCommand", "upgrade", "--feature", "share.version=99")
        .refuses("Could not upgrade share.version to 99\\. .*Invalid update version 99 for feature share.version.*");
  }

  private void quorum() throws Exception {
    tool.run("MetadataQuorumCommand", "describe", "--status").shows("ClusterId: \\S{22}", "LeaderId: \\d+",
        "LeaderEpoch: \\d+", "HighWatermark: \\d+", "MaxFollowerLag: 0", "MaxFollowerLagTimeMs: 0",
        "CurrentVoters: \\[\\{\"id\": \\d+, \"endpoints\": \\[.*]}]", "CurrentObservers: \\[]");
    tool.run("MetadataQuorumCommand", "describe", "--replication").shows(
        "NodeId DirectoryId LogEndOffset Lag LastFetchTimestamp LastCaughtUpTimestamp Status",
        "\\d+ \\S{22} \\d+ 0 \\d+ \\d+ Leader");
  }

  private Tool.Result transaction(String... arguments) throws Exception {
    List<String> all = new ArrayList<>(List.of("--bootstrap-server", tool.bootstrap));
    all.addAll(List.of(arguments));
    return Tool.run("TransactionsCommand", "", all);
  }

  private void transactions() throws Exception {
    String topic = cluster.topic(1);
    String id = Cluster.fresh("txn");
    transaction("describe", "--transactional-id", id).refuses("Failed to describe transaction state of "
        + "transactional-id `" + id + "`: .*the ID could not be found.*");
    try (KafkaProducer<String, String> producer = cluster.producer("transactional.id", id)) {
      producer.initTransactions();
      producer.beginTransaction();
      Cluster.produce(producer, topic, 0, List.of("a"));
      transaction("list").shows("TransactionalId Coordinator ProducerId TransactionState", id + " \\d+ \\d+ Ongoing");
      transaction("describe", "--transactional-id", id).shows(
          "CoordinatorId TransactionalId ProducerId ProducerEpoch TransactionState TransactionTimeoutMs "
              + "CurrentTransactionStartTimeMs TransactionDurationMs TopicPartitions",
          "\\d+ " + id + " \\d+ \\d+ Ongoing 60000 \\d+ \\d+ " + topic + "-0");
      transaction("describe-producers", "--topic", topic, "--partition", "0").shows(
          "ProducerId ProducerEpoch LatestCoordinatorEpoch LastSequence LastTimestamp CurrentTransactionStartOffset",
          "\\d+ \\d+ -?\\d+ 0 \\d+ 0");
      transaction("find-hanging", "--topic", topic).shows(
          "Topic Partition ProducerId ProducerEpoch CoordinatorEpoch StartOffset LastTimestamp Duration\\(min\\)");
      transaction("abort", "--topic", topic, "--partition", "0", "--start-offset", "0").shows();
      transaction("describe-producers", "--topic", topic, "--partition", "0").shows("\\d+ \\d+ \\d+ \\S+ \\d+ None");
      producer.abortTransaction();
    }
    try (KafkaProducer<String, String> producer = cluster.producer("transactional.id", id)) {
      producer.initTransactions();
      producer.beginTransaction();
      Cluster.produce(producer, topic, 0, List.of("b"));
      transaction("forceTerminateTransaction", "--transactionalId", id).shows();
      Tool.soon(() -> transaction("describe", "--transactional-id", id), "\\d+ " + id + " \\d+ \\d+ Empty .*");
    }
  }

  private void clientMetrics() throws Exception {
    String name = Cluster.fresh("metrics");
    tool.run("ClientMetricsCommand", "--alter", "--name", name, "--metrics", "org.apache.kafka.producer.",
        "--interval", "10000", "--match", "client_id=x").shows("Altered client metrics config for " + name + "\\.");
    Tool.soon(() -> tool.run("ClientMetricsCommand", "--list"), name);
    Tool.soon(() -> tool.run("ClientMetricsCommand", "--describe", "--name", name),
        "Client metrics configs for " + name + " are:", "interval.ms=10000", "match=client_id=x",
        "metrics=org.apache.kafka.producer\\.");
    tool.run("ClientMetricsCommand", "--delete", "--name", name).shows("Deleted client metrics config for " + name
        + "\\.");
    Checks.until("it is gone", () -> tool.run("ClientMetricsCommand", "--list").lacks(name) != null);
    tool.run("ClientMetricsCommand", "--alter", "--name", name, "--interval", "1").refuses(".*Invalid value 1 for "
        + "interval.ms.*");
  }

  /** Where nothing authorizes. */
  private void acls() throws Exception {
    tool.run("AclCommand", "--list").refuses(".*No Authorizer is configured.*");
  }
}
