"""Reports as Markdown."""

import results

TITLES = {
    "ceiling": "What the machine can do",
    "workload": "Workloads",
    "launch": "Launches",
    "copy": "Copies",
    "move": "Moves of unified memory",
    "jit": "Compiling",
}

NOTES = {
    "ceiling": "Rates of these kernels; the best of each is the ceiling that "
               "workloads are compared with.",
    "workload": "Median time, rate, share of the nearer ceiling. The last "
                "columns are the speed of hetGPU relative to a twin: above 1 "
                "hetGPU is faster.",
    "launch": "Per launch of a kernel that does nothing.",
    "copy": "Between host memory and the device; the link is the best rate of "
            "any row in that direction.",
    "move": "Unified memory from the place that wrote it to the place that "
            "needs it; the link is that of the copies.",
    "jit": "A module of PTX, all its kernels, each sample in a process of its "
           "own. Cold: caches empty. Warm: from the disk cache.",
}


def cell(report, row, series):
    if series is None:
        return ""
    if series["status"] != "ok":
        return series["status"]
    parts = [results.time_text(series["median_s"])]
    if row["group"] in ("ceiling", "workload"):
        parts.append(rate_text(row, series))
    if row["group"] in ("copy", "move"):
        link = results.link_rate(report, row)
        parts.append(f"{series['gb_per_s']:.1f} GB/s")
        if link is not None:
            parts.append(f"{series['gb_per_s'] / link * 100:.0f} % of link")
    if row["group"] == "workload" and "share_of_ceiling" in series:
        parts.append(f"{series['share_of_ceiling'] * 100:.0f} % of "
                     f"{series['ceiling']}")
    return ", ".join(part for part in parts if part)


def rate_text(row, series):
    """The rate that the ceiling bounds."""
    is_bytes = series.get("ceiling", "copy") == "copy"
    if is_bytes and "gb_per_s" in series:
        return f"{series['gb_per_s']:.1f} GB/s"
    if "gop_per_s" not in series:
        return ""
    unit = "GFLOP/s" if row["unit"] == "f32" else "GOP/s"
    return f"{series['gop_per_s']:.0f} {unit}"


def table(report, rows):
    names = results.columns(rows)
    ours = [name for name in names if results.is_ours(name)]
    twins = [name for name in names if not results.is_ours(name)]
    pairs = [(o, t) for o in ours for t in twins
             if any(results.speed(row, o, t) for row in rows)]
    head = ["row", *names, *(f"{o} ÷ {t}" for o, t in pairs)]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for row in rows:
        cells = [row["name"]]
        cells += [cell(report, row, results.series_by(row, name))
                  for name in names]
        for o, t in pairs:
            speed = results.speed(row, o, t)
            cells.append(f"{speed:.3f}" if speed else "")
        lines.append("| " + " | ".join(cells) + " |")
    if rows[0]["group"] == "workload" and pairs:
        lines.append(mean_line(rows, names, pairs))
    return "\n".join(lines) + "\n"


def mean_line(rows, names, pairs):
    cells = ["**geometric mean**"] + [""] * len(names)
    for o, t in pairs:
        speeds = [s for s in (results.speed(row, o, t) for row in rows) if s]
        cells.append(f"**{results.geometric_mean(speeds):.3f}**")
    return "| " + " | ".join(cells) + " |"


def reasons(rows):
    """What is absent or wrong, each reason once."""
    seen = []
    for row in rows:
        for series in row["series"]:
            if series["status"] == "ok":
                continue
            where = row["name"] if series["status"] == "error" else "all rows"
            line = (f"* {series['by']}, {where}: {series['status']}: "
                    f"{series.get('reason', '')}")
            if line not in seen:
                seen.append(line)
    return "\n".join(seen) + ("\n" if seen else "")


def problems(rows):
    return "\n".join(f"* `{row['name']}`: {row['problem']}"
                     for row in rows) + "\n"


def machine_text(report):
    machine = report["machine"]
    return (f"{machine['cpu']}, {machine['cores']} cores, "
            f"{machine['memory_gib']} GiB, {machine['system']}, "
            f"{machine['kernel']} {machine['architecture']}")


def ceilings_text(device):
    parts = []
    for key, value in device.get("ceilings", {}).items():
        name, unit = key.split("_", 1)
        unit = unit.replace("_per_s", "/s").replace("gb", "GB")
        unit = unit.replace("gop", "GFLOP" if name == "f32" else "GOP")
        if value:
            parts.append(f"{name} {value:.0f} {unit}")
    return ", ".join(parts)


def markdown(report):
    text = [f"# hetgpu-bench\n\nMachine: {machine_text(report)}. Sizes: "
            f"{report['size']}; medians of {report['repetitions']} rounds in "
            "which all took their turn.\n"]
    for device in report["devices"]:
        text.append(f"\n## Device {device['name']}\n")
        text += [f"* {name}: {version}"
                 for name, version in device["executors"].items()]
        if ceilings_text(device):
            text.append(f"* ceilings: {ceilings_text(device)}")
        for group in results.GROUPS:
            rows = results.rows_of(report, device["name"], group)
            if not rows:
                continue
            text.append(f"\n### {TITLES[group]}\n\n{NOTES[group]}\n")
            text.append(table(report, rows))
            if reasons(rows):
                text.append(reasons(rows))
            if group == "workload":
                text.append(problems(rows))
    return "\n".join(text) + "\n"
