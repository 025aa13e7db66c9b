import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.admin.AbortTransactionSpec;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.FeatureMetadata;
import org.apache.kafka.clients.admin.FeatureUpdate;
import org.apache.kafka.clients.admin.ListConfigResourcesOptions;
import org.apache.kafka.clients.admin.ListTransactionsOptions;
import org.apache.kafka.clients.admin.LogDirDescription;
import org.apache.kafka.clients.admin.NewPartitionReassignment;
import org.apache.kafka.clients.admin.ProducerState;
import org.apache.kafka.clients.admin.QuorumInfo;
import org.apache.kafka.clients.admin.TransactionDescription;
import org.apache.kafka.clients.admin.TransactionListing;
import org.apache.kafka.clients.admin.TransactionState;
import org.apache.kafka.clients.admin.UpdateFeaturesOptions;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionReplica;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.ElectionNotNeededException;
import org.apache.kafka.common.errors.InvalidConfigurationException;
import org.apache.kafka.common.errors.InvalidReplicaAssignmentException;
import org.apache.kafka.common.errors.InvalidRequestException;
import org.apache.kafka.common.errors.InvalidUpdateVersionException;
import org.apache.kafka.common.errors.LogDirNotFoundException;
import org.apache.kafka.common.errors.NoReassignmentInProgressException;
import org.apache.kafka.common.errors.TransactionalIdNotFoundException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.quota.ClientQuotaAlteration;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.apache.kafka.common.quota.ClientQuotaFilter;
import org.apache.kafka.common.quota.ClientQuotaFilterComponent;

final class ClusterAdminChecks {
  private final Cluster cluster;

  ClusterAdminChecks(Cluster cluster) {
    this.cluster = cluster;
  }

  void add(Checks checks) {
    checks.add("admin.cluster", this::describeCluster);
    checks.add("admin.features", this::features);
    checks.add("admin.log_dirs", this::logDirs);
    checks.add("admin.elections", this::elections);
    checks.add("admin.reassignments", this::reassignments);
    checks.add("admin.quotas", this::quotas);
    checks.add("admin.client_metrics", this::clientMetrics);
    checks.add("admin.transactions", this::transactions);
    checks.add("admin.transactions.abort", this::abortTransaction);
    checks.add("admin.transactions.terminate", this::terminate);
  }

  private Node node() throws Exception {
    return Cluster.get(cluster.admin.describeCluster().nodes()).iterator().next();
  }

  private void describeCluster() throws Exception {
    var found = cluster.admin.describeCluster();
    Checks.equal(1, Cluster.get(found.nodes()).size());
    Checks.equal(node().id(), Cluster.get(found.controller()).id());
    Checks.equal(22, Cluster.get(found.clusterId()).length());
    QuorumInfo quorum = Cluster.get(cluster.admin.describeMetadataQuorum().quorumInfo());
    Checks.equal(node().id(), quorum.leaderId());
    Checks.equal(1, quorum.voters().size());
    Checks.equal(node().id(), quorum.voters().get(0).replicaId());
    Checks.check(quorum.highWatermark() > 0 && quorum.voters().get(0).logEndOffset() >= quorum.highWatermark(),
        quorum);
  }

  private void update(String feature, int level, FeatureUpdate.UpgradeType type) throws Exception {
    Cluster.get(cluster.admin.updateFeatures(Map.of(feature, new FeatureUpdate((short) level, type)),
        new UpdateFeaturesOptions().validateOnly(true)).all());
  }

  private void features() throws Exception {
    FeatureMetadata found = Cluster.get(cluster.admin.describeFeatures().featureMetadata());
    for (String name : List.of("metadata.version", "transaction.version", "group.version", "share.version")) {
      Checks.check(found.supportedFeatures().containsKey(name), name + " in " + found.supportedFeatures());
      Checks.check(found.finalizedFeatures().containsKey(name), name + " in " + found.finalizedFeatures());
    }
    Checks.check(found.finalizedFeaturesEpoch().orElseThrow() > 0, found);
    int level = found.finalizedFeatures().get("share.version").maxVersionLevel();
    update("share.version", level, FeatureUpdate.UpgradeType.UPGRADE);
    Checks.throwing(InvalidUpdateVersionException.class,
        () -> update("share.version", 1000, FeatureUpdate.UpgradeType.UPGRADE));
    Checks.throwing(InvalidUpdateVersionException.class,
        () -> update("no.such.version", 1, FeatureUpdate.UpgradeType.UPGRADE));
  }

