#!/usr/bin/env python3
"""Prints the tables of a page of docs/results/streams: means over the seeds with their sample standard deviations.

Usage: streams_page.py FOLDER NAME

FOLDER holds what scripts/streams.sh has made for the seeds 0, 1 and 2. Risks are in nats, over held-out samples; `retraining` and `never` are the controls of
the run of icl at its own stop.
"""

import json
import pathlib
import statistics
import sys

SEEDS = range(3)


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


def main():
    folder, name = pathlib.Path(sys.argv[1]), sys.argv[2]
    of_icl = [read(folder / f"{name}-icl-own-{seed}") for seed in SEEDS]
    of_icl = [record for record in of_icl if record]
    retraining = [record["controls"][0]["risk"] for record in of_icl]

    def own(record, reference):
        charged = [step["charged_passes"] for step in record["experiences"]]
        n_updates = sum(step["updated"] for step in record["experiences"][1:])
        return Course(record["risk"], record["accuracy"], charged, n_updates, reference)

    def control(record, method, reference):
        of = next(of for of in record["controls"] if of["method"] == method)
        n_updates = 0 if method == "never" else len(record["names"]) - 1
        return Course(of["risk"], of["accuracy"], of["charged_passes"], n_updates, reference)

    def runs(key):
        records = [read(folder / f"{name}-{key}-{seed}") for seed in SEEDS]
        return [own(record, of) for record, of in zip(records, retraining) if record]

    rows = [
        ("never", "–", [control(record, "never", of) for record, of in zip(of_icl, retraining)]),
        ("icl", "own", [own(record, of) for record, of in zip(of_icl, retraining)]),
        ("warm", "own", [control(record, "warm", of) for record, of in zip(of_icl, retraining)]),
        ("retraining", "own", [control(record, "retraining", of) for record, of in zip(of_icl, retraining)]),
    ]
    for key in ("retraining", "warm", "replay", "fine-tuning"):
        rows.append((key, "cost of icl", runs(f"{key}-equal")))
    print("| method | stop | risk at the end | above retraining | forgotten | served | accuracy (kNN) | charged passes |")
    print("|---|---|--:|--:|--:|--:|--:|--:|")
    for method, stop, courses in rows:
        if not courses:
            continue
        cells = [spread([getattr(it, key) for it in courses]) for key in ("last", "gap", "forgotten", "served", "accuracy")]
        cells.append(spread([it.charged for it in courses], 0))
        print(f"| {method} | {stop} | {' | '.join(cells)} |")
    print()
    untrained = spread([mean(record["untrained_risk"]) for record in of_icl])
    floor = [record["untrained_accuracy"] for record in of_icl]
    accuracy = spread([mean(of) for of in floor if of])
    print(f"Untrained encoder: risk {untrained}, accuracy {accuracy}.")
    print()
    print("| moment of an update | updates | charged passes | served | risk at the end |")
    print("|---|--:|--:|--:|--:|")
    moments = [("always", rows[1][2]), ("never", rows[0][2])]
    for when in ("every:2", "every:3", "drift", "drift:0.2"):
        moments.append((when, runs(f"icl-when{when.replace(':', '')}")))
    for when, courses in moments:
        if courses:
            cells = [spread([it.n_updates for it in courses], 1), spread([it.charged for it in courses], 0)]
            cells += [spread([getattr(it, key) for it in courses]) for key in ("served", "last")]
            print(f"| {when} | {' | '.join(cells)} |")
    print()
    print("Risk over held-out samples of each experience at the end, first seed:")
    print()
    print(f"| encoder | {' | '.join(of_icl[0]['names'])} |")
    print(f"|---|{'--:|' * len(of_icl[0]['names'])}")
    for method, risk in [("icl", of_icl[0]["risk"])] + [(of["method"], of["risk"]) for of in of_icl[0]["controls"]]:
        print(f"| {method} | {' | '.join(f'{cell:.3f}' for cell in risk[-1])} |")


if __name__ == "__main__":
    main()
