import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.kafka.common.utils.internals.Exit;

/** Runs the main class of a kafka-*.sh in this process: a Java machine for each would take longer than all they do. */
final class Tool {
  /** What a tool printed, and its exit status. */
  record Result(int status, String out, String err) {
    /** All ended well, and each pattern is all of some line, in which runs of blanks are one. */
    Result shows(String... patterns) {
      Checks.check(status == 0, this);
      return has(out, List.of(patterns));
    }

    /** It ended badly, and said so. */
    Result refuses(String... patterns) {
      Checks.check(status != 0, this);
      return has(out + err, List.of(patterns));
    }

    Result lacks(String pattern) {
      Checks.check(lines(out).noneMatch(line -> line.matches(pattern)), "a line " + pattern + " in " + this);
      return this;
    }

    /** As shows(), however it ended. */
    Result has(String... patterns) {
      return has(out, List.of(patterns));
    }

    private Result has(String where, List<String> patterns) {
      for (String pattern : patterns) {
        Checks.check(lines(where).anyMatch(line -> line.matches(pattern)), "no line " + pattern + " in " + this);
      }
      return this;
    }

    private static Stream<String> lines(String text) {
      return text.lines().map(line -> line.replaceAll("\\s+", " ").strip());
    }

    @Override
    public String toString() {
      return "[status " + status + "] " + out + err;
    }
  }

  /** Ends a tool. Some print what they catch: nothing. */
  private static final class Exited extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Exited() {
      super("", null, false, false);
    }

    @Override
    public String toString() {
      return "";
    }
  }

  final String bootstrap;

  Tool(String bootstrap) {
    this.bootstrap = bootstrap;
  }

  interface Run {
    Result get() throws Exception;
  }

  /** Runs it until it shows them: a broker may hear of a change later than who has made it. */
  static void soon(Run run, String... patterns) throws Exception {
    Checks.until(List.of(patterns).toString(), () -> run.get().shows(patterns) != null);
  }

  /** The class's main with --bootstrap-server before the arguments. */
  Result run(String name, String... arguments) throws Exception {
    List<String> all = new ArrayList<>(List.of("--bootstrap-server", bootstrap));
    all.addAll(List.of(arguments));
    return run(name, "", all);
  }

  /** The class's main in a process of its own, until it ends or has printed the pattern. */
  Result process(String until, String name, String... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of(ProcessHandle.current().info().command().orElseThrow(), "-Xmx256m",
        "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", System.getProperty("java.class.path"),
        "org.apache.kafka.tools." + name));
    command.addAll(List.of(arguments));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    // Who hangs is killed, which ends the reading, too.
    CompletableFuture<Void> limit = CompletableFuture.runAsync(process::destroyForcibly,
        CompletableFuture.delayedExecutor(Checks.LIMIT.toSeconds(), TimeUnit.SECONDS));
    StringBuilder printed = new StringBuilder();
    try (BufferedReader reader = process.inputReader(StandardCharsets.UTF_8)) {
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        printed.append(line).append('\n');
        if (until != null && line.matches(until)) return new Result(0, printed.toString(), "");
      }
      return new Result(process.waitFor(), printed.toString(), "");
    } finally {
      limit.cancel(false);
      process.destroyForcibly().waitFor();
    }
  }

  /** One after the other: a tool has the process's standard output to itself. */
  static synchronized Result run(String name, String input, List<String> arguments) throws Exception {
    PrintStream out = System.out;
    PrintStream err = System.err;
    InputStream in = System.in;
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    ByteArrayOutputStream complained = new ByteArrayOutputStream();
    List<Runnable> hooks = new ArrayList<>();
    // A tool catches what it does not know, and exits once more: the first status counts.
    List<Integer> statuses = new ArrayList<>();
    Exit.Procedure exit = (status, message) -> {
      if (message != null) System.err.println(message);
      statuses.add(status);
      throw new Exited();
    };
    Exit.setExitProcedure(exit);
    Exit.setHaltProcedure(exit);
    Exit.setShutdownHookAdder((hook, runnable) -> hooks.add(runnable));
    try {
      System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
      System.setErr(new PrintStream(complained, true, StandardCharsets.UTF_8));
      System.setIn(new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)));
      Class.forName("org.apache.kafka.tools." + name).getMethod("main", String[].class)
          .invoke(null, (Object) arguments.toArray(String[]::new));
    } catch (InvocationTargetException error) {
      if (statuses.isEmpty()) {
        statuses.add(1);
        error.getCause().printStackTrace();
      }
    } finally {
      hooks.forEach(Runnable::run);
      System.setOut(out);
      System.setErr(err);
      System.setIn(in);
    }
    return new Result(statuses.isEmpty() ? 0 : statuses.get(0), printed.toString(StandardCharsets.UTF_8),
        complained.toString(StandardCharsets.UTF_8));
  }
}
