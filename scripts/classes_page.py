#!/usr/bin/env python3
"""Prints a Markdown table of runs over numbers of negatives: accuracies of the first encoder, as means over the seeds.

Usage: classes_page.py FOLDER NAME SHARE

FOLDER holds one folder NAME-FORM-K of `icl run --method inference` for each form and number of negatives. SHARE is the sum of
the squared shares of the classes: the chance that a negative is of the anchor's class.
"""

import json
import math
import pathlib
import statistics
import sys


def spread(values, digits):
    """Returns mean and sample standard deviation as text."""
    mean = statistics.mean(values)
    if len(values) == 1:
        return f"{mean:.{digits}f}"
    return f"{mean:.{digits}f} ± {statistics.stdev(values):.{digits}f}"


def main():
    folder, name, share = pathlib.Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])
    protocols = ["few_labels", "knn", "linear_probe"]
    print("| K | form | a reliable label: (1 − Σp²)^K | chance: 1/(K + 1) | AUC of pairs | 5 labels a class | neighbours | linear |")
    print("|--:|---|--:|--:|--:|--:|--:|--:|")
    records = []
    for k in (1, 2, 4, 8, 16, 32, 64):
        for form in ("weighted", "drawn"):
            path = folder / f"{name}-{form}-{k}" / "record.jsonl"
            if not path.exists():
                continue
            records = [json.loads(line) for line in path.read_text().splitlines()]
            cells = [spread([record["start"]["auc_all"] for record in records], 3)]
            cells += [spread([record[it]["accuracy"]["all"] for record in records], 3) for it in protocols]
            reliable = math.pow(1 - share, k)
            print(f"| {k} | {form} | {reliable:.3f} | {1 / (k + 1):.3f} | {' | '.join(cells)} |")
    for floor in ("untrained", "raw", "majority"):
        values = [[record[it]["floors"][floor]["all"] for record in records] for it in protocols]
        cells = [spread(value, 3) if None not in value else "–" for value in values]
        print(f"| – | floor: {floor} | – | – | – | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
