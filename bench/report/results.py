"""Reading, merging and asking the JSON of hetgpu-bench."""

import json
import math

FORMAT = "hetgpu-bench 1"
GROUPS = ("ceiling", "workload", "launch", "copy", "move", "jit")


class FormatError(Exception):
    pass


def load(paths):
    """One report of all files; rows of later files replace earlier ones."""
    merged = None
    for path in paths:
        with open(path) as file:
            try:
                report = json.load(file)
            except ValueError as error:
                raise FormatError(f"{path}: {error}") from error
        if not isinstance(report, dict) or report.get("format") != FORMAT:
            raise FormatError(f"{path}: not a result of hetgpu-bench, "
                              f"expected \"format\": \"{FORMAT}\"")
        merged = report if merged is None else merge(merged, report, path)
    return merged


def merge(first, second, path):
    if first["machine"] != second["machine"]:
        raise FormatError(f"{path}: measured on another machine than the "
                          "files before it")
    rows = {(row["device"], row["name"]): row for row in first["rows"]}
    rows.update({(row["device"], row["name"]): row for row in second["rows"]})
    devices = {device["name"]: device for device in first["devices"]}
    devices.update({device["name"]: device for device in second["devices"]})
    return {**first, "rows": list(rows.values()),
            "devices": list(devices.values())}


def dump(report):
    return json.dumps(report, indent=1) + "\n"


def rows_of(report, device, group):
    return [row for row in report["rows"]
            if row["device"] == device and row["group"] == group]


def columns(rows):
    """Who has a series in any of `rows`, in order of appearance."""
    names = []
    for row in rows:
        for series in row["series"]:
            if series["by"] not in names:
                names.append(series["by"])
    return names


def series_by(row, name):
    for series in row["series"]:
        if series["by"] == name:
            return series
    return None


def is_ours(name):
    return name.startswith("hetgpu")


def speed(row, ours, twin):
    """Speed of `ours` relative to `twin`, or None."""
    for ratio in row["ratios"]:
        if ratio["ours"] == ours and ratio["twin"] == twin:
            return ratio["speed"]
    return None


def link_rate(report, row):
    """The best rate of any copy of this row's device and direction, or None."""
    direction = "copy_" + row["name"].split("_")[1]
    rates = [series["gb_per_s"]
             for other in rows_of(report, row["device"], "copy")
             if other["name"].startswith(direction)
             for series in other["series"] if series["status"] == "ok"]
    return max(rates, default=None)


def geometric_mean(values):
    if not values:
        return None
    return math.exp(sum(math.log(value) for value in values) / len(values))


def time_text(seconds):
    for limit, scale, unit in ((1e-6, 1e9, "ns"), (1e-3, 1e6, "µs"),
                               (1, 1e3, "ms")):
        if seconds < limit:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds:.3g} s"
