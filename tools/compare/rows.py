"""The rows of docs/PERFORMANCE.md: what Ackord must reach (the first table), and what is good to know beside it."""
import dataclasses
import statistics

SEVERAL = 10  # a rate from here on is written without decimals


@dataclasses.dataclass(frozen=True)
class Row:
    """One number of both brokers. `metric` is the key in a round's results; `work` is the name for --only."""
    work: str
    title: str
    metric: str
    unit: str
    higher_is_better: bool = False
    target: float | None = None  # a bound on Ackord's median divided by Kafka's
    bound: float | None = None  # a bound on Ackord's median itself
    bound_metric: str | None = None  # the bound is so many times the median of this, measured beside Ackord
    kafka_metric: str | None = None  # Kafka's number, where it is another one

    def metric_of(self, broker):
        return self.kafka_metric if self.kafka_metric and broker.startswith("kafka") else self.metric


START = "from exec to the first ApiVersions answer, "
SHARE_TXN = "share-txn (poll 500, produce 500, stage, commit): "

GOALS = (
    Row("startup", START + "empty directory", "startup.empty_s", "s", target=1 / 40),
    Row("startup", START + "2,000 partitions", "startup.many_s", "s", target=1 / 10),
    Row("memory", "RSS idle", "memory.idle_rss_bytes", "MB", target=1 / 15),
    Row("memory", "RSS after all the work below", "memory.loaded_rss_bytes", "MB", target=1 / 8),
    Row("produce", "broker CPU per million 100-byte records, produce acks=all, librdkafka (kcat)",
        "produce.kcat_cpu_s", "s", target=1 / 3),
    Row("fetch", "broker CPU per million, consumer fetch (kcat)", "fetch.kcat_cpu_s", "s", target=1 / 2),
    Row("share", "broker CPU per million, share fetch + acknowledge (ShareConsumerPerformance)",
        "share.java_cpu_s", "s", target=1 / 10),
    Row("share", "share consumption, ShareConsumerPerformance", "share.java_rate", "/s", True, target=2),
    Row("share", "share consumption: `ackord-bench share` on Ackord, ShareConsumerPerformance on Kafka",
        "share.bench_rate", "/s", True, target=10, kafka_metric="share.java_rate"),
    Row("transactions", "transactions of one record, Java producer: rate", "transactions.java_rate", "/s", True,
        target=6),
    Row("transactions", "transactions of one record, Java producer: p50", "transactions.java_p50_ms", "ms"),
    Row("transactions", "transactions of one record, Java producer: p99", "transactions.java_p99_ms", "ms",
        target=1 / 5),
    Row("e2e", "end-to-end, acks=all, 1 record at a time, EndToEndLatency (whole ms): p50", "e2e.java_p50_ms", "ms",
        target=1),
    Row("e2e", "the same: p99", "e2e.java_p99_ms", "ms", target=1 / 4),
    Row("e2e", "end-to-end, acks=all, 1 record at a time, `ackord-bench e2e`: p50", "e2e.bench_p50_ms", "ms",
        target=1),
    Row("e2e", "the same: p99", "e2e.bench_p99_ms", "ms", target=1 / 4),
    Row("share-txn", SHARE_TXN + "records", "share-txn.rate", "/s", True, bound=300_000),
    Row("share-txn", SHARE_TXN + "EndTxn request → answer p99", "share-txn.end_p99_ms", "ms", bound=4,
        bound_metric="disk.fdatasync_ms"),
    Row("share-txn", SHARE_TXN + "poll → record final p99", "share-txn.final_p99_ms", "ms"),
)

