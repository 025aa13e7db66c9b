"""The measured part of docs/PERFORMANCE.md, from the results of a run (the file that --json names)."""
import re

from compare import rows, works
from compare.brokers import ROOT

PAGE = ROOT / "docs" / "PERFORMANCE.md"
BEGIN, END = "<!-- measured by tools/compare-kafka -->", "<!-- measured: end -->"


class PageError(Exception):
    pass


def measured(results):
    """The text between the markers."""
    done = results["rounds"]
    return "\n".join([*header(results), "", *goals(done), "", "Beside that:", "", *more(done), "",
                      "What waits for the disk, with and without fsync before an answer (Kafka: "
                      "`log.flush.interval.messages=1`; Ackord: `log.flush.policy=os`):", "", *promises(done)])


def header(results):
    machine, versions = results["machine"], results["versions"]
    lines = ["Measured on %s, medians of %d %s each (least–most in brackets).%s" % (
        results["date"], len(results["rounds"]), "round" if len(results["rounds"]) == 1 else "rounds",
        "" if results["scale"] == 1 else " **Only %g of the usual amount of work.**" % results["scale"]), ""]
    lines += ["- %s: %s" % (name, value) for name, value in machine.items()]
    lines += ["- %s: %s" % (name, value) for name, value in versions.items()]
    lines += ["- set for %s: `%s`" % (name, " ".join(given)) for name, given in results["settings"].items() if given]
    return lines


def cell(done, broker, row):
    value = rows.median(done, broker, row.metric_of(broker))
    if value is None:
        return "–"
    text = rows.number(value, row.unit)
    if len(done) == 1:
        return text
    least, most = (re.sub(r" ?[^\d]+$", "", rows.number(one, row.unit))
                   for one in rows.spread(done, broker, row.metric_of(broker)))
    return "%s (%s–%s)" % (text, least, most)


def ratio(done, row):
    kafka, ackord = (rows.median(done, broker, row.metric_of(broker)) for broker in ("kafka", "ackord"))
    if row.bound_metric and ackord is not None:
        return "%s fdatasyncs" % rows.significant(ackord / rows.median(done, "ackord", row.bound_metric))
    return rows.factor(ackord / kafka) if kafka and ackord else "–"


def goals(done):
    lines = ["| work | Kafka | Ackord | Ackord ÷ Kafka | target | |", "|---|---|---|---|---|---|"]
    for row in rows.GOALS:
        judged = rows.judged(row, done)
        verdict = "–" if judged is None else "reached" if judged[1] else "**not reached**"
        lines.append("| %s | %s | %s | %s | %s | %s |" % (
            row.title, cell(done, "kafka", row), cell(done, "ackord", row), ratio(done, row), rows.target_text(row),
            verdict))
    return lines


def more(done):
    lines = ["| work | Kafka | Ackord | Ackord ÷ Kafka |", "|---|---|---|---|"]
    for row in rows.MORE:
        lines.append("| %s | %s | %s | %s |" % (row.title, cell(done, "kafka", row), cell(done, "ackord", row),
                                               ratio(done, row)))
    return lines


def promises(done):
    lines = ["| work | Kafka, no fsync | Ackord, no fsync | Kafka, fsync | Ackord, fsync |", "|---|---|---|---|---|"]
    for row in rows.GOALS:
        if row.work in works.WAITING:
            cells = [cell(done, key, row) for key in ("kafka", "ackord_no_fsync", "kafka_fsync", "ackord")]
            lines.append("| %s | %s |" % (row.title, " | ".join(cells)))
    return lines


def with_results(text, results):
    """The page with its measured part replaced."""
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        raise PageError("%s has no place for the results" % PAGE)
    before, rest = text.split(BEGIN)
    return "%s%s\n%s\n%s%s" % (before, BEGIN, measured(results), END, rest.split(END)[1])


def write(results):
    PAGE.write_text(with_results(PAGE.read_text(encoding="utf-8"), results), encoding="utf-8")
