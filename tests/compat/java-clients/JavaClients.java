import java.util.List;
import java.util.Set;

/** JavaClients BOOTSTRAP [CHECK…]: what Apache Kafka's Java clients can do, checked against any broker. */
public final class JavaClients {
  public static void main(String[] arguments) throws InterruptedException {
    Checks checks = new Checks("java-clients");
    int status;
    try (Cluster cluster = new Cluster(arguments[0])) {
      new ProducerChecks(cluster).add(checks);
      new TransactionChecks(cluster).add(checks);
      new ConsumerChecks(cluster).add(checks);
      new ShareChecks(cluster).add(checks);
      new TopicAdminChecks(cluster).add(checks);
      new GroupAdminChecks(cluster).add(checks);
      new ClusterAdminChecks(cluster).add(checks);
      status = checks.run(Set.copyOf(List.of(arguments).subList(1, arguments.length)), 4);
    }
    System.exit(status);
  }
}