MORE = (
    Row("produce", "produce acks=all, kcat: rate", "produce.kcat_rate", "/s", True),
    Row("fetch", "fetch, kcat: rate", "fetch.kcat_rate", "/s", True),
    Row("share", "client CPU per million, ShareConsumerPerformance", "share.java_client_cpu_s", "s"),
    Row("stock", "produce acks=all, ProducerPerformance: rate", "stock.produce_rate", "/s", True),
    Row("stock", "produce acks=all, ProducerPerformance: p99", "stock.produce_p99_ms", "ms"),
    Row("stock", "broker CPU per million, ProducerPerformance", "stock.produce_cpu_s", "s"),
    Row("stock", "fetch, ConsumerPerformance: rate", "stock.fetch_rate", "/s", True),
    Row("stock", "broker CPU per million, ConsumerPerformance", "stock.fetch_cpu_s", "s"),
    Row("bench", "produce acks=all, `ackord-bench produce`: rate", "bench.produce_rate", "/s", True),
    Row("bench", "broker CPU per million, `ackord-bench produce`", "bench.produce_cpu_s", "s"),
    Row("bench", "fetch, `ackord-bench fetch`: rate", "bench.fetch_rate", "/s", True),
    Row("bench", "broker CPU per million, `ackord-bench fetch`", "bench.fetch_cpu_s", "s"),
    Row("share", "share consumption, `ackord-bench share` on both", "share.bench_rate", "/s", True),
    Row("share", "broker CPU per million, `ackord-bench share`", "share.bench_cpu_s", "s"),
    Row("bench", "transactions of one record, `ackord-bench txn`: rate", "bench.txn_rate", "/s", True),
    Row("bench", "transactions of one record, `ackord-bench txn`: p99", "bench.txn_p99_ms", "ms"),
    Row("share-txn", "broker CPU per million, share-txn", "share-txn.cpu_s", "s"),
    Row("share-txn", "EndTxn request → answer p50, share-txn", "share-txn.end_p50_ms", "ms"),
    Row("disk", "the disk before the work: append 4 KiB + fdatasync, median", "disk.fdatasync_ms", "ms"),
)


def values_of(rounds, broker, metric):
    return [one[broker][metric] for one in rounds if metric in one.get(broker, {})]


def median(rounds, broker, metric):
    """None where no round has it."""
    values = values_of(rounds, broker, metric)
    return statistics.median(values) if values else None


def spread(rounds, broker, metric):
    """The least and the most of all rounds."""
    values = values_of(rounds, broker, metric)
    return (min(values), max(values)) if values else None


def judged(row, rounds):
    """(target as text, reached?), or None where nothing is asked of the row or nothing was measured."""
    kafka, ackord = (median(rounds, broker, row.metric_of(broker)) for broker in ("kafka", "ackord"))
    if row.target is not None and kafka is not None and ackord is not None:
        bound = row.target * kafka  # no quotient: a tool that rounds may say 0
        return target_text(row), ackord >= bound if row.higher_is_better else ackord <= bound
    if row.bound is not None and ackord is not None:
        bound = row.bound
        if row.bound_metric:
            bound *= median(rounds, "ackord", row.bound_metric)
        return target_text(row), ackord >= bound if row.higher_is_better else ackord <= bound
    return None


def target_text(row):
    sign = "≥" if row.higher_is_better else "≤"
    if row.target is not None:
        return "%s %s" % (sign, factor(row.target))
    if row.bound_metric:
        return "%s %g fdatasyncs" % (sign, row.bound)
    if row.bound is not None:
        return "%s %s" % (sign, number(row.bound, row.unit))
    return "stated"


def factor(ratio):
    """1/12.5, 3×."""
    if ratio < 0.995:  # what rounds to 1 is 1×
        return "1/" + significant(1 / ratio)
    return significant(ratio) + "×"


def significant(value):
    """Three digits, two decimals at most, no zeros behind the point."""
    decimals = 0 if value >= 100 else 1 if value >= 10 else 2
    text = "%.*f" % (decimals, value)
    return text.rstrip("0").rstrip(".") if decimals else text


def number(value, unit):
    if unit == "MB":
        return "%s MB" % significant(value / 1e6)
    if unit == "/s":
        return ("%s/s" % format(round(value), ",")) if value >= SEVERAL else "%.2f/s" % value
    return "%s %s" % ("%.3f" % value if 0 < value < 1 else significant(value), unit)
