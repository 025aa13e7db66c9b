"""tools/compat-table: what is made of the suites' output. No suite runs here."""
import importlib.machinery
import importlib.util
import pathlib
import tempfile
import unittest

TOOL = str(pathlib.Path(__file__).resolve().parents[4] / "tools" / "compat-table")
LOADER = importlib.machinery.SourceFileLoader("compat_table", TOOL)
compat_table = importlib.util.module_from_spec(importlib.util.spec_from_loader("compat_table", LOADER))
LOADER.exec_module(compat_table)


def suite(*lines):
    return compat_table.Suite("some", "\n".join(lines))


class CompatTable(unittest.TestCase):
    def test_output_is_read(self):
        read = suite("client some 1.2.3", "a warning", "passed txn.abort", "failed txn.commit: not in time: it",
                     "skipped share.consume: no share consumer", "1 passed, 1 failed")
        self.assertEqual(read.title, "some 1.2.3")
        self.assertEqual(read.outcomes, {"txn.abort": "passed", "txn.commit": "failed", "share.consume": "skipped"})
        self.assertEqual(read.reasons["txn.commit"], "not in time: it")

    def test_a_check_of_a_part_belongs_to_the_row(self):
        self.assertEqual(compat_table.row_of("consume.group.classic.static"), "consume.group.classic")
        self.assertEqual(compat_table.row_of("consume.group.classical"), "consume.group.classical")

    def test_only_what_passes_on_kafka_counts(self):
        kafka = suite("passed txn.abort", "failed txn.abort.fenced: x", "failed metadata: y", "skipped produce.nulls: z")
        ackord = suite("passed txn.abort", "failed txn.abort.fenced: x", "passed metadata", "passed produce.nulls")
        self.assertEqual([compat_table.cell(row, kafka, ackord) for row in ("txn.abort", "metadata", "produce.nulls")],
                         ["✓", "fails on Kafka", "–"])

    def test_what_fails_on_ackord_alone_is_said(self):
        kafka = suite("passed txn.abort", "passed txn.abort.fenced", "passed metadata", "passed produce.nulls")
        ackord = suite("passed txn.abort", "failed txn.abort.fenced: not fenced", "failed metadata: gone")
        self.assertEqual([compat_table.cell(row, kafka, ackord) for row in ("txn.abort", "metadata", "produce.nulls")],
                         ["**1 of 2**", "**✗**", "not run"])
        text = compat_table.table({"some": kafka}, {"some": ackord})
        self.assertIn("- some, `txn.abort.fenced`: not fenced", text)
        self.assertIn("- some, `produce.nulls`: not run", text)
        self.assertIn("| checks that pass | | 1 of 4 |", text)

    def test_rows_are_in_order_and_a_client_without_the_feature_has_a_dash(self):
        one = suite("client one 1", "passed txn.abort", "passed metadata", "passed zebra")
        two = suite("client two 2", "passed metadata")
        text = compat_table.table({"one": one, "two": two}, {"one": one, "two": two})
        self.assertEqual([line.split("|")[1].strip() for line in text.splitlines()[2:]],
                         ["`metadata`", "`txn.abort`", "`zebra`", "checks that pass"])
        self.assertIn("| feature | | one 1 | two 2 |", text)
        self.assertIn("| ✓ | – |", text)

    def test_a_client_that_did_not_run_on_ackord_is_no_success(self):
        one = suite("client one 1", "passed metadata")
        self.assertIn("| not run |", compat_table.table({"one": one}, {}))

    def test_clients_that_are_not_run_keep_their_columns(self):
        kafka = {"a": suite("client a 1", "passed metadata", "passed zebra"), "b": suite("client @b/c 1", "passed metadata"),
                 "d": suite("client d 1", "passed txn.abort", "passed produce.nulls")}
        ackord = kafka | {"d": suite("client d 1", "passed txn.abort", "failed produce.nulls: gone")}
        old = compat_table.table(kafka, ackord)
        self.assertEqual(compat_table.table({}, {}, old), old)
        self.assertEqual(compat_table.table({"b": kafka["b"]}, ackord, old), old)
        newer = suite("client @b/c 2", "passed metadata", "passed share.consume")
        text = compat_table.table({"b": newer}, {"b": newer}, old)
        self.assertEqual(text.splitlines()[0], "| feature | | a 1 | @b/c 2 | d 1 |")
        self.assertIn("| `share.consume` | share consumer | – | ✓ | – |", text)
        self.assertIn("| `zebra` |  | ✓ | – | – |", text)
        self.assertIn("| checks that pass | | 2 of 2 | 2 of 2 | 1 of 2 |", text)
        self.assertIn("- d 1, `produce.nulls`: gone", text)
        fixed = compat_table.table({"d": kafka["d"]}, kafka, old)
        self.assertNotIn("gone", fixed)
        self.assertNotIn("1 of 2", fixed)

    def test_the_table_goes_between_the_marks(self):
        with tempfile.TemporaryDirectory() as directory:
            document = pathlib.Path(directory) / "x.md"
            document.write_text("a\n%s\nold\n%s\nb\n" % (compat_table.BEGIN, compat_table.END), encoding="utf-8")
            compat_table.write(document, r"new \1")
            self.assertEqual(document.read_text(encoding="utf-8"),
                             "a\n%s\nnew \\1\n%s\nb\n" % (compat_table.BEGIN, compat_table.END))
            document.write_text("nothing", encoding="utf-8")
            with self.assertRaises(SystemExit):
                compat_table.write(document, "new")


if __name__ == "__main__":
    unittest.main()
