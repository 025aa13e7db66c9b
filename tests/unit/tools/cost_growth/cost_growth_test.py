"""tools/cost-growth: what is made of the numbers. Nothing is measured here."""
import csv
import importlib.machinery
import importlib.util
import pathlib
import tempfile
import unittest

TOOL = str(pathlib.Path(__file__).resolve().parents[4] / "tools" / "cost-growth")
LOADER = importlib.machinery.SourceFileLoader("cost_growth", TOOL)
cost_growth = importlib.util.module_from_spec(importlib.util.spec_from_loader("cost_growth", LOADER))
LOADER.exec_module(cost_growth)


def rows(*points, dimension="partitions", work="produce"):
    return [{"dimension": dimension, "size": size, "work": work, "records": 1, "cpu_us_per_record": cpu,
             "rss_mib": rss, "idle_cpu_percent": 0.0} for size, cpu, rss in points]


class CostGrowth(unittest.TestCase):
    def test_a_rise_is_counted_from_the_least_at_a_smaller_size(self):
        measured = rows((1, 2.0, 1), (10, 1.0, 1), (100, 1.2, 1)) + rows((10, 9.0, 1), work="share")
        cost_growth.add_rises(measured)
        self.assertEqual([round(row["rise"], 2) for row in measured], [1.0, 0.5, 1.2, 1.0])

    def test_memory_is_the_slope_of_a_line(self):
        measured = rows(*((size, 1.0, 10 + size * 3000 / cost_growth.MIB) for size in (1, 10, 1000)))
        self.assertEqual({thing: round(size) for thing, size in cost_growth.constants(measured).items()},
                         {"partition": 3000})

    def test_one_size_is_no_line(self):
        self.assertEqual(cost_growth.constants(rows((1, 1.0, 1))), {})

    def test_the_csv_has_every_row(self):
        measured = rows((1, 1 / 3, 1), (10, 1.0, 2))
        cost_growth.add_rises(measured)
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "new" / "out.csv"
            cost_growth.write_csv(path, measured)
            with open(path, encoding="utf-8", newline="") as written:
                read = list(csv.DictReader(written))
        self.assertEqual([row["size"] for row in read], ["1", "10"])
        self.assertEqual(read[0]["cpu_us_per_record"], "0.3333")

    def test_what_was_not_measured_stays_recorded(self):
        old = rows((1, 1.0, 1), dimension="log") + rows((1, 5.0, 1))
        cost_growth.add_rises(old)
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "out.csv"
            self.assertEqual(cost_growth.read_csv(path), [])
            cost_growth.write_csv(path, old)
            recorded = cost_growth.read_csv(path)
        self.assertEqual(recorded, old)
        now = rows((1, 2.0, 1))
        self.assertEqual([(row["dimension"], row["cpu_us_per_record"])
                          for row in cost_growth.with_recorded(now, recorded)], [("partitions", 2.0), ("log", 1.0)])

    def test_the_table_says_the_highest_rise_and_the_constant(self):
        measured = rows((1, 1.0, 1), (1000, 1.25, 4)) + rows((1, 2.0, 1), (1000, 1.0, 4), work="share")
        cost_growth.add_rises(measured)
        line = cost_growth.table(measured, {"partition": 3149.4}, "CPU: one").splitlines()[-1]
        self.assertEqual(line, "| partitions | 1 – 1,000 | × 1.25 (produce, 1,000) | 3,149 bytes per partition "
                               "| 0.00 % of a core |")

    def test_the_page_has_a_place_for_the_table(self):
        text = cost_growth.PAGE.read_text(encoding="utf-8")
        self.assertIn("new table", cost_growth.with_table(text, "new table"))
        with self.assertRaises(cost_growth.Failure):
            cost_growth.with_table("nothing", "new table")

    def test_a_log_that_the_disk_has_no_room_for_is_skipped(self):
        self.assertIn("are free", cost_growth.DIMENSIONS["log"].skipped(1 << 40, tempfile.gettempdir()))
        self.assertIsNone(cost_growth.DIMENSIONS["log"].skipped(0, tempfile.gettempdir()))


if __name__ == "__main__":
    unittest.main()
