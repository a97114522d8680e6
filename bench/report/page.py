"""Reports as one HTML page: the tables and the plots."""

import html

import plots
import tables

STYLE = """
body { font-family: sans-serif; max-width: 75em; margin: 2em auto; }
table { border-collapse: collapse; font-size: 85%; }
th, td { border: 1px solid #ccc; padding: 0.2em 0.5em; text-align: left; }
"""


def inline(words):
    words = html.escape(words)
    while "**" in words:
        words = words.replace("**", "<b>", 1).replace("**", "</b>", 1)
    while words.count("`") >= 2:
        words = words.replace("`", "<code>", 1).replace("`", "</code>", 1)
    return words


def table_row(line, tag):
    cells = line.strip().strip("|").split(" | ")
    return "<tr>" + "".join(f"<{tag}>{inline(cell.strip())}</{tag}>"
                            for cell in cells) + "</tr>"


def to_html(markdown):
    """Of the Markdown that tables.py writes: headings, lists, tables."""
    out, block = [], None

    def switch(wanted):
        nonlocal block
        if block != wanted:
            if block:
                out.append(f"</{block}>")
            if wanted:
                out.append(f"<{wanted}>")
            block = wanted

    for line in markdown.splitlines():
        if line.startswith("#"):
            switch(None)
            level = len(line) - len(line.lstrip("#"))
            out.append(f"<h{level}>{inline(line[level + 1:])}</h{level}>")
        elif line.startswith("|---"):
            continue
        elif line.startswith("|"):
            tag = "td" if block == "table" else "th"
            switch("table")
            out.append(table_row(line, tag))
        elif line.startswith("* "):
            switch("ul")
            out.append(f"<li>{inline(line[2:])}</li>")
        elif line.strip():
            switch(None)
            out.append(f"<p>{inline(line)}</p>")
    switch(None)
    return "\n".join(out)


def html_page(report):
    parts = ["<!doctype html><html><head><meta charset=\"utf-8\">"
             f"<title>hetgpu-bench</title><style>{STYLE}</style></head><body>",
             to_html(tables.markdown(report)), "<h2>Plots</h2>"]
    for _, title, svg in plots.all_plots(report):
        parts.append(f"<h3>{html.escape(title)}</h3>{svg}")
    return "\n".join(parts) + "</body></html>\n"
