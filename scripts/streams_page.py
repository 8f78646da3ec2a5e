#!/usr/bin/env python3
"""Prints the tables of a page of docs/results/streams: means over the seeds with their sample standard deviations.

Usage: streams_page.py FOLDER NAME         the tables of a page
       streams_page.py --overview (FOLDER NAME)...   the tables of the overview, a row each

FOLDER holds what scripts/streams.sh has made for the seeds 0, 1 and 2. Risks are in nats, over held-out samples; `retraining` and `never` are the controls of
the run of icl at its own stop.
"""

import json
import pathlib
import statistics
import sys

SEEDS = range(3)
EQUAL = ("warm", "replay", "fine-tuning", "retraining")
MOMENTS = ("every:2", "every:3", "drift", "drift:0.2")


def spread(values, digits=3):
    """Returns mean and sample standard deviation as text."""
    values = [value for value in values if value is not None]
    if not values:
        return "–"
    mean = f"{statistics.mean(values):.{digits}f}"
    if len(values) == 1:
        return mean
    return f"{mean} ± {statistics.stdev(values):.{digits}f}"


def mean(values):
    """Returns the mean; None if a value is missing."""
    values = list(values)
    return None if not values or None in values else statistics.mean(values)


class Course:
    """One encoder that went through a stream of one seed."""

    def __init__(self, risk, accuracy, charged, n_updates, retraining):
        n = len(risk)
        weighted = [risk[at - 1][at] for at in range(1, n)]
        self.last = mean(risk[-1])
        self.accuracy = mean(accuracy[-1]) if accuracy else None
        self.served = mean(weighted)
        self.forgotten = mean(risk[-1][at] - risk[at][at] for at in range(n - 1))
        self.charged = sum(charged[1:])
        self.n_updates = n_updates
        self.gap = None if retraining is None else self.last - mean(retraining[-1])


def read(path):
    """Returns the record of a run, or None."""
    path = path / "matrix.json"
    return json.loads(path.read_text()) if path.exists() else None


class Runs:
    """The courses of all runs of a data set, in the order of their seeds."""

    def __init__(self, folder, name):
        self.name = name
        self.of_icl = {seed: read(folder / f"{name}-icl-own-{seed}") for seed in SEEDS}
        self.of_icl = {seed: record for seed, record in self.of_icl.items() if record}
        self.folder = folder

    def icl(self):
        """Returns the courses of icl at its own stop."""
        return [self.own(record, seed) for seed, record in self.of_icl.items()]

    def own(self, record, seed):
        """Returns the course of a run's own encoder."""
        charged = [step["charged_passes"] for step in record["experiences"]]
        n_updates = sum(step["updated"] for step in record["experiences"][1:])
        return Course(record["risk"], record["accuracy"], charged, n_updates, self.of_icl[seed]["controls"][0]["risk"])

    def control(self, method):
        """Returns the courses of a control of icl, at its own stop."""
        courses = []
        for record in self.of_icl.values():
            of = next(of for of in record["controls"] if of["method"] == method)
            n_updates = 0 if method == "never" else len(record["names"]) - 1
            courses.append(Course(of["risk"], of["accuracy"], of["charged_passes"], n_updates, record["controls"][0]["risk"]))
        return courses

    def others(self, key):
        """Returns the courses of other runs, such as `warm-equal`; of those seeds that have come to an end."""
        records = {seed: read(self.folder / f"{self.name}-{key}-{seed}") for seed in self.of_icl}
        return {seed: self.own(record, seed) for seed, record in records.items() if record and self.is_whole(record, seed)}

    def is_whole(self, record, seed):
        """Returns whether a run has as many experiences as that of icl."""
        return len(record["experiences"]) == len(self.of_icl[seed]["experiences"])


