#!/usr/bin/env python3
"""Tests of bench/report."""

import copy
import json
import pathlib
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent /
                       "report"))

import page  # noqa: E402
import plots  # noqa: E402
import results  # noqa: E402
import tables  # noqa: E402

MACHINE = {"cpu": "a CPU", "cores": "2", "memory_gib": "8", "system": "Linux",
           "kernel": "Linux 6", "architecture": "x86_64"}


def series(by, seconds, **more):
    return {"by": by, "status": "ok", "median_s": seconds, "min_s": seconds,
            "max_s": seconds, "samples_s": [seconds] * 3,
            "gb_per_s": 1 / seconds, **more}


REPORT = {
    "format": "hetgpu-bench 1", "machine": MACHINE, "size": "default",
    "repetitions": 3,
    "devices": [{"name": "cpu", "executors": {"hetgpu": "1 & 2"},
                 "ceilings": {"copy_gb_per_s": 10.0,
                              "f32_gop_per_s": 20.0}}],
    "rows": [
        {"name": "vecadd", "group": "workload", "device": "cpu",
         "problem": "n <floats>", "bytes": 1e9, "operations": 0,
         "unit": "none",
         "series": [series("hetgpu", 0.5, ceiling="copy",
                           share_of_ceiling=0.2),
                    series("openmp", 0.25, ceiling="copy",
                           share_of_ceiling=0.4),
                    {"by": "nvcc", "status": "unavailable",
                     "reason": "no nvcc was found"}],
         "ratios": [{"ours": "hetgpu", "twin": "openmp", "speed": 0.5}]},
        {"name": "saxpy", "group": "workload", "device": "cpu",
         "problem": "n floats", "bytes": 1e9, "operations": 0, "unit": "none",
         "series": [series("hetgpu", 0.125),
                    series("openmp", 0.25),
                    {"by": "nvcc", "status": "error",
                     "reason": "wrong result: y[3]"}],
         "ratios": [{"ours": "hetgpu", "twin": "openmp", "speed": 2.0}]},
    ],
}


class ReportTest(unittest.TestCase):
    def load(self, *reports):
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for i, report in enumerate(reports):
                path = pathlib.Path(folder) / f"{i}.json"
                path.write_text(report if isinstance(report, str)
                                else json.dumps(report))
                paths.append(str(path))
            return results.load(paths)

    def test_table_has_times_ratios_and_their_mean(self):
        text = tables.markdown(REPORT)
        self.assertIn("| vecadd | 500 ms, 2.0 GB/s, 20 % of copy |", text)
        self.assertIn("| 0.500 |", text)
        self.assertIn("**1.000**", text)  # of 0.5 and 2
        self.assertIn("ceilings: copy 10 GB/s, f32 20 GFLOP/s", text)

    def test_table_tells_who_is_absent_or_wrong(self):
        text = tables.markdown(REPORT)
        self.assertIn("* nvcc, all rows: unavailable: no nvcc was found", text)
        self.assertIn("* nvcc, saxpy: error: wrong result: y[3]", text)

    def test_plots_are_xml_and_draw_the_ceiling(self):
        drawn = {name: svg for name, _, svg in plots.all_plots(REPORT)}
        self.assertEqual(sorted(drawn), ["cpu_ratios", "cpu_shares"])
        for svg in drawn.values():
            xml.etree.ElementTree.fromstring(svg)
        self.assertIn(">ceiling<", drawn["cpu_shares"])
        self.assertIn(">0.500<", drawn["cpu_ratios"])

    def test_page_escapes(self):
        text = page.html_page(REPORT)
        self.assertIn("1 &amp; 2", text)
        self.assertIn("n &lt;floats&gt;", text)
        self.assertIn("<td>vecadd</td>", text)

    def test_later_files_replace_rows(self):
        other = copy.deepcopy(REPORT)
        other["rows"] = [copy.deepcopy(REPORT["rows"][1])]
        other["rows"][0]["problem"] = "more floats"
        merged = self.load(REPORT, other)
        self.assertEqual([row["name"] for row in merged["rows"]],
                         ["vecadd", "saxpy"])
        self.assertEqual(merged["rows"][1]["problem"], "more floats")

    def test_other_machines_are_not_mixed(self):
        other = copy.deepcopy(REPORT)
        other["machine"]["cpu"] = "another CPU"
        with self.assertRaisesRegex(results.FormatError, "another machine"):
            self.load(REPORT, other)

    def test_other_files_are_refused(self):
        for text in ("{", "[]", '{"format": "x"}'):
            with self.assertRaises(results.FormatError):
                self.load(text)

    def test_copies_are_shares_of_the_best_in_their_direction(self):
        rows = [{"name": name, "group": "copy", "device": "cpu", "problem": "",
                 "bytes": 1, "operations": 0, "unit": "none", "ratios": [],
                 "series": [series("hetgpu", seconds)]}
                for name, seconds in (("copy_in_1MiB", 0.5),
                                      ("copy_in_pinned_1MiB", 0.125),
                                      ("copy_out_1MiB", 0.25))]
        text = tables.markdown({**REPORT, "rows": rows})
        self.assertIn("| copy_in_1MiB | 500 ms, 2.0 GB/s, 25 % of link |", text)
        self.assertIn("| copy_out_1MiB | 250 ms, 4.0 GB/s, 100 % of link |",
                      text)

    def test_times_have_units(self):
        self.assertEqual(results.time_text(5e-9), "5 ns")
        self.assertEqual(results.time_text(1.5e-6), "1.5 µs")
        self.assertEqual(results.time_text(0.25), "250 ms")
        self.assertEqual(results.time_text(2), "2 s")


unittest.main()
