"""tools/compare: reading what the tools print, judging rows, writing the page. Nothing is measured here."""
import os
import sys
import tempfile
import unittest

from compare import clients, machine, page, rows, works


def results(rounds, scale=1):
    return {"date": "2026-01-02", "scale": scale, "machine": {"CPU": "2 × a kind"}, "versions": {"Kafka": "9.8"},
            "settings": {"kafka": [], "ackord": ["a=b"]}, "rounds": rounds}


def rounds(metric, kafka, ackord):
    return [{"kafka": {metric: left}, "ackord": {metric: right}} for left, right in zip(kafka, ackord)]


def row(**given):
    return rows.Row("work", "title", "metric", **{"unit": "s", **given})


class Reading(unittest.TestCase):
    def test_producer_performance_counts_after_the_warm_up(self):
        text = ("Warmup first 50 records. Steady state results will print after the complete test summary.\n"
                "200 records sent, 54629.882546 records/sec (5.21 MB/sec), 446.02 ms avg latency, 889.00 ms max "
                "latency, 489 ms 50th, 617 ms 95th, 654 ms 99th, 694 ms 99.9th.\n"
                "150 steady state records sent, 61881.188119 records/sec (5.90 MB/sec), 517.40 ms avg latency, 706.00 "
                "ms max latency, 522 ms 50th, 623 ms 95th, 672 ms 99th, 694 ms 99.9th.\n")
        self.assertEqual(clients.read_producer_performance(text),
                         {"rate": 61881.188119, "p50_ms": 522, "p99_ms": 672})

    def test_table(self):
        text = ("[2026] WARN (a.logger)\n"
                "start.time, end.time, data.consumed.in.MB, MB.sec, nMsg.sec, data.consumed.in.nMsg, fetch.time.ms\n"
                "2026-11-30 11:25:38:204, 2026-11-30 11:25:48:294, 19.3631, 1.9190, 20325.8672, 205088, 10090\n")
        self.assertEqual(clients.read_table(text)["nMsg.sec"], "20325.8672")
        self.assertEqual(clients.read_table(text)["fetch.time.ms"], "10090")

    def test_end_to_end(self):
        self.assertEqual(
            clients.read_end_to_end("0\t194.5\nAvg latency: 6.3866 ms\nPercentiles: 50th = 4, 99th = 28, 99.9th = 194"),
            {"p50_ms": 4, "p99_ms": 28})

    def test_transaction_loop(self):
        self.assertEqual(clients.read_transaction_loop("rate 59.726 p50 12.892 p99 49.076 max 72.440\n"),
                         {"rate": 59.726, "p50_ms": 12.892, "p99_ms": 49.076})

    def test_what_is_no_result_is_refused(self):
        for read in (clients.read_producer_performance, clients.read_table, clients.read_end_to_end,
                     clients.read_transaction_loop):
            with self.assertRaises(clients.ClientError):
                read("Exception in thread main\n")

    def test_a_command_that_fails_is_an_error_with_what_it_said(self):
        with self.assertRaisesRegex(clients.ClientError, "exit status 3\nout\nerr"):
            clients.run(["sh", "-c", "echo out; echo err >&2; exit 3"])
        self.assertEqual(clients.run(["echo", 1]), "1\n")


class Judging(unittest.TestCase):
    def test_less_is_better(self):
        self.assertEqual(rows.judged(row(target=1 / 4), rounds("metric", [8, 9, 1], [2, 2, 5])), ("≤ 1/4", True))
        self.assertEqual(rows.judged(row(target=1 / 5), rounds("metric", [8, 9, 1], [2, 2, 5])), ("≤ 1/5", False))

    def test_what_a_tool_rounds_to_nothing_is_judged_too(self):
        self.assertEqual(rows.judged(row(target=1), rounds("metric", [0], [4])), ("≤ 1×", False))
        self.assertEqual(rows.judged(row(target=1), rounds("metric", [0], [0])), ("≤ 1×", True))

    def test_more_is_better(self):
        fast = {"unit": "/s", "higher_is_better": True}
        self.assertEqual(rows.judged(row(target=2, **fast), rounds("metric", [10], [20])), ("≥ 2×", True))
        self.assertEqual(rows.judged(row(target=6, **fast), rounds("metric", [10], [59])), ("≥ 6×", False))
        self.assertEqual(rows.judged(row(bound=300, **fast), [{"kafka": {}, "ackord": {"metric": 299}}]),
                         ("≥ 300/s", False))

    def test_a_bound_of_another_metric(self):
        of_disk = row(unit="ms", bound=4, bound_metric="disk")
        for took, reached in ((7.9, True), (8.1, False)):
            done = [{"kafka": {}, "ackord": {"metric": took, "disk": 2}}]
            self.assertEqual(rows.judged(of_disk, done), ("≤ 4 fdatasyncs", reached))

    def test_kafka_by_another_tool(self):
        mixed = row(unit="/s", higher_is_better=True, target=10, kafka_metric="other")
        for rate, reached in ((99, False), (100, True)):
            done = [{"kafka": {"metric": 50, "other": 10}, "ackord": {"metric": rate, "other": 20}}]
            self.assertEqual(rows.judged(mixed, done), ("≥ 10×", reached))

    def test_without_numbers_nothing_is_judged(self):
        self.assertIsNone(rows.judged(row(target=2), [{"kafka": {}, "ackord": {"metric": 1}}]))
        self.assertIsNone(rows.judged(row(target=2), []))
        self.assertIsNone(rows.judged(row(), rounds("metric", [1], [1])))

    def test_numbers(self):
        self.assertEqual([rows.factor(one) for one in (1 / 40, 0.4, 0.999, 1, 3.456, 12.34, 123.4)],
                         ["1/40", "1/2.5", "1×", "1×", "3.46×", "12.3×", "123×"])
        self.assertEqual(rows.number(315_400_000, "MB"), "315 MB")
        self.assertEqual(rows.number(115_000.4, "/s"), "115,000/s")
        self.assertEqual(rows.number(0.0123, "s"), "0.012 s")
        self.assertEqual(rows.number(0, "ms"), "0 ms")


