import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;

/**
 * WordCount BOOTSTRAP APPLICATION INPUT OUTPUT DIRECTORY: an instance of the application, exactly once, in the classic
 * protocol. Without a cache each word counted is a record of its own in the output. Prints its states.
 */
public final class WordCount {
  public static void main(String[] arguments) {
    Properties settings = new Properties();
    settings.putAll(Map.of(
        StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, arguments[0],
        StreamsConfig.APPLICATION_ID_CONFIG, arguments[1],
        StreamsConfig.STATE_DIR_CONFIG, arguments[4],
        StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2,
        StreamsConfig.GROUP_PROTOCOL_CONFIG, "classic",
        StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, "0",
        StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.String().getClass().getName(),
        StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.String().getClass().getName(),
        // Who is killed is missed soon, and its transaction aborted.
        "session.timeout.ms", "6000",
        "transaction.timeout.ms", "6000"));
    settings.put("heartbeat.interval.ms", "500");
    StreamsBuilder builder = new StreamsBuilder();
    KStream<String, String> lines = builder.stream(arguments[2]);
    lines.flatMapValues(line -> List.of(line.split(" ")))
        .groupBy((key, word) -> word)
        .count(Materialized.as("counts"))
        .toStream()
        .to(arguments[3], Produced.with(Serdes.String(), Serdes.Long()));
    KafkaStreams streams = new KafkaStreams(builder.build(settings), settings);
    streams.setStateListener((now, before) -> System.out.println(now));
    Runtime.getRuntime().addShutdownHook(new Thread(() -> streams.close(Duration.ofSeconds(20))));
    streams.start();
  }
}
