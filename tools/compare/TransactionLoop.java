import java.util.Arrays;
import java.util.Locale;
import java.util.Properties;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * TransactionLoop BOOTSTRAP TOPIC WARMUP COUNT SIZE: one producer, one transaction after the other, one record in each.
 * Latency is that of begin, send and commit together. Prints "rate R p50 MS p99 MS max MS", of COUNT after WARMUP.
 */
public class TransactionLoop {
  public static void main(String[] arguments) {
    Properties properties = new Properties();
    properties.put("bootstrap.servers", arguments[0]);
    properties.put("transactional.id", "transaction-loop");
    properties.put("key.serializer", ByteArraySerializer.class.getName());
    properties.put("value.serializer", ByteArraySerializer.class.getName());
    int warmup = Integer.parseInt(arguments[2]);
    int count = Integer.parseInt(arguments[3]);
    byte[] value = new byte[Integer.parseInt(arguments[4])];
    try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(properties)) {
      producer.initTransactions();
      for (int i = 0; i < warmup; ++i) transaction(producer, arguments[1], value);
      long[] took = new long[count];
      long begin = System.nanoTime();
      for (int i = 0; i < count; ++i) took[i] = transaction(producer, arguments[1], value);
      double seconds = (System.nanoTime() - begin) / 1e9;
      Arrays.sort(took);
      System.out.printf(Locale.ROOT, "rate %.3f p50 %.3f p99 %.3f max %.3f%n", count / seconds,
          quantile(took, 0.5), quantile(took, 0.99), quantile(took, 1));
    }
  }

  private static long transaction(KafkaProducer<byte[], byte[]> producer, String topic, byte[] value) {
    long start = System.nanoTime();
    producer.beginTransaction();
    producer.send(new ProducerRecord<>(topic, value));
    producer.commitTransaction();
    return System.nanoTime() - start;
  }

  private static double quantile(long[] sorted, double part) {
    int index = (int) Math.ceil(part * sorted.length) - 1;
    return sorted[Math.max(index, 0)] / 1e6;
  }
}
