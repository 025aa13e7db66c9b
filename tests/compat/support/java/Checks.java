import java.io.PrintStream;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.common.utils.internals.AppInfoParser;

/** Named checks of a client. Each prints "passed NAME" or "failed NAME: why"; the last line counts them. */
final class Checks {
  static final Duration LIMIT = Duration.ofSeconds(30);

  interface Body {
    void run() throws Exception;
  }

  interface Condition {
    boolean holds() throws Exception;
  }

  // Not what a check puts in their place.
  private static final PrintStream OUT = System.out;
  private static final PrintStream ERR = System.err;

  private final Map<String, Body> bodies = new LinkedHashMap<>();
  private final String client;

  Checks(String client) {
    this.client = client;
  }

  void add(String name, Body body) {
    if (bodies.put(name, body) != null) throw new IllegalArgumentException("two checks " + name);
  }

  /** Runs those with the names, or all if there are none, some beside each other. The process's exit status. */
  int run(Set<String> names, int threads) throws InterruptedException {
    OUT.println("client " + client + " " + AppInfoParser.getVersion());
    AtomicInteger passed = new AtomicInteger();
    AtomicInteger failed = new AtomicInteger();
    ExecutorService executor = Executors.newFixedThreadPool(threads);
    bodies.forEach((name, body) -> {
      if (names.isEmpty() || names.contains(name)) {
        executor.execute(() -> (holds(name, body) ? passed : failed).incrementAndGet());
      }
    });
    executor.shutdown();
    executor.awaitTermination(1, TimeUnit.HOURS);
    OUT.println(passed + " passed, " + failed + " failed, 0 skipped");
    return failed.get() == 0 && passed.get() > 0 ? 0 : 1;
  }

  private static boolean holds(String name, Body body) {
    long begin = System.nanoTime();
    try {
      body.run();
      OUT.println("passed " + name);
      return true;
    } catch (Throwable error) {
      OUT.println("failed " + name + ": " + String.valueOf(error).replaceAll("\\s+", " "));
      error.printStackTrace(ERR);
      return false;
    } finally {
      if (System.getenv("ACKORD_COMPAT_TIMES") != null) {
        ERR.printf("%.1f s %s%n", (System.nanoTime() - begin) / 1e9, name);
      }
    }
  }

  static void check(boolean condition, Object what) {
    if (!condition) throw new AssertionError(what);
  }

  static void equal(Object expected, Object found) {
    if (!Objects.equals(expected, found)) throw new AssertionError("expected " + expected + ", found " + found);
  }

  /** Waits until it holds. An exception means that it does not yet; the last one is the cause when time is out. */
  static void until(String what, Condition condition) throws InterruptedException {
    until(LIMIT, what, condition);
  }

  static void until(Duration limit, String what, Condition condition) throws InterruptedException {
    long end = System.nanoTime() + limit.toNanos();
    Throwable last = null;
    while (true) {
      try {
        if (condition.holds()) return;
      } catch (Exception | AssertionError error) {
        last = error;
      }
      if (System.nanoTime() > end) throw new AssertionError("not in time: " + what, last);
      Thread.sleep(20);
    }
  }

  /** The body throws this, or a future's exception caused by this. */
  static <E extends Throwable> E throwing(Class<E> type, Body body) throws Exception {
    try {
      body.run();
    } catch (Throwable error) {
      Throwable cause = error instanceof ExecutionException ? error.getCause() : error;
      if (type.isInstance(cause)) return type.cast(cause);
      throw error;
    }
    throw new AssertionError("no " + type.getSimpleName());
  }
}
