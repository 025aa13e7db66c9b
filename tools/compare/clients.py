"""The programs that load a broker: kcat (librdkafka), Kafka's own tools, ackord-bench. Run, checked, and read."""
import json
import os
import re
import signal
import subprocess

from compare.brokers import BUILD, ROOT

LIMIT_S = 900
TOOLS = "org.apache.kafka.tools."
FAST_START = ["-XX:TieredStopAtLevel=1", "-Xmx256m"]  # of the tools that only set something up
NUMBER = r"([0-9.]+)"


class ClientError(Exception):
    pass


def run(command, environment=None):
    """The standard output of a command that ends well. When it is given up, what it has started ends, too."""
    words = [str(word) for word in command]
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          process_group=0, env={**os.environ, "LC_ALL": "C", **(environment or {})}) as process:
        try:
            out, err = process.communicate(timeout=LIMIT_S)
        except BaseException as problem:
            os.killpg(process.pid, signal.SIGTERM)
            if isinstance(problem, subprocess.TimeoutExpired):
                raise ClientError("not done after %d s: %s" % (LIMIT_S, " ".join(words))) from None
            raise
    if process.returncode != 0:
        raise ClientError("%s: exit status %d\n%s%s" % (" ".join(words), process.returncode, out[-2000:], err[-2000:]))
    return out


def read_producer_performance(text):
    """The last summary, which is of what follows the warm-up."""
    lines = re.findall(r"records sent, %s records/sec.*?%s ms 50th.*?%s ms 99th," % ((NUMBER,) * 3), text)
    if not lines:
        raise ClientError("ProducerPerformance says no rate:\n" + text)
    rate, p50, p99 = (float(one) for one in lines[-1])
    return {"rate": rate, "p50_ms": p50, "p99_ms": p99}


def read_table(text):
    """The last row of a table with a header, as ConsumerPerformance and ShareConsumerPerformance print it."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if line.startswith("start.time"):
            rows = [row.split(", ") for row in lines[number + 1:] if row.count(", ") == line.count(", ")]
            if rows:
                return dict(zip(line.strip().split(", "), rows[-1]))
    raise ClientError("no table:\n" + text)


def read_end_to_end(text):
    found = re.search(r"Percentiles: 50th = (\d+), 99th = (\d+)", text)
    if not found:
        raise ClientError("EndToEndLatency says no percentiles:\n" + text)
    return {"p50_ms": float(found[1]), "p99_ms": float(found[2])}


def read_transaction_loop(text):
    found = re.search(r"rate %s p50 %s p99 %s max" % ((NUMBER,) * 3), text)
    if not found:
        raise ClientError("TransactionLoop says no rate:\n" + text)
    return {"rate": float(found[1]), "p50_ms": float(found[2]), "p99_ms": float(found[3])}


class Clients:
    """All of them, against one broker. `lib` has Kafka's jars; `directory` is for their files."""

    def __init__(self, broker, lib, directory):
        self.broker = broker
        self.lib = lib
        self.directory = directory

    def java(self, tool, *arguments, flags=()):
        return run(["java", *flags, "-cp", "%s/*" % self.lib, tool, *arguments])

    def on_broker(self, tool, *arguments, flags=()):
        return self.java(TOOLS + tool, "--bootstrap-server", self.broker.bootstrap, *arguments, flags=flags)

    def create_topic(self, name, partitions):
        self.on_broker("TopicCommand", "--create", "--topic", name, "--partitions", partitions,
                       "--replication-factor", 1, flags=FAST_START)

    def share_from_earliest(self, group):
        self.on_broker("ConfigCommand", "--alter", "--entity-type", "groups", "--entity-name", group,
                       "--add-config", "share.auto.offset.reset=earliest", flags=FAST_START)

    def kcat_produce(self, topic, file, records):
        run(["kcat", "-b", self.broker.bootstrap, "-t", topic, "-P", "-X", "acks=all", "-c", records, "-l", file])

    def kcat_fetch(self, topic):
        """How many records there are, all of them read."""
        return len(run(["kcat", "-b", self.broker.bootstrap, "-t", topic, "-C", "-o", "beginning", "-e", "-q",
                        "-f", "."]))

    def producer_performance(self, topic, warmup, records, size):
        return read_producer_performance(self.on_broker(
            "ProducerPerformance", "--topic", topic, "--num-records", warmup + records, "--warmup-records", warmup,
            "--record-size", size, "--throughput", -1, "--command-property", "acks=all"))

    def consumer_performance(self, topic, records):
        table = read_table(self.on_broker("ConsumerPerformance", "--topic", topic, "--num-records", records,
                                          "--timeout", 60000))
        return {"rate": float(table["fetch.nMsg.sec"]), "records": float(table["data.consumed.in.nMsg"])}

    def share_consumer_performance(self, topic, group, records):
        table = read_table(self.on_broker("ShareConsumerPerformance", "--topic", topic, "--group", group,
                                          "--num-records", records, "--timeout", 60000))
        return {"rate": float(table["nMsg.sec"]), "records": float(table["data.consumed.in.nMsg"])}

    def end_to_end(self, topic, records, size):
        return read_end_to_end(self.on_broker("EndToEndLatency", "--topic", topic, "--num-records", records,
                                              "--producer-acks", "all", "--record-size", size))

    def transaction_loop(self, topic, warmup, count, size):
        source = ROOT / "tools" / "compare" / "TransactionLoop.java"
        return read_transaction_loop(self.java(source, self.broker.bootstrap, topic, warmup, count, size))

    def bench(self, work, *options):
        return json.loads(run([BUILD / "ackord-bench", work, "--json", "--bootstrap-server",
                               self.broker.bootstrap, "--pid", self.broker.pid, *options]))

    def bench_startup(self, *options):
        prepare, command = self.broker.startup_command(self.lib)
        return json.loads(run([BUILD / "ackord-bench", "startup", "--json", *prepare, *options, "--", *command],
                              {"TMPDIR": str(self.directory)}))
