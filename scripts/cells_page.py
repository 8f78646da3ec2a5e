"""Tables of cells, one folder of `icl run` each: what each method costs at its own stop, and how good it then is.

Usage: cells_page.py FOLDER [FOLDER ...] > PAGE.md
Needs: Python's standard library.
"""

import json
import statistics
import sys
from pathlib import Path

REFERENCE = "retraining"
LEVELS = (0.1, 0.25, 0.5, 1.0)
SHARES = (0.1, 0.25, 0.5)


def records(folder):
    with open(folder / "record.jsonl") as lines:
        return [json.loads(line) for line in lines]


def thousands(passes):
    return f"{passes / 1000:.1f} k" if passes < 100_000 else f"{passes / 1000:.0f} k"


def with_range(values, show):
    """Median, and the range where seeds differ."""
    middle, low, high = show(statistics.median(values)), show(min(values)), show(max(values))
    return middle if low == high else f"{middle} ({low}–{high})"


def plateau(run, part):
    """Median of the last five evaluations, as the program's target has it."""
    return statistics.median(of["risk"][part] for of in run["evaluations"][-5:])


def distance(runs, part):
    """theta_0's distance from retraining's plateau + 1 %: start, target, and the spread of the distance over the seeds."""
    targets = {run["seed"]: 1.01 * plateau(run, part) for run in runs if run["method"] == REFERENCE}
    starts = {run["seed"]: run["evaluations"][0]["risk"][part] for run in runs if run["method"] == "inference"}
    of_seeds = [starts[seed] - target for seed, target in targets.items()]
    noise = statistics.stdev(of_seeds) if len(of_seeds) > 1 else float("nan")
    return statistics.mean(starts.values()), statistics.mean(targets.values()), noise


def cost_to(run, level):
    """Charged cost of the first evaluation at or under both risks."""
    for of in run["evaluations"]:
        if of["risk"]["old"] <= level[0] and of["risk"]["new"] <= level[1]:
            return of["charged_passes"]
    return None


def balanced(risk):
    return risk["old"] + risk["new"]


def levels(reference):
    """Retraining's lowest risks so far at shares of its cost."""
    total = reference["charged_passes"]
    found = []
    for share in LEVELS:
        until = [of["risk"] for of in reference["evaluations"] if of["charged_passes"] <= share * total]
        best = min(until, key=balanced)
        found.append((best["old"], best["new"]))
    return found


def summary(runs):
    """Rows of one cell, and what the goal asks: (method, cost ratio, both parts within 1 %) of each seed."""
    methods = list(dict.fromkeys(run["method"] for run in runs))
    reference = {run["seed"]: run for run in runs if run["method"] == REFERENCE}
    rows, goal = [], []
    for method in methods:
        mine = [run for run in runs if run["method"] == method]
        excess = {part: [] for part in ("old", "new")}
        for run in mine:
            other = reference[run["seed"]]
            for part, values in excess.items():
                values.append(run["held_out_risk"][part] / other["held_out_risk"][part] - 1)
        is_near = [old <= 0.01 and new <= 0.01 for old, new in zip(excess["old"], excess["new"])]
        ratios = [run["charged_passes"] / reference[run["seed"]]["charged_passes"] for run in mine]
        goal += [(method, ratio, near) for ratio, near in zip(ratios, is_near)]
        ended = [run["stopped_by"] or "–" for run in mine]
        rows.append(
            [
                method,
                with_range([run["charged_passes"] for run in mine], thousands),
                f"{statistics.median(ratios):.3f}",
                *(with_range([run["held_out_risk"][part] for run in mine], "{:.3f}".format) for part in ("old", "new")),
                *(f"{100 * statistics.median(excess[part]):+.1f} %" for part in ("old", "new")),
                f"{sum(is_near)} of {len(mine)}",
                ", ".join(f"{name} {ended.count(name)}" for name in sorted(set(ended))) if len(set(ended)) > 1 else ended[0],
            ]
        )
    return rows, goal


def level_rows(runs):
    reference = {run["seed"]: run for run in runs if run["method"] == REFERENCE}
    rows = []
    for method in dict.fromkeys(run["method"] for run in runs):
        if method == "inference":
            continue
        row = [method]
        for at in range(len(LEVELS)):
            ratios = []
            for run in runs:
                if run["method"] == method:
                    other = reference[run["seed"]]
                    level = levels(other)[at]
                    own, mine = cost_to(other, level), cost_to(run, level)
                    ratios.append(None if mine is None else mine / own)
            reached = [ratio for ratio in ratios if ratio is not None]
            if len(reached) < len(ratios):
                row.append(f"{len(reached)} of {len(ratios)} seeds")
            elif max(reached) == 0:
                row.append("at the start")
            else:
                row.append(with_range(reached, "{:.2f}".format))
        rows.append(row)
    return rows