  private void logDirs() throws Exception {
    String topic = cluster.topic(2);
    TopicPartition partition = new TopicPartition(topic, 1);
    int node = node().id();
    cluster.produce(topic, 1, List.of("x".repeat(1000)));
    Map<String, LogDirDescription> found =
        Cluster.get(cluster.admin.describeLogDirs(List.of(node)).allDescriptions()).get(node);
    Checks.equal(1, found.size());
    String path = found.keySet().iterator().next();
    LogDirDescription description = found.get(path);
    Checks.equal(null, description.error());
    Checks.check(description.totalBytes().getAsLong() > description.usableBytes().getAsLong(), description);
    Checks.equal(0L, description.replicaInfos().get(new TopicPartition(topic, 0)).size());
    Checks.check(description.replicaInfos().get(partition).size() > 1000, description);
    TopicPartitionReplica replica = new TopicPartitionReplica(topic, 1, node);
    var replicas = Cluster.get(cluster.admin.describeReplicaLogDirs(List.of(replica)).all());
    Checks.equal(path, replicas.get(replica).getCurrentReplicaLogDir());
    Cluster.get(cluster.admin.alterReplicaLogDirs(Map.of(replica, path)).all());
    Checks.throwing(LogDirNotFoundException.class,
        () -> Cluster.get(cluster.admin.alterReplicaLogDirs(Map.of(replica, "/no/such/directory")).all()));
  }

  private Optional<Throwable> elect(ElectionType type, TopicPartition partition) throws Exception {
    return Cluster.get(cluster.admin.electLeaders(type, Set.of(partition)).partitions()).get(partition);
  }

  private void elections() throws Exception {
    TopicPartition partition = new TopicPartition(cluster.topic(1), 0);
    for (ElectionType type : ElectionType.values()) {
      Checks.equal(ElectionNotNeededException.class, elect(type, partition).orElseThrow().getClass());
    }
    Checks.equal(UnknownTopicOrPartitionException.class,
        elect(ElectionType.PREFERRED, new TopicPartition(partition.topic(), 7)).orElseThrow().getClass());
    // All partitions: those that need none are not in the answer.
    Checks.equal(Map.of(), Cluster.get(cluster.admin.electLeaders(ElectionType.PREFERRED, null).partitions()));
  }

  private void reassign(TopicPartition partition, List<Integer> replicas) throws Exception {
    Optional<NewPartitionReassignment> target = Optional.ofNullable(replicas).map(NewPartitionReassignment::new);
    Cluster.get(cluster.admin.alterPartitionReassignments(Map.of(partition, target)).all());
  }

  private void reassignments() throws Exception {
    TopicPartition partition = new TopicPartition(cluster.topic(1), 0);
    reassign(partition, List.of(node().id()));
    Checks.equal(Map.of(), Cluster.get(cluster.admin.listPartitionReassignments().reassignments()));
    Checks.throwing(NoReassignmentInProgressException.class, () -> reassign(partition, null));
    Checks.throwing(InvalidReplicaAssignmentException.class, () -> reassign(partition, List.of(node().id() + 1000)));
    Checks.throwing(UnknownTopicOrPartitionException.class,
        () -> reassign(new TopicPartition(partition.topic(), 7), List.of(node().id())));
  }

  private void quota(Map<String, String> entity, String key, Double value) throws Exception {
    Cluster.get(cluster.admin.alterClientQuotas(List.of(new ClientQuotaAlteration(new ClientQuotaEntity(entity),
        List.of(new ClientQuotaAlteration.Op(key, value))))).all());
  }

  private void quotas() throws Exception {
    String user = Cluster.fresh("user");
    Map<String, String> entity = Map.of("user", user, "client-id", "client");
    ClientQuotaFilter filter = ClientQuotaFilter.contains(List.of(ClientQuotaFilterComponent.ofEntity("user", user)));
    quota(entity, "producer_byte_rate", 100000.0);
    quota(entity, "request_percentage", 12.5);
    Checks.until("the quotas", () -> {
      Checks.equal(Map.of(new ClientQuotaEntity(entity),
          Map.of("producer_byte_rate", 100000.0, "request_percentage", 12.5)),
          Cluster.get(cluster.admin.describeClientQuotas(filter).entities()));
      return true;
    });
    ClientQuotaFilter strict =
        ClientQuotaFilter.containsOnly(List.of(ClientQuotaFilterComponent.ofEntity("user", user)));
    Checks.equal(Map.of(), Cluster.get(cluster.admin.describeClientQuotas(strict).entities()));
    quota(entity, "producer_byte_rate", null);
    quota(entity, "request_percentage", null);
    Checks.until("no quotas", () -> Cluster.get(cluster.admin.describeClientQuotas(filter).entities()).isEmpty());
    Checks.throwing(InvalidRequestException.class, () -> quota(entity, "no_such_rate", 1.0));
    Checks.throwing(InvalidRequestException.class, () -> quota(entity, "producer_byte_rate", -1.0));
  }

  private Set<ConfigResource> listed(ConfigResource.Type type) throws Exception {
    return Set.copyOf(
        Cluster.get(cluster.admin.listConfigResources(Set.of(type), new ListConfigResourcesOptions()).all()));
  }

