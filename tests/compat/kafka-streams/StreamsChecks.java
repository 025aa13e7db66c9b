import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.ClassicGroupState;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.LongDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;

/**
 * StreamsChecks BOOTSTRAP: two instances of WordCount, of which one is killed hard and replaced. Each word's
 * counts in the output must be 1, 2, 3 and so on, up to how often it was written. The checks follow each other.
 */
public final class StreamsChecks {
  private static final int PARTITIONS = 4;
  private static final int ROUNDS = 30;

  private final Cluster cluster;
  private final Path work;
  private final String application = Cluster.fresh("application");
  private final String input;
  private final String output;
  private final Random random = new Random(1);
  private final Map<String, Long> written = new HashMap<>();
  private final Map<String, List<Long>> counted = new HashMap<>();
  private final KafkaConsumer<String, Long> reader;
  private final List<Process> instances = new ArrayList<>();

  private StreamsChecks(Cluster cluster, Path work) throws Exception {
    this.cluster = cluster;
    this.work = work;
    input = cluster.topic(PARTITIONS);
    output = cluster.topic(PARTITIONS);
    reader = new KafkaConsumer<>(cluster.settings("isolation.level", "read_committed"), new StringDeserializer(),
        new LongDeserializer());
    List<TopicPartition> all = new ArrayList<>();
    for (int i = 0; i < PARTITIONS; ++i) all.add(new TopicPartition(output, i));
    reader.assign(all);
    reader.seekToBeginning(all);
  }

  public static void main(String[] arguments) throws Exception {
    Path work = Files.createTempDirectory("ackord-streams.");
    int status;
    try (Cluster cluster = new Cluster(arguments[0])) {
      StreamsChecks streams = new StreamsChecks(cluster, work);
      Checks checks = new Checks("kafka-streams");
      checks.add("streams.two_instances", streams::twoInstances);
      checks.add("streams.kill_and_replace", streams::killAndReplace);
      checks.add("streams.exactly_once", streams::exactlyOnce);
      checks.add("streams.close", streams::close);
      try {
        status = checks.run(Set.of(), 1);
      } finally {
        for (Process instance : streams.instances) instance.destroyForcibly().waitFor();
        streams.reader.close();
        delete(work);
      }
    }
    System.exit(status);
  }

  private static void delete(Path folder) throws IOException {
    try (var paths = Files.walk(folder)) {
      for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) Files.delete(path);
    }
  }

  private void start() throws IOException {
    String name = "instance" + instances.size();
    ProcessBuilder builder = new ProcessBuilder(ProcessHandle.current().info().command().orElseThrow(), "-Xmx256m",
        "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", System.getProperty("java.class.path"), "WordCount",
        cluster.bootstrap, application, input, output, work.resolve(name).toString());
    instances.add(builder.redirectOutput(work.resolve(name + ".out").toFile())
        .redirectError(ProcessBuilder.Redirect.INHERIT).start());
  }

  /** Lines of words, some of which are much more frequent than others. */
  private void write() throws Exception {
    try (KafkaProducer<String, String> producer = cluster.producer()) {
      for (int line = 0; line < 20; ++line) {
        List<String> words = new ArrayList<>();
        for (int i = 0; i < 5; ++i) words.add("word" + random.nextInt(1 + random.nextInt(40)));
        for (String word : words) written.merge(word, 1L, Long::sum);
        producer.send(new ProducerRecord<>(input, line % PARTITIONS, null, String.join(" ", words)));
      }
    }
  }

  private long read() {
    for (ConsumerRecord<String, Long> record : reader.poll(Cluster.POLL)) {
      counted.computeIfAbsent(record.key(), key -> new ArrayList<>()).add(record.value());
    }
    return counted.values().stream().mapToLong(List::size).sum();
  }

  private long writtenWords() {
    return written.values().stream().mapToLong(Long::longValue).sum();
  }

  private void stable(int members) throws Exception {
    Checks.until(members + " members with partitions", () -> {
      var group = Cluster.get(cluster.admin.describeClassicGroups(List.of(application)).all()).get(application);
      Checks.equal(ClassicGroupState.STABLE, group.state());
      Checks.equal("stream", group.protocolData());
      Checks.equal(members, group.members().size());
      return group.members().stream().noneMatch(member -> member.assignment().topicPartitions().isEmpty());
    });
  }

  private void twoInstances() throws Exception {
    write();
    start();
    start();
    stable(2);
    Checks.until("all that is written is counted", () -> read() == writtenWords());
  }

  /** What is written meanwhile is counted by the one that is left and by its successor. */
  private void killAndReplace() throws Exception {
    for (int round = 0; round < ROUNDS; ++round) {
      write();
      read();
      if (round == ROUNDS / 3) instances.get(0).destroyForcibly().waitFor();
      if (round == ROUNDS / 2) start();
    }
    Checks.until(Checks.LIMIT.multipliedBy(2), "the killed one's transaction is aborted, and all counted",
        () -> read() >= writtenWords());
    stable(2);
    write();
    Checks.until("the last ones are counted", () -> read() >= writtenWords());
  }

  private void exactlyOnce() throws Exception {
    Map<String, List<Long>> wanted = new HashMap<>();
    written.forEach((word, count) -> wanted.put(word, LongStream.rangeClosed(1, count).boxed().toList()));
    Checks.equal(wanted, counted);
  }

  private void close() throws Exception {
    for (Process instance : instances.subList(1, instances.size())) {
      instance.destroy();
      Checks.check(instance.waitFor(Checks.LIMIT.toSeconds(), TimeUnit.SECONDS), "it ends in time");
    }
    for (int i = 1; i < instances.size(); ++i) {
      List<String> states = Files.readAllLines(work.resolve("instance" + i + ".out"));
      Checks.check(states.contains("RUNNING") && !states.contains("ERROR"), states);
      Checks.equal("NOT_RUNNING", states.get(states.size() - 1));
    }
    // No word more came meanwhile.
    Checks.equal(writtenWords(), read());
  }
}