def page(runs):
    """Prints the tables of a page."""
    rows = [("never", "–", runs.control("never")), ("icl", "own", runs.icl())]
    rows += [(method, "own", runs.control(method)) for method in ("warm", "retraining")]
    for key in EQUAL:
        rows.append((key, "cost of icl", runs.others(f"{key}-equal").values()))
    print("| method | stop | risk at the end | above retraining | forgotten | served | accuracy (kNN) | charged passes |")
    print("|---|---|--:|--:|--:|--:|--:|--:|")
    for method, stop, courses in rows:
        if courses:
            cells = [spread([getattr(it, key) for it in courses]) for key in ("last", "gap", "forgotten", "served", "accuracy")]
            cells.append(spread([it.charged for it in courses], 0))
            print(f"| {method} | {stop} | {' | '.join(cells)} |")
    print()
    records = list(runs.of_icl.values())
    untrained = spread([mean(record["untrained_risk"]) for record in records])
    floor = [record["untrained_accuracy"] for record in records]
    accuracy = spread([mean(of) for of in floor if of])
    print(f"Untrained encoder: risk {untrained}, accuracy {accuracy}.")
    print()
    print("| moment of an update | updates | charged passes | served | risk at the end |")
    print("|---|--:|--:|--:|--:|")
    moments = [("always", rows[1][2]), ("never", rows[0][2])]
    moments += [(when, runs.others(f"icl-when{when.replace(':', '')}").values()) for when in MOMENTS]
    for when, courses in moments:
        if courses:
            cells = [spread([it.n_updates for it in courses], 1), spread([it.charged for it in courses], 0)]
            cells += [spread([getattr(it, key) for it in courses]) for key in ("served", "last")]
            print(f"| {when} | {' | '.join(cells)} |")
    print()
    print("Risk over held-out samples of each experience at the end, first seed:")
    print()
    first = records[0]
    print(f"| encoder | {' | '.join(first['names'])} |")
    print(f"|---|{'--:|' * len(first['names'])}")
    for method, risk in [("icl", first["risk"])] + [(of["method"], of["risk"]) for of in first["controls"]]:
        print(f"| {method} | {' | '.join(f'{cell:.3f}' for cell in risk[-1])} |")


def overview(all_runs):
    """Prints the tables of the overview."""
    print("| data | cost of icl / retraining | icl | " + " | ".join(EQUAL) + " | never |")
    print("|---|" + "--:|" * (len(EQUAL) + 3))
    for runs in all_runs:
        shares = [a.charged / b.charged for a, b in zip(runs.icl(), runs.control("retraining"))]
        columns = [runs.icl(), *(runs.others(f"{key}-equal").values() for key in EQUAL), runs.control("never")]
        cells = [spread([it.gap for it in courses]) for courses in columns]
        print(f"| [{runs.name}]({runs.name}.md) | {statistics.mean(shares):.2f} | {' | '.join(cells)} |")
    print()
    print("| data | " + " | ".join(MOMENTS) + " |")
    print("|---|" + "--:|" * len(MOMENTS))
    for runs in all_runs:
        ends = dict(zip(runs.of_icl, zip(runs.icl(), runs.control("never"))))
        cells = []
        for when in MOMENTS:
            courses = runs.others(f"icl-when{when.replace(':', '')}")
            cost = [it.charged / ends[seed][0].charged for seed, it in courses.items()]
            lost = [(it.served - ends[seed][0].served) / (ends[seed][1].served - ends[seed][0].served) for seed, it in courses.items()]
            cells.append(f"{spread(cost, 2)}; {spread(lost, 2)}" if courses else "–")
        print(f"| {runs.name} | {' | '.join(cells)} |")


def main():
    arguments = sys.argv[1:]
    if arguments[0] == "--overview":
        of = arguments[1:]
        overview([Runs(pathlib.Path(folder), name) for folder, name in zip(of[::2], of[1::2])])
    else:
        page(Runs(pathlib.Path(arguments[0]), arguments[1]))


if __name__ == "__main__":
    main()