  private void clientMetrics() throws Exception {
    String name = Cluster.fresh("metrics");
    ConfigResource.Type type = ConfigResource.Type.CLIENT_METRICS;
    ConfigResource resource = new ConfigResource(type, name);
    cluster.configure(type, name, "interval.ms", "5000");
    cluster.configure(type, name, "match", "client_software_name=ackord");
    Checks.until("the subscription is listed", () -> listed(type).contains(resource));
    Checks.until("its configs", () -> {
      Checks.equal("5000", cluster.config(type, name, "interval.ms").value());
      Checks.equal("client_software_name=ackord", cluster.config(type, name, "match").value());
      return true;
    });
    Checks.throwing(InvalidRequestException.class, () -> cluster.configure(type, name, "interval.ms", "1"));
    Checks.throwing(InvalidConfigurationException.class, () -> cluster.configure(type, name, "match", "no=such"));
    cluster.configure(type, name, AlterConfigOp.OpType.DELETE, "interval.ms", "");
    cluster.configure(type, name, AlterConfigOp.OpType.DELETE, "match", "");
    Checks.until("it is gone", () -> !listed(type).contains(resource));
  }

  private Set<String> transactions(ListTransactionsOptions options) throws Exception {
    return Cluster.get(cluster.admin.listTransactions(options).all()).stream()
        .map(TransactionListing::transactionalId).collect(java.util.stream.Collectors.toSet());
  }

  private TransactionDescription describe(String id) throws Exception {
    return Cluster.get(cluster.admin.describeTransactions(List.of(id)).description(id));
  }

  private void transactions() throws Exception {
    String topic = cluster.topic(1);
    TopicPartition partition = new TopicPartition(topic, 0);
    String id = Cluster.fresh("txn");
    try (KafkaProducer<String, String> producer =
        cluster.producer("transactional.id", id, "transaction.timeout.ms", "50000")) {
      producer.initTransactions();
      Checks.equal(TransactionState.EMPTY, describe(id).state());
      producer.beginTransaction();
      Cluster.produce(producer, topic, 0, List.of("a"));
      TransactionDescription found = describe(id);
      Checks.equal(TransactionState.ONGOING, found.state());
      Checks.equal(Set.of(partition), found.topicPartitions());
      Checks.equal(50000L, found.transactionTimeoutMs());
      Checks.check(found.transactionStartTimeMs().isPresent(), found);
      ProducerState writer =
          Cluster.get(cluster.admin.describeProducers(List.of(partition)).partitionResult(partition))
              .activeProducers().get(0);
      Checks.equal(found.producerId(), writer.producerId());
      Checks.equal(0L, writer.currentTransactionStartOffset().getAsLong());
      ListTransactionsOptions ongoing = new ListTransactionsOptions().filterStates(Set.of(TransactionState.ONGOING));
      Checks.check(transactions(ongoing).contains(id), "it is listed by its state");
      Checks.equal(Set.of(id),
          transactions(new ListTransactionsOptions().filterProducerIds(Set.of(found.producerId()))));
      Checks.equal(Set.of(id),
          transactions(new ListTransactionsOptions().filterOnTransactionalIdPattern(id.substring(0, 8) + ".*"
              + id.substring(12))));
      Checks.check(!transactions(new ListTransactionsOptions().filterOnDuration(3600000)).contains(id), "it is young");
      producer.commitTransaction();
      Checks.until("it is complete", () -> describe(id).state() == TransactionState.COMPLETE_COMMIT);
      Checks.check(!transactions(ongoing).contains(id), "it is not ongoing");
    }
    Checks.throwing(TransactionalIdNotFoundException.class, () -> describe(Cluster.fresh("none")));
    long fenced = Cluster.get(cluster.admin.fenceProducers(List.of(id)).producerId(id));
    Checks.equal(describe(id).producerId(), fenced);
  }

  private void abortTransaction() throws Exception {
    String topic = cluster.topic(1);
    TopicPartition partition = new TopicPartition(topic, 0);
    try (KafkaProducer<String, String> producer = cluster.producer("transactional.id", Cluster.fresh("txn"))) {
      producer.initTransactions();
      producer.beginTransaction();
      Cluster.produce(producer, topic, 0, List.of("stuck"));
      cluster.produce(topic, 0, List.of("behind it"));
      ProducerState writer =
          Cluster.get(cluster.admin.describeProducers(List.of(partition)).partitionResult(partition))
              .activeProducers().stream().filter(one -> one.currentTransactionStartOffset().isPresent())
              .findFirst().orElseThrow();
      Cluster.get(cluster.admin.abortTransaction(new AbortTransactionSpec(partition, writer.producerId(),
          (short) writer.producerEpoch(), writer.coordinatorEpoch().orElse(0))).all());
      Checks.equal(List.of("behind it"),
          Cluster.values(cluster.read(topic, 0, 1, "isolation.level", "read_committed")));
      producer.abortTransaction();
    }
  }

  private void terminate() throws Exception {
    String topic = cluster.topic(1);
    String id = Cluster.fresh("txn");
    try (KafkaProducer<String, String> producer = cluster.producer("transactional.id", id)) {
      producer.initTransactions();
      producer.beginTransaction();
      Cluster.produce(producer, topic, 0, List.of("terminated"));
      Cluster.get(cluster.admin.forceTerminateTransaction(id).result());
      Checks.until("it is aborted", () -> describe(id).state() == TransactionState.EMPTY);
      Checks.throwing(KafkaException.class, producer::commitTransaction);
    }
    cluster.produce(topic, 0, List.of("next"));
    Checks.equal(List.of("next"), Cluster.values(cluster.read(topic, 0, 1, "isolation.level", "read_committed")));
  }
}
