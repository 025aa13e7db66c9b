import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.CreateTopicsOptions;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicCollection;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.InvalidConfigurationException;
import org.apache.kafka.common.errors.InvalidPartitionsException;
import org.apache.kafka.common.errors.InvalidReplicationFactorException;
import org.apache.kafka.common.errors.InvalidRequestException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.OffsetOutOfRangeException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicIdException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

final class TopicAdminChecks {
  private static final ConfigResource.Type TOPIC = ConfigResource.Type.TOPIC;
  private static final ConfigResource.Type BROKER = ConfigResource.Type.BROKER;

  private final Cluster cluster;

  TopicAdminChecks(Cluster cluster) {
    this.cluster = cluster;
  }

  void add(Checks checks) {
    checks.add("admin.topics", this::topics);
    checks.add("admin.partitions", this::partitions);
    checks.add("admin.configs", this::topicConfigs);
    checks.add("admin.configs.broker", this::brokerConfigs);
    checks.add("admin.configs.group", this::groupConfigs);
    checks.add("admin.list_offsets", this::listOffsets);
    checks.add("admin.delete_records", this::deleteRecords);
  }

  private void create(NewTopic topic) throws Exception {
    Cluster.get(cluster.admin.createTopics(List.of(topic)).all());
  }

  private TopicDescription describe(String name) throws Exception {
    return Cluster.get(cluster.admin.describeTopics(List.of(name)).allTopicNames()).get(name);
  }

  private void topics() throws Exception {
    String name = Cluster.fresh("topic");
    int node = Cluster.get(cluster.admin.describeCluster().nodes()).iterator().next().id();
    NewTopic topic = new NewTopic(name, Map.of(0, List.of(node), 1, List.of(node)))
        .configs(Map.of("retention.ms", "3600000"));
    Cluster.get(cluster.admin.createTopics(List.of(topic), new CreateTopicsOptions().validateOnly(true)).all());
    Checks.check(!Cluster.get(cluster.admin.listTopics().names()).contains(name), "it was only validated");
    var created = cluster.admin.createTopics(List.of(topic));
    Uuid id = Cluster.get(created.topicId(name));
    Checks.equal(2, Cluster.get(created.numPartitions(name)));
    Checks.equal(1, Cluster.get(created.replicationFactor(name)));
    ConfigEntry retention = Cluster.get(created.config(name)).get("retention.ms");
    Checks.equal("3600000", retention.value());
    Checks.equal(ConfigEntry.ConfigSource.DYNAMIC_TOPIC_CONFIG, retention.source());
    cluster.served(name, 2);

    TopicDescription found = describe(name);
    Checks.equal(id, found.topicId());
    Checks.equal(2, found.partitions().size());
    Checks.check(!found.isInternal(), found);
    Checks.equal(node, found.partitions().get(1).leader().id());
    Checks.equal(1, found.partitions().get(1).replicas().size());
    var byId = cluster.admin.describeTopics(TopicCollection.ofTopicIds(List.of(id)));
    Checks.equal(name, Cluster.get(byId.allTopicIds()).get(id).name());
    Checks.equal(id, Cluster.get(cluster.admin.listTopics().namesToListings()).get(name).topicId());

    Checks.throwing(TopicExistsException.class, () -> create(topic));
    Checks.throwing(InvalidTopicException.class, () -> create(new NewTopic("no topic", 1, (short) 1)));
    Checks.throwing(InvalidReplicationFactorException.class, () -> create(new NewTopic(name + "x", 1, (short) 2)));
    Checks.throwing(InvalidPartitionsException.class, () -> create(new NewTopic(name + "x", 0, (short) 1)));
    Checks.throwing(InvalidConfigurationException.class,
        () -> create(new NewTopic(name + "x", 1, (short) 1).configs(Map.of("retention.ms", "soon"))));

    Cluster.get(cluster.admin.deleteTopics(TopicCollection.ofTopicIds(List.of(id))).all());
    Checks.until("the topic is gone", () -> !Cluster.get(cluster.admin.listTopics().names()).contains(name));
    Checks.throwing(UnknownTopicOrPartitionException.class, () -> describe(name));
    Checks.throwing(UnknownTopicIdException.class,
        () -> Cluster.get(cluster.admin.deleteTopics(TopicCollection.ofTopicIds(List.of(id))).all()));
    create(topic);
    cluster.served(name, 2);
    Checks.check(!id.equals(describe(name).topicId()), "the same name again is another topic");
    Cluster.get(cluster.admin.deleteTopics(List.of(name)).all());
    Checks.throwing(UnknownTopicOrPartitionException.class,
        () -> Cluster.get(cluster.admin.deleteTopics(List.of(name)).all()));
  }