class Page(unittest.TestCase):
    TEXT = "before\n%s\nold\n%s\nafter\n" % (page.BEGIN, page.END)

    def test_only_the_measured_part_is_replaced(self):
        metric = "startup.empty_s"
        text = page.with_results(self.TEXT, results(rounds(metric, [3, 4, 5], [0.1, 0.05, 0.2])))
        self.assertTrue(text.startswith("before\n" + page.BEGIN))
        self.assertTrue(text.endswith(page.END + "\nafter\n"))
        self.assertNotIn("old", text)
        self.assertIn("empty directory | 4 s (3–5) | 0.100 s (0.050–0.200) | 1/40 | ≤ 1/40 | reached |", text)
        self.assertIn("| RSS idle | – | – | – | ≤ 1/15 | – |", text)
        self.assertIn("medians of 3 rounds", text)
        self.assertIn("- set for ackord: `a=b`", text)

    def test_with_and_without_fsync(self):
        done = [{key: {"e2e.java_p99_ms": value} for key, value in
                 (("kafka", 17), ("ackord_no_fsync", 1), ("kafka_fsync", 29), ("ackord", 4))}]
        self.assertIn("| the same: p99 | 17 ms | 1 ms | 29 ms | 4 ms |", page.measured(results(done)))

    def test_twice_is_as_once(self):
        given = results(rounds("share.java_rate", [100], [150]))
        once = page.with_results(self.TEXT, given)
        self.assertEqual(page.with_results(once, given), once)
        self.assertIn("| 100/s | 150/s | 1.5× | ≥ 2× | **not reached** |", once)

    def test_less_work_is_said(self):
        self.assertIn("Only 0.05 of the usual amount", page.measured(results([], 0.05)))

    def test_a_page_without_a_place_is_refused(self):
        for text in ("", page.BEGIN, page.END + page.BEGIN, self.TEXT + page.END):
            with self.assertRaises(page.PageError):
                page.with_results(text, results([]))

    def test_the_page_has_a_place(self):
        page.with_results(page.PAGE.read_text(encoding="utf-8"), results([]))

    def test_every_row_is_of_a_work_and_no_metric_comes_twice(self):
        everything = rows.GOALS + rows.MORE
        self.assertLessEqual({one.work for one in everything}, {"startup", works.MEMORY, "disk", *works.WORKS})
        self.assertEqual(len({(one.metric, one.kafka_metric) for one in everything}), len(everything))


class Machine(unittest.TestCase):
    def test_what_this_process_uses(self):
        before = machine.cpu_s(os.getpid())
        sum(range(1_000_000))
        self.assertGreater(machine.cpu_s(os.getpid()), before)
        self.assertGreater(machine.rss_bytes(os.getpid()), 1 << 20)

    def test_what_a_client_used(self):
        before = machine.children_cpu_s()
        clients.run([sys.executable, "-c", "sum(range(1_000_000))"])
        self.assertGreater(machine.children_cpu_s(), before)

    def test_fdatasync(self):
        with tempfile.TemporaryDirectory() as directory:
            self.assertGreater(machine.fdatasync_ms(directory), 0)
            self.assertEqual(os.listdir(directory), [])

    def test_records_for_kcat(self):
        with tempfile.TemporaryDirectory() as directory:
            works.write_records(directory + "/records", 10_001)
            with open(directory + "/records", encoding="ascii") as file:
                lines = file.read().splitlines()
        self.assertEqual(len(lines), 10_001)
        self.assertEqual({len(line) for line in lines}, {works.RECORD_BYTES})


if __name__ == "__main__":
    unittest.main()
