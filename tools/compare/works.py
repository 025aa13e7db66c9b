"""The work that both brokers do. Each is done once unmeasured right before it is measured, so that a JVM has
compiled what it needs; Ackord gets the same."""
import contextlib
import pathlib
import time

from compare import machine
from compare.clients import ClientError

RECORD_BYTES = 100
PARTITIONS = 4
MANY_PARTITIONS = 2000
STARTS = 3
SETTLE_S = 5  # from the start to a look at the memory of an idle broker
MILLION = 1e6


class Counts:
    """How much of each work, at a scale."""

    def __init__(self, scale):
        def of(count):
            return max(10, int(count * scale))

        self.kcat_warmup, self.kcat = of(1_000_000), of(3_000_000)
        self.share_warmup, self.share = of(1_000_000), of(3_000_000)
        self.bench_warmup, self.bench = of(500_000), of(2_000_000)
        self.transactions_warmup, self.transactions = of(300), of(1_500)
        self.singles_warmup, self.singles = of(1_000), of(4_000)
        self.stock_warmup, self.stock = of(1_000_000), of(3_000_000)


def write_records(path, count):
    """A file for kcat: a record a line."""
    with open(path, "w", encoding="ascii") as file:
        for first in range(0, count, 10_000):
            last = min(first + 10_000, count)
            file.write("".join("%0*d\n" % (RECORD_BYTES, number) for number in range(first, last)))


class Session:
    """One broker that was just started, and what it is put through."""

    def __init__(self, clients, counts, file):
        self.clients = clients
        self.broker = clients.broker
        self.counts = counts
        self.file = pathlib.Path(file)
        self.filled = None

    @contextlib.contextmanager
    def use_of_broker(self, result, name, records):
        """Adds of what happens inside: the rate, and per million records the CPU seconds of broker and client."""
        cpu, client, begin = self.broker.cpu_s(), machine.children_cpu_s(), time.monotonic()
        yield
        result[name + "_rate"] = records / (time.monotonic() - begin)
        result[name + "_cpu_s"] = (self.broker.cpu_s() - cpu) / records * MILLION
        result[name + "_client_cpu_s"] = (machine.children_cpu_s() - client) / records * MILLION

    def idle(self):
        time.sleep(SETTLE_S)
        return {"idle_rss_bytes": self.broker.rss_bytes()}

    def startup(self):
        empty = self.clients.bench_startup("--runs", STARTS)
        many = self.clients.bench_startup("--runs", STARTS, "--partitions", MANY_PARTITIONS)
        return {"empty_s": median_start_s(empty), "many_s": median_start_s(many)}

    def produce(self):
        result = {}
        self.clients.create_topic("warmup", PARTITIONS)
        self.clients.kcat_produce("warmup", self.file, self.counts.kcat_warmup)
        self.clients.create_topic("records", PARTITIONS)
        with self.use_of_broker(result, "kcat", self.counts.kcat):
            self.clients.kcat_produce("records", self.file, self.counts.kcat)
        self.filled = "records"
        return result

    def filled_topic(self):
        if self.filled is None:
            self.produce()
        return self.filled

    def fetch(self):
        result = {}
        topic = self.filled_topic()
        self.clients.kcat_fetch(topic)
        with self.use_of_broker(result, "kcat", self.counts.kcat):
            expect(self.clients.kcat_fetch(topic), self.counts.kcat)
        return result

    def share(self):
        result = {}
        topic = self.filled_topic()
        for group, records in (("warmup", self.counts.share_warmup), ("share", self.counts.share)):
            self.clients.share_from_earliest(group)
            with self.use_of_broker(result, "java", records):
                java = self.clients.share_consumer_performance(topic, group, records)
        result["java_rate"] = java["rate"]  # without the start of a JVM
        bench = self.clients.bench("share", *self.bench_counts(), *four_of_each())
        result["bench_rate"] = bench["per_second"]
        result["bench_cpu_s"] = bench["broker"]["cpu_s_per_million"]
        return result

    def transactions(self):
        self.clients.create_topic("transactions", 1)
        java = self.clients.transaction_loop("transactions", self.counts.transactions_warmup,
                                             self.counts.transactions, RECORD_BYTES)
        return {"java_" + name: value for name, value in java.items()}

    def e2e(self):
        self.clients.create_topic("end-to-end", 1)
        self.clients.end_to_end("end-to-end", self.counts.singles_warmup, RECORD_BYTES)
        java = self.clients.end_to_end("end-to-end", self.counts.singles, RECORD_BYTES)
        bench = self.clients.bench("e2e", "--warmup", self.counts.singles_warmup, "--records", self.counts.singles)
        receipt = bench["latencies"]["send to receipt"]
        return {"java_p50_ms": java["p50_ms"], "java_p99_ms": java["p99_ms"],
                "bench_p50_ms": receipt["p50_ms"], "bench_p99_ms": receipt["p99_ms"]}

    def share_txn(self):
        if self.broker.name != "ackord":
            return {}  # Apache Kafka has no such thing
        bench = self.clients.bench("share-txn", *self.bench_counts(), *four_of_each())
        return {"rate": bench["per_second"], "end_p50_ms": bench["latencies"]["EndTxn"]["p50_ms"],
                "end_p99_ms": bench["latencies"]["EndTxn"]["p99_ms"],
                "final_p99_ms": bench["latencies"]["poll to final"]["p99_ms"],
                "cpu_s": bench["broker"]["cpu_s_per_million"]}

    def stock(self):
        result = {}
        self.clients.create_topic("stock", PARTITIONS)
        with self.use_of_broker(result, "produce", self.counts.stock_warmup + self.counts.stock):
            java = self.clients.producer_performance("stock", self.counts.stock_warmup, self.counts.stock,
                                                     RECORD_BYTES)
        result.update({"produce_" + name: value for name, value in java.items()})
        topic = self.filled_topic()
        for _ in ("warm-up", "measured"):
            with self.use_of_broker(result, "fetch", self.counts.kcat):
                java = self.clients.consumer_performance(topic, self.counts.kcat)
        result["fetch_rate"] = java["rate"]
        return result

    def bench(self):
        result = {}
        for work in ("produce", "fetch"):
            bench = self.clients.bench(work, *self.bench_counts(), *four_of_each())
            result[work + "_rate"] = bench["per_second"]
            result[work + "_cpu_s"] = bench["broker"]["cpu_s_per_million"]
        bench = self.clients.bench("txn", "--warmup", self.counts.transactions_warmup, "--records",
                                   self.counts.transactions)
        result["txn_rate"] = bench["per_second"]
        result["txn_p99_ms"] = bench["latencies"]["produce to end"]["p99_ms"]
        return result

    def loaded(self):
        return {"loaded_rss_bytes": self.broker.rss_bytes()}

    def bench_counts(self):
        return "--warmup", self.counts.bench_warmup, "--records", self.counts.bench


