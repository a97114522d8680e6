#!/usr/bin/env python3
"""Runs everything at the smallest sizes: all results right, report complete.

    smoke.py HETGPU_BENCH DEVICE
"""

import json
import pathlib
import subprocess
import sys
import tempfile

REPORT = pathlib.Path(__file__).resolve().parent.parent / "report"


def check(condition, message):
    if not condition:
        sys.exit(f"smoke.py: {message}")


def check_rows(report):
    """hetGPU did every row; nobody's result was wrong; who is absent says
    why."""
    check(len(report["rows"]) > 25, "rows are missing")
    on_gpu = report["devices"][0]["name"] == "cuda"
    check(on_gpu == any(row["group"] == "move" for row in report["rows"]),
          "rows of moves")
    for row in report["rows"]:
        for series in row["series"]:
            where = f"{row['name']}, {series['by']}"
            check(series["status"] in ("ok", "unavailable"),
                  f"{where}: {series.get('reason')}")
            if series["status"] == "unavailable":
                check(series["reason"], f"{where}: absent without a reason")
            else:
                check(series["median_s"] > 0, f"{where}: no time")
        ours = "hetgpu (unified)" if row["group"] == "move" else "hetgpu"
        check(any(series["by"] == ours and series["status"] == "ok"
                  for series in row["series"]),
              f"{row['name']}: hetGPU did not run it")


def main():
    runner, device = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        result = folder / "result.json"
        subprocess.run([runner, "--device", device, "--size", "tiny",
                        "--repetitions", "2", "--unified", "--json", result],
                       check=True)
        report = json.loads(result.read_text())
        check_rows(report)
        subprocess.run([sys.executable, REPORT, result,
                        "--markdown", folder / "report.md",
                        "--json", folder / "report.json",
                        "--svg", folder / "plots",
                        "--html", folder / "report.html"], check=True)
        text = (folder / "report.md").read_text()
        page = (folder / "report.html").read_text()
        for row in report["rows"]:
            check(row["name"] in text, f"{row['name']} is not in the table")
            check(row["name"] in page, f"{row['name']} is not in the page")
        check((folder / "plots" / f"{device}_launches.svg").exists(), "no plots")
        check(json.loads((folder / "report.json").read_text()) == report,
              "the report changed the figures")
        unknown = subprocess.run([runner, "--device", "toaster"],
                                 capture_output=True, text=True)
        check(unknown.returncode == 1 and "toaster" in unknown.stderr,
              "an unknown device is not refused by name")


main()
