import java.util.List;
import java.util.Set;

/** KafkaTools BOOTSTRAP [CHECK…]: what Apache Kafka's tools print about any broker. */
public final class KafkaTools {
  public static void main(String[] arguments) throws Exception {
    Checks checks = new Checks("kafka-tools");
    int status;
    try (Cluster cluster = new Cluster(arguments[0])) {
      Tool tool = new Tool(arguments[0]);
      new TopicTools(cluster, tool).add(checks);
      new GroupTools(cluster, tool).add(checks);
      new ClusterTools(cluster, tool).add(checks);
      new ClientTools(cluster, tool).add(checks);
      status = checks.run(Set.copyOf(List.of(arguments).subList(1, arguments.length)), 4);
    }
    System.exit(status);
  }
}
