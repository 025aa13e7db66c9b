import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.UUID;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** The broker under test: clients for it, and topics and groups of a check's own. Settings are names and values. */
final class Cluster implements AutoCloseable {
  static final Duration POLL = Duration.ofMillis(100);
  /** What every client needs, as to log in: from the properties file that the environment names, if it does. */
  private static final Map<String, String> COMMON = common();

  final String bootstrap;
  final Admin admin;

  Cluster(String bootstrap) {
    this.bootstrap = bootstrap;
    admin = Admin.create(settings());
  }

  @Override
  public void close() {
    admin.close();
  }

  private static Map<String, String> common() {
    Map<String, String> settings = new HashMap<>();
    String file = System.getenv("ACKORD_TEST_CLIENT_CONFIG");
    if (file == null) return settings;
    Properties properties = new Properties();
    try (Reader reader = Files.newBufferedReader(Path.of(file))) {
      properties.load(reader);
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
    for (String name : properties.stringPropertyNames()) settings.put(name, properties.getProperty(name));
    return settings;
  }

  static String fresh(String prefix) {
    return prefix + "-" + UUID.randomUUID().toString().substring(0, 13);
  }

  static <T> T get(Future<T> future) throws Exception {
    return future.get(Checks.LIMIT.toSeconds(), TimeUnit.SECONDS);
  }

  static <T> T get(KafkaFuture<T> future) throws Exception {
    return future.get(Checks.LIMIT.toSeconds(), TimeUnit.SECONDS);
  }

  Map<String, Object> settings(String... more) {
    Map<String, Object> settings = new HashMap<>(COMMON);
    settings.put("bootstrap.servers", bootstrap);
    for (int i = 0; i < more.length; i += 2) settings.put(more[i], more[i + 1]);
    return settings;
  }

  static Map<String, String> pairs(String... more) {
    Map<String, String> pairs = new HashMap<>();
    for (int i = 0; i < more.length; i += 2) pairs.put(more[i], more[i + 1]);
    return pairs;
  }

  /** A new topic that is served: Kafka's brokers hear of it later than who has made it. */
  String topic(int partitions, String... configs) throws Exception {
    String name = fresh("topic");
    get(admin.createTopics(List.of(new NewTopic(name, partitions, (short) 1).configs(pairs(configs)))).all());
    served(name, partitions);
    return name;
  }

  void served(String name, int partitions) throws Exception {
    Map<TopicPartition, OffsetSpec> ends = new HashMap<>();
    for (int i = 0; i < partitions; ++i) ends.put(new TopicPartition(name, i), OffsetSpec.latest());
    Checks.until("topic is served", () -> get(admin.listOffsets(ends).all()).size() == partitions);
  }

  long end(TopicPartition partition) throws Exception {
    return offset(partition, OffsetSpec.latest());
  }

  long offset(TopicPartition partition, OffsetSpec spec) throws Exception {
    return get(admin.listOffsets(Map.of(partition, spec)).partitionResult(partition)).offset();
  }

  void configure(ConfigResource.Type type, String name, String key, String value) throws Exception {
    configure(type, name, AlterConfigOp.OpType.SET, key, value);
  }

  void configure(ConfigResource.Type type, String name, AlterConfigOp.OpType operation, String key, String value)
      throws Exception {
    AlterConfigOp change = new AlterConfigOp(new ConfigEntry(key, value), operation);
    get(admin.incrementalAlterConfigs(Map.of(new ConfigResource(type, name), List.of(change))).all());
  }

  ConfigEntry config(ConfigResource.Type type, String name, String key) throws Exception {
    return get(admin.describeConfigs(List.of(new ConfigResource(type, name))).all()).values().iterator().next()
        .get(key);
  }

  KafkaProducer<String, String> producer(String... more) {
    return new KafkaProducer<>(settings(more), new StringSerializer(), new StringSerializer());
  }

  /** Sends the values in order, and waits for them. */
  List<RecordMetadata> produce(String topic, int partition, List<String> values, String... more) throws Exception {
    try (KafkaProducer<String, String> producer = producer(more)) {
      return produce(producer, topic, partition, values);
    }
  }

  static List<RecordMetadata> produce(KafkaProducer<String, String> producer, String topic, int partition,
      List<String> values) throws Exception {
    List<Future<RecordMetadata>> sent = new ArrayList<>();
    for (String value : values) sent.add(producer.send(new ProducerRecord<>(topic, partition, null, value)));
    producer.flush();
    List<RecordMetadata> written = new ArrayList<>();
    for (Future<RecordMetadata> one : sent) written.add(get(one));
    return written;
  }

  /** Reads from the start what nobody has committed, and commits only when told to. */
  KafkaConsumer<String, String> consumer(String group, String... more) {
    Map<String, Object> settings = settings("auto.offset.reset", "earliest", "enable.auto.commit", "false");
    if (group != null) settings.put("group.id", group);
    settings.putAll(pairs(more));
    return new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
  }

  KafkaShareConsumer<String, String> shareConsumer(String group, String... more) {
    Map<String, Object> settings = settings(more);
    settings.put("group.id", group);
    return new KafkaShareConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
  }

  static List<ConsumerRecord<String, String>> take(Consumer<String, String> consumer, int count) throws Exception {
    List<ConsumerRecord<String, String>> taken = new ArrayList<>();
    long end = System.nanoTime() + Checks.LIMIT.toNanos();
    while (taken.size() < count) {
      Checks.check(System.nanoTime() < end, taken.size() + " of " + count + " records in time");
      consumer.poll(POLL).forEach(taken::add);
    }
    return taken;
  }

  /** The first records of the partition, read without a group. */
  List<ConsumerRecord<String, String>> read(String topic, int partition, int count, String... more) throws Exception {
    try (KafkaConsumer<String, String> consumer = consumer(null, more)) {
      consumer.assign(List.of(new TopicPartition(topic, partition)));
      return take(consumer, count);
    }
  }

  static List<String> values(Collection<ConsumerRecord<String, String>> records) {
    return records.stream().map(ConsumerRecord::value).toList();
  }

  static List<String> numbered(String prefix, int count) {
    List<String> values = new ArrayList<>();
    for (int i = 0; i < count; ++i) values.add(prefix + i);
    return values;
  }
}
