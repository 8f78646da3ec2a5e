"""Writes the tables of docs/results/tables/README.md from the records of `icl run`.

    python scripts/methods_page.py FOLDER [FOLDER ...]

Each FOLDER is the output of one `icl run`. A cell is the median over the seeds, with the least and the greatest value in
brackets. Only the standard library is needed.
"""

import json
import statistics
import sys
from pathlib import Path


def records(folder):
    lines = (Path(folder) / "record.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def cell(values, digits):
    values = [value for value in values if value is not None]
    if not values:
        return "–"

    def text(value):
        if digits is None:
            return f"{value / 1000:.0f}k" if value >= 10_000 else f"{value:.0f}"
        return f"{value:.{digits}f}"

    middle, least, greatest = statistics.median(values), min(values), max(values)
    if text(least) == text(greatest):
        return text(middle)
    return f"{text(middle)} [{text(least)}–{text(greatest)}]"


def part(record, key, origin):
    of = record.get(key)
    return None if of is None else of.get(origin)


def accuracy(record, key, origin):
    of = record.get(key)
    return None if of is None else of["accuracy"][origin]


COLUMNS = [
    ("held-out, old", lambda r: part(r, "held_out_risk", "old"), 3),
    ("held-out, new", lambda r: part(r, "held_out_risk", "new"), 3),
    ("training, all", lambda r: r["risk"]["all"], 3),
    ("old, partners from X′", lambda r: r["risk"]["old"], 3),
    ("old, partners from X", lambda r: part(r, "risk_old_partners", "old"), 3),
    ("charged passes", lambda r: r.get("charged_passes"), None),
    ("kNN, all", lambda r: accuracy(r, "knn", "all"), 3),
    ("linear, all", lambda r: accuracy(r, "linear_probe", "all"), 3),
]


def floors(record, key):
    of = record.get(key)
    return {} if of is None else {name: value["all"] for name, value in of["floors"].items()}


def table(folder):
    runs = records(folder)
    first = runs[0]
    seeds = sorted({run["seed"] for run in runs})
    held_out = first.get("n_held_out") or {"old": 0, "new": 0}
    yield f"## {first['data']}, split {first['split']}, α = {first['alpha']:.2f}"
    yield ""
    yield (
        f"{first['n_old']} old and {first['n_new']} new rows in training, {held_out['old']} and {held_out['new']} held out; "
        f"seeds {', '.join(map(str, seeds))}."
    )
    yield ""
    yield "| method | " + " | ".join(name for name, _, _ in COLUMNS) + " |"
    yield "|---|" + "---:|" * len(COLUMNS)
    methods = list(dict.fromkeys(run["method"] for run in runs))
    for method in methods:
        own = [run for run in runs if run["method"] == method]
        cells = [cell([of(run) for run in own], digits) for _, of, digits in COLUMNS]
        yield f"| {method} | " + " | ".join(cells) + " |"
    of_first = [run for run in runs if run["method"] == methods[0]]
    for name in floors(first, "knn"):
        values = [
            cell([floors(run, key).get(name) for run in of_first], 3)
            for key in ("knn", "linear_probe")
        ]
        if values != ["–", "–"]:
            yield f"| *floor: {name.replace('_', ' ')}* | " + "– | " * 6 + " | ".join(values) + " |"
    yield ""


if __name__ == "__main__":
    for folder in sys.argv[1:]:
        print("\n".join(table(folder)))