# In the order in which they are done. `startup` comes before them, `memory` is looked at before and after them.
WORKS = {
    "produce": Session.produce,
    "fetch": Session.fetch,
    "share": Session.share,
    "transactions": Session.transactions,
    "e2e": Session.e2e,
    "share-txn": Session.share_txn,
    "stock": Session.stock,
    "bench": Session.bench,
}
MEMORY = "memory"
# What waits for single answers, so that the disk decides: done with and without fsync, on either broker.
WAITING = frozenset({"transactions", "e2e", "share-txn"})


def four_of_each():
    return "--partitions", PARTITIONS, "--connections", PARTITIONS


def median_start_s(report):
    return report["latencies"]["exec to answer"]["p50_ms"] / 1000


def expect(records, wanted):
    if records != wanted:
        raise ClientError("%d records were read, not %d" % (records, wanted))


def do_round(session, wanted, say):
    """Does the wanted works on a broker that is started for it. Answers {"work.number": value}."""
    result = {}

    def add(name, numbers):
        result.update({"%s.%s" % (name, key): value for key, value in numbers.items()})
        say(name, numbers)

    if "startup" in wanted:  # starts brokers of its own
        add("startup", session.startup())
    broker = session.broker
    try:
        broker.start()
        add("disk", {"fdatasync_ms": machine.fdatasync_ms(broker.directory)})
        add(MEMORY, session.idle())
        for name, work in WORKS.items():
            if name in wanted:
                add(name, work(session))
        if wanted.issuperset(WORKS):
            add(MEMORY, session.loaded())
    finally:
        broker.stop()
    return result