def share_rows(runs):
    """Lowest risk so far at shares of retraining's cost, against retraining's own at its end: old / new, medians."""
    reference = {run["seed"]: run for run in runs if run["method"] == REFERENCE}
    rows = []
    for method in dict.fromkeys(run["method"] for run in runs):
        if method == "inference":
            continue
        row = [method]
        for share in SHARES:
            excess = {"old": [], "new": []}
            for run in (run for run in runs if run["method"] == method):
                other = reference[run["seed"]]
                end = min((of["risk"] for of in other["evaluations"]), key=balanced)
                until = share * other["charged_passes"]
                best = min((of["risk"] for of in run["evaluations"] if of["charged_passes"] <= until), key=balanced)
                for part, values in excess.items():
                    values.append(100 * (best[part] / end[part] - 1))
            row.append(" / ".join(f"{statistics.median(excess[part]):+.1f} %" for part in ("old", "new")))
        rows.append(row)
    return rows


def against_warm(runs):
    """icl against warm in the same seeds: median ratio of their costs, mean difference of their risks with its standard error."""
    of = {(run["method"], run["seed"]): run for run in runs}
    seeds = sorted({run["seed"] for run in runs})
    pairs = [(of["icl", seed], of["warm", seed]) for seed in seeds]
    cells = [f"{statistics.median(a['charged_passes'] / b['charged_passes'] for a, b in pairs):.2f}"]
    for part in ("old", "new"):
        excess = [100 * (a["held_out_risk"][part] / b["held_out_risk"][part] - 1) for a, b in pairs]
        error = f" ± {statistics.stdev(excess) / len(excess) ** 0.5:.1f}" if len(excess) > 1 else ""
        cells.append(f"{statistics.mean(excess):+.1f} %{error}")
    return cells


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def main():
    cells = [(Path(folder).name, records(Path(folder))) for folder in sys.argv[1:]]
    far = []
    for name, runs in cells:
        first = runs[0]
        seeds = len({run["seed"] for run in runs})
        rows, goal = summary(runs)
        distances = {part: distance(runs, part) for part in ("old", "new")}
        is_far = any(start - target > 3 * noise for start, target, noise in distances.values())
        if is_far:
            far.append((name, goal))
        print(f"## {first['data']}, split {first['split']}, α = {first['alpha']:.2f}\n")
        print(f"{first['n_old']} old and {first['n_new']} new samples, {seeds} seed{'s' * (seeds > 1)}. Distance of θ₀ from the target: ", end="")
        parts = []
        for part, (start, target, noise) in distances.items():
            times = f" ({(start - target) / noise:+.1f} times the noise)" if seeds > 1 else ""
            parts.append(f"on {part} data {100 * (start / target - 1):+.1f} %{times}")
        verdict = "" if is_far else " **Nothing to speed up.**" if seeds > 1 else " One seed does not tell the noise."
        print("; ".join(parts) + "." + verdict + "\n")
        head = ["method", "charged passes", "of retraining's", "held-out old", "held-out new", "old", "new", "within 1 %", "ended by"]
        print(table(head, rows) + "\n")
        if is_far:
            print("Cost to the lowest risk, on old and on new data, that retraining has at a share of its cost, as a share of")
            print("the cost that retraining itself took to it:\n")
            print(table(["method", *(f"at {100 * level:.0f} %" for level in LEVELS)], level_rows(runs)) + "\n")
            print("Lowest risk until a share of retraining's cost, above retraining's lowest, old / new (training panel):\n")
            print(table(["method", *(f"at {100 * share:.0f} %" for share in SHARES)], share_rows(runs)) + "\n")
    print("## `icl` against `warm`, seed by seed\n")
    print("Median of the ratio of their charged costs, and mean difference of their held-out risks with its standard error.\n")
    rows = [[name, *against_warm(runs)] for name, runs in cells]
    print(table(["cell", "cost", "held-out old", "held-out new"], rows) + "\n")
    print("## All cells in which θ₀ is far from the target\n")
    print(f"{len(far)} of {len(cells)} cells: {', '.join(name for name, _ in far)}.\n")
    rows = []
    for method in dict.fromkeys(method for _, goal in far for method, _, _ in goal):
        mine = [(ratio, near) for _, goal in far for name, ratio, near in goal if name == method]
        rows.append(
            [
                method,
                f"{statistics.median(ratio for ratio, _ in mine):.3f}",
                f"{sum(near for _, near in mine)} of {len(mine)} ({100 * sum(near for _, near in mine) / len(mine):.0f} %)",
            ]
        )
    print(table(["method", "cost of retraining's, median", "seeds within 1 % on old and on new"], rows))


if __name__ == "__main__":
    main()