  private void partitions() throws Exception {
    String topic = cluster.topic(2);
    cluster.produce(topic, 1, List.of("kept"));
    Cluster.get(cluster.admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(4))).all());
    cluster.served(topic, 4);
    Checks.equal(4, describe(topic).partitions().size());
    cluster.produce(topic, 3, List.of("new"));
    Checks.equal(List.of("kept"), Cluster.values(cluster.read(topic, 1, 1)));
    Checks.equal(List.of("new"), Cluster.values(cluster.read(topic, 3, 1)));
    for (int count : new int[] {3, 4}) {
      Checks.throwing(InvalidPartitionsException.class, () -> Cluster.get(
          cluster.admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(count))).all()));
    }
    Checks.throwing(UnknownTopicOrPartitionException.class, () -> Cluster.get(
        cluster.admin.createPartitions(Map.of(Cluster.fresh("none"), NewPartitions.increaseTo(4))).all()));
  }

  private void becomes(ConfigResource.Type type, String name, String key, String value,
      ConfigEntry.ConfigSource source) throws Exception {
    Checks.until(key + " is " + value, () -> {
      ConfigEntry found = cluster.config(type, name, key);
      Checks.equal(value, found.value());
      Checks.equal(source, found.source());
      return true;
    });
  }

  private void topicConfigs() throws Exception {
    String topic = cluster.topic(1);
    ConfigEntry.ConfigSource set = ConfigEntry.ConfigSource.DYNAMIC_TOPIC_CONFIG;
    ConfigEntry.ConfigSource unset = ConfigEntry.ConfigSource.DEFAULT_CONFIG;
    becomes(TOPIC, topic, "cleanup.policy", "delete", unset);
    cluster.configure(TOPIC, topic, AlterConfigOp.OpType.APPEND, "cleanup.policy", "compact");
    becomes(TOPIC, topic, "cleanup.policy", "delete,compact", set);
    cluster.configure(TOPIC, topic, AlterConfigOp.OpType.SUBTRACT, "cleanup.policy", "delete");
    becomes(TOPIC, topic, "cleanup.policy", "compact", set);
    cluster.configure(TOPIC, topic, AlterConfigOp.OpType.DELETE, "cleanup.policy", "");
    becomes(TOPIC, topic, "cleanup.policy", "delete", unset);
    cluster.configure(TOPIC, topic, "max.message.bytes", "5000");
    becomes(TOPIC, topic, "max.message.bytes", "5000", set);
    ConfigEntry entry = cluster.config(TOPIC, topic, "max.message.bytes");
    Checks.equal(ConfigEntry.ConfigType.INT, cluster.config(TOPIC, topic, "max.message.bytes").type());
    Checks.check(!entry.isReadOnly() && !entry.isSensitive() && !entry.isDefault(), entry);
    Checks.throwing(InvalidConfigurationException.class,
        () -> cluster.configure(TOPIC, topic, "max.message.bytes", "many"));
    Checks.throwing(InvalidConfigurationException.class, () -> cluster.configure(TOPIC, topic, "no.such", "1"));
    Checks.throwing(UnknownTopicOrPartitionException.class,
        () -> cluster.configure(TOPIC, Cluster.fresh("none"), "retention.ms", "1"));
    Checks.throwing(InvalidConfigurationException.class,
        () -> cluster.configure(TOPIC, topic, AlterConfigOp.OpType.APPEND, "retention.ms", "1"));
    // The values' origins and their documentation.
    var options = new org.apache.kafka.clients.admin.DescribeConfigsOptions().includeSynonyms(true)
        .includeDocumentation(true);
    ConfigResource resource = new ConfigResource(TOPIC, topic);
    ConfigEntry whole = Cluster.get(cluster.admin.describeConfigs(List.of(resource), options).all()).get(resource)
        .get("max.message.bytes");
    Checks.check(!whole.documentation().isBlank(), whole);
    List<String> synonyms = new ArrayList<>();
    whole.synonyms().forEach(one -> synonyms.add(one.source() + " " + one.name() + " " + one.value()));
    Checks.equal(List.of("DYNAMIC_TOPIC_CONFIG max.message.bytes 5000", "DEFAULT_CONFIG message.max.bytes 1048588"),
        synonyms);
  }

  private void brokerConfigs() throws Exception {
    String node = Cluster.get(cluster.admin.describeCluster().nodes()).iterator().next().idString();
    ConfigEntry directories = cluster.config(BROKER, node, "log.dirs");
    Checks.check(directories.isReadOnly(), directories);
    Checks.equal(ConfigEntry.ConfigSource.STATIC_BROKER_CONFIG, directories.source());
    Checks.throwing(InvalidRequestException.class, () -> cluster.configure(BROKER, node, "log.dirs", "/elsewhere"));
    String key = "log.retention.ms";
    cluster.configure(BROKER, "", key, "86400000");
    becomes(BROKER, node, key, "86400000", ConfigEntry.ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG);
    cluster.configure(BROKER, node, key, "76400000");
    becomes(BROKER, node, key, "76400000", ConfigEntry.ConfigSource.DYNAMIC_BROKER_CONFIG);
    String topic = cluster.topic(1);
    becomes(TOPIC, topic, "retention.ms", "76400000", ConfigEntry.ConfigSource.DYNAMIC_BROKER_CONFIG);
    cluster.configure(BROKER, node, AlterConfigOp.OpType.DELETE, key, "");
    cluster.configure(BROKER, "", AlterConfigOp.OpType.DELETE, key, "");
    becomes(TOPIC, topic, "retention.ms", "604800000", ConfigEntry.ConfigSource.DEFAULT_CONFIG);
  }

  private void groupConfigs() throws Exception {
    String group = Cluster.fresh("group");
    ConfigResource.Type type = ConfigResource.Type.GROUP;
    becomes(type, group, "consumer.session.timeout.ms", "45000", ConfigEntry.ConfigSource.DEFAULT_CONFIG);
    cluster.configure(type, group, "consumer.session.timeout.ms", "50000");
    becomes(type, group, "consumer.session.timeout.ms", "50000", ConfigEntry.ConfigSource.DYNAMIC_GROUP_CONFIG);
    Checks.throwing(InvalidConfigurationException.class,
        () -> cluster.configure(type, group, "consumer.session.timeout.ms", "1"));
    ConfigResource resource = new ConfigResource(type, group);
    Checks.check(Cluster.get(cluster.admin.listConfigResources(Set.of(type),
        new org.apache.kafka.clients.admin.ListConfigResourcesOptions()).all()).contains(resource), "it is listed");
    cluster.configure(type, group, AlterConfigOp.OpType.DELETE, "consumer.session.timeout.ms", "");
    becomes(type, group, "consumer.session.timeout.ms", "45000", ConfigEntry.ConfigSource.DEFAULT_CONFIG);
  }

  private void listOffsets() throws Exception {
    String topic = cluster.topic(1, "retention.ms", "-1");
    TopicPartition partition = new TopicPartition(topic, 0);
    try (KafkaProducer<String, String> producer = cluster.producer()) {
      for (long time : new long[] {1000, 9000, 2000}) {
        Cluster.get(producer.send(new ProducerRecord<>(topic, 0, time, null, "x")));
      }
    }
    Checks.equal(0L, cluster.offset(partition, OffsetSpec.earliest()));
    Checks.equal(0L, cluster.offset(partition, OffsetSpec.earliestLocal()));
    Checks.equal(3L, cluster.offset(partition, OffsetSpec.latest()));
    Checks.equal(-1L, cluster.offset(partition, OffsetSpec.latestTiered()));
    Checks.equal(1L, cluster.offset(partition, OffsetSpec.maxTimestamp()));
    Checks.equal(1L, cluster.offset(partition, OffsetSpec.forTimestamp(1500)));
    Checks.equal(-1L, cluster.offset(partition, OffsetSpec.forTimestamp(9001)));
  }

  private void deleteRecords() throws Exception {
    String topic = cluster.topic(1);
    TopicPartition partition = new TopicPartition(topic, 0);
    cluster.produce(topic, 0, Cluster.numbered("", 10));
    var deleted = cluster.admin.deleteRecords(Map.of(partition, RecordsToDelete.beforeOffset(4)));
    Checks.equal(4L, Cluster.get(deleted.lowWatermarks().get(partition)).lowWatermark());
    Checks.equal(4L, cluster.offset(partition, OffsetSpec.earliest()));
    Checks.equal(List.of("4", "5", "6", "7", "8", "9"), Cluster.values(cluster.read(topic, 0, 6)));
    Checks.throwing(OffsetOutOfRangeException.class, () -> Cluster.get(
        cluster.admin.deleteRecords(Map.of(partition, RecordsToDelete.beforeOffset(11))).all()));
    Cluster.get(cluster.admin.deleteRecords(Map.of(partition, RecordsToDelete.beforeOffset(-1))).all());
    Checks.equal(10L, cluster.offset(partition, OffsetSpec.earliest()));
  }
}
