"""The maximum mean discrepancy of old and new rows, and its p-value over ALL divisions of the rows, by plain loops.

    python3 scripts/reference/discrepancy.py > crates/icl-core/tests/reference/discrepancy.json

Directions of the rows are compared by a Gaussian kernel, whose squared width is the median of the squared distances of different
rows, the upper one of two. Every mean is a double loop over all pairs, each row with itself included.
"""

import itertools
import json
import math
import random
import sys

SEED = 20261125


def direction(row):
    length = math.sqrt(sum(x * x for x in row))
    return [x / length for x in row] if length > 0 else list(row)


def squared_distance(a, b):
    return sum((x - y) ** 2 for x, y in zip(a, b))


def mmd2(rows, old, width2):
    new = [i for i in range(len(rows)) if i not in old]
    kernel = lambda i, j: math.exp(-squared_distance(rows[i], rows[j]) / (2 * width2))
    mean = lambda first, second: sum(kernel(i, j) for i in first for j in second) / (len(first) * len(second))
    return mean(old, old) + mean(new, new) - 2 * mean(old, new)


def case(name, old, new):
    rows = [direction(row) for row in old + new]
    distances = [squared_distance(a, b) for a, b in itertools.combinations(rows, 2)]
    distances = sorted(x for x in distances if x > 1e-12)
    width2 = distances[len(distances) // 2] if distances else 1.0
    found = mmd2(rows, list(range(len(old))), width2)
    divisions = [mmd2(rows, list(some), width2) for some in itertools.combinations(range(len(rows)), len(old))]
    return {
        "name": name,
        "old": old,
        "new": new,
        "bandwidth": math.sqrt(width2),
        "mmd2": found,
        "share_at_least": sum(x >= found - 1e-12 for x in divisions) / len(divisions),
    }


def main():
    rng = random.Random(SEED)
    draw = lambda n, shift: [[rng.gauss(shift, 1.0), rng.gauss(0.0, 1.0), rng.gauss(0.0, 1.0)] for _ in range(n)]
    old = draw(5, -1.0)
    cases = [
        case("one distribution", draw(5, 0.0), draw(6, 0.0)),
        case("a shift", draw(5, -1.5), draw(5, 1.5)),
        case("one new row", draw(9, -1.0), [[4.0, 0.5, -0.5]]),
        case("equal rows, a row of zeros and other lengths", old + [old[0]], [[3 * x for x in old[1]], [0.0] * 3] + draw(2, 1.0)),
        case("all directions are equal", [[1.0, 2.0, 2.0]] * 3, [[2.0, 4.0, 4.0]] * 2),
    ]
    json.dump({"versions": f"Python {sys.version.split()[0]}", "seed": SEED, "cases": cases}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
