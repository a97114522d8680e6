"""Reports as SVG: ratios with bars, shares of ceilings, copy rates."""

import html

import results

COLORS = ("#2a6fbb", "#d9822b", "#3a9a5b", "#9a4fb5", "#b23b3b", "#5b6b7a")
BAR, GAP, LEFT, WIDTH, TOP = 12, 10, 150, 560, 56


def text(x, y, words, anchor="start", size=11, color="#222"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{color}" '
            f'text-anchor="{anchor}">{html.escape(words)}</text>')


def line(x, height, label, color):
    return (f'<line x1="{x:.1f}" y1="{TOP - 8}" x2="{x:.1f}" y2="{height - 8}" '
            f'stroke="{color}" stroke-dasharray="4 3"/>'
            + text(x, TOP - 12, label, "middle", 10, color))


def bar(x, y, value, label, color, low=None, high=None):
    """`low` and `high` are the ends of the spread, as lengths."""
    parts = [f'<rect x="{x}" y="{y}" width="{max(value, 0.5):.1f}" '
             f'height="{BAR - 2}" fill="{color}"/>']
    end = value
    if low is not None:
        middle = y + (BAR - 2) / 2
        parts.append(f'<path d="M{x + low:.1f} {middle}H{x + high:.1f}" '
                     'stroke="#222" stroke-width="1"/>')
        end = max(value, high)
    parts.append(text(x + end + 4, y + BAR - 3, label, size=9))
    return "".join(parts)


def chart(title, groups, names, marks, scale_max):
    """`groups`: (row, [(name, value, low, high, label)]). `marks`: lines."""
    height = TOP + sum(BAR * len(bars) + GAP for _, bars in groups) + 16
    unit = WIDTH / scale_max
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" '
             f'width="{LEFT + WIDTH + 110}" height="{height}" '
             'font-family="sans-serif">',
             '<rect width="100%" height="100%" fill="white"/>',
             text(8, 16, title, size=14)]
    x = LEFT
    for i, name in enumerate(names):
        color = COLORS[i % len(COLORS)]
        parts.append(f'<rect x="{x}" y="24" width="10" height="10" '
                     f'fill="{color}"/>' + text(x + 14, 33, name, size=10))
        x += 30 + 6 * len(name)
    parts += [line(LEFT + value * unit, height, label, color)
              for value, label, color in marks]
    y = TOP
    for row, bars in groups:
        parts.append(text(LEFT - 6, y + BAR * len(bars) / 2 + 4, row, "end"))
        for name, value, low, high, label in bars:
            clip = [None if v is None else min(v, scale_max) * unit
                    for v in (value, low, high)]
            parts.append(bar(LEFT, y, clip[0], label,
                             COLORS[names.index(name) % len(COLORS)],
                             clip[1], clip[2]))
            y += BAR
        y += GAP
    return "".join(parts) + "</svg>\n"


def spread(ours, twin):
    """Quartiles of the rounds' ratios."""
    ratios = sorted(t / o for o, t in zip(ours["samples_s"],
                                          twin["samples_s"]))
    return ratios[len(ratios) // 4], ratios[(3 * len(ratios)) // 4]


def ratio_chart(rows, title):
    """Speed of hetGPU relative to each twin; the lines are the quartiles."""
    groups, names, top = [], [], 1.2
    for row in rows:
        bars = []
        for ratio in row["ratios"]:
            name = f"{ratio['ours']} ÷ {ratio['twin']}"
            if name not in names:
                names.append(name)
            low, high = spread(results.series_by(row, ratio["ours"]),
                               results.series_by(row, ratio["twin"]))
            value = ratio["speed"]
            top = max(top, min(value, 2.0) * 1.05)
            bars.append((name, value, low, high, f"{value:.3f}"))
        if bars:
            groups.append((row["name"], bars))
    if not groups:
        return None
    return chart(title, groups, names, [(1, "as fast", "#b23b3b")], top)


def share_chart(rows, title):
    groups, names = [], []
    for row in rows:
        bars = []
        for series in row["series"]:
            if "share_of_ceiling" not in series:
                continue
            if series["by"] not in names:
                names.append(series["by"])
            share = series["share_of_ceiling"] * 100
            low = share * series["median_s"] / series["max_s"]
            high = share * series["median_s"] / series["min_s"]
            bars.append((series["by"], share, low, high,
                         f"{share:.0f} % of {series['ceiling']}"))
        if bars:
            groups.append((row["name"], bars))
    if not groups:
        return None
    return chart(title, groups, names, [(100, "ceiling", "#b23b3b")], 110)


def value_chart(rows, title, key, scale, unit):
    groups, names, top = [], [], 0
    for row in rows:
        bars = []
        for series in row["series"]:
            if series["status"] != "ok" or key not in series:
                continue
            if series["by"] not in names:
                names.append(series["by"])
            value = series[key] * scale
            top = max(top, value)
            bars.append((series["by"], value, None, None,
                         f"{value:.3g} {unit}"))
        if bars:
            groups.append((row["name"], bars))
    if not groups:
        return None
    return chart(title, groups, names, [], top)


def device_plots(report, device):
    def rows(group):
        return results.rows_of(report, device, group)

    yield "ratios", "Speed of hetGPU relative to its twins", ratio_chart(
        rows("workload"), f"{device}: speed relative to native twins")
    yield "shares", "Shares of the machine's ceilings", share_chart(
        rows("workload"), f"{device}: share of the nearer ceiling, percent")
    yield "launches", "Launches", value_chart(
        rows("launch"), f"{device}: time of an empty launch", "median_s", 1e6,
        "µs")
    yield "copies", "Copies", value_chart(
        rows("copy"), f"{device}: copy rate", "gb_per_s", 1, "GB/s")
    yield "jit", "Compiling", value_chart(
        rows("jit"), f"{device}: time to compile a module", "median_s", 1e3,
        "ms")


def all_plots(report):
    """(file stem, title, svg) of every plot that has something to show."""
    for device in report["devices"]:
        for kind, title, svg in device_plots(report, device["name"]):
            if svg:
                yield f"{device['name']}_{kind}", title, svg
