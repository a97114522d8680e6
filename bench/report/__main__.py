#!/usr/bin/env python3
"""Turns the JSON of hetgpu-bench into tables, plots and merged JSON.

    python3 bench/report RESULT.json [RESULT.json ...]
        [--markdown FILE|-] [--json FILE] [--svg FOLDER] [--html FILE]

Without options the Markdown goes to the terminal. Results of several runs are
put together; rows of a later file replace those of the same name and device.
"""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import page  # noqa: E402
import plots  # noqa: E402
import results  # noqa: E402
import tables  # noqa: E402


def parse_arguments():
    parser = argparse.ArgumentParser(
        prog="bench/report", description=__doc__.split("\n\n")[0])
    parser.add_argument("results", nargs="+", metavar="RESULT.json",
                        help="what hetgpu-bench --json wrote")
    parser.add_argument("--markdown", metavar="FILE",
                        help="tables as Markdown; - is the terminal")
    parser.add_argument("--json", metavar="FILE",
                        help="all results in one JSON file")
    parser.add_argument("--svg", metavar="FOLDER",
                        help="one plot per device and kind of row")
    parser.add_argument("--html", metavar="FILE",
                        help="tables and plots in one page")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    try:
        report = results.load(arguments.results)
    except (OSError, results.FormatError) as error:
        sys.exit(f"bench/report: {error}")
    wanted = (arguments.json, arguments.svg, arguments.html)
    if arguments.markdown == "-" or not (arguments.markdown or any(wanted)):
        sys.stdout.write(tables.markdown(report))
    elif arguments.markdown:
        pathlib.Path(arguments.markdown).write_text(tables.markdown(report))
    if arguments.json:
        pathlib.Path(arguments.json).write_text(results.dump(report))
    if arguments.svg:
        folder = pathlib.Path(arguments.svg)
        folder.mkdir(parents=True, exist_ok=True)
        for name, _, svg in plots.all_plots(report):
            (folder / f"{name}.svg").write_text(svg)
    if arguments.html:
        pathlib.Path(arguments.html).write_text(page.html_page(report))


main()
