#!/usr/bin/env python3
"""Prints how plastic encoders stay over a stream: means over the seeds 0, 1 and 2 with their sample standard deviations.

Usage: plasticity_page.py FOLDER METHOD...

FOLDER/METHOD-SEED is the output of `icl stream --trainability N`.
"""

import json
import pathlib
import statistics
import sys

SEEDS = range(3)
AT = (1, 5, 10, 15, 20)


def row(name, of_seeds, digits, scale=1.0):
    """Prints a row: a value of each experience in AT."""
    cells = []
    for values in zip(*of_seeds):
        if None in values:
            cells.append("–")
            continue
        values = [scale * value for value in values]
        cells.append(f"{statistics.mean(values):.{digits}f} ± {statistics.stdev(values):.{digits}f}")
    print(f"| {name} | {' | '.join(cells)} |")


def main():
    folder = pathlib.Path(sys.argv[1])
    print(f"| method and measure, after experience | {' | '.join(str(at) for at in AT)} |")
    print(f"|---|{'--:|' * len(AT)}")
    for method in sys.argv[2:]:
        of_seeds = []
        for seed in SEEDS:
            lines = (folder / f"{method}-{seed}" / "stream.jsonl").read_text().splitlines()
            lines = [json.loads(line) for line in lines]
            of_seeds.append([lines[at - 1] for at in AT])

        def measure(key):
            return [[line[key] for line in lines] for lines in of_seeds]

        def trainability(key):
            return [[line["trainability"] and line["trainability"][key] for line in lines] for lines in of_seeds]

        row(f"`{method}`: weight norm", measure("parameter_norm"), 1)
        row(f"`{method}`: effective rank of the embeddings", measure("effective_rank"), 2)
        row(f"`{method}`: dormant units, %", measure("dormant_share"), 1, 100.0)
        row(f"`{method}`: risk after 5 epochs from the live encoder", trainability("risk"), 2)
        row(f"`{method}`: the same from a fresh one", trainability("fresh_risk"), 2)
        row(f"`{method}`: passes to the fresh one's risk, over its own", trainability("ratio"), 2)


if __name__ == "__main__":
    main()
