"""The bias of inference without self-pairs, and its whole distribution without drift, by plain loops.

    python3 scripts/reference/drift.py > crates/icl-core/tests/reference/drift.json

No logarithm trick and no product of matrices: every mean is a loop over exp(sim/tau). The distribution without drift is that of
ALL orders of the noise rows, none is drawn; so panels are tiny. A row of the noise that equals an anchor or its positive is no
noise of that anchor. Where an anchor's sample is a row of the noise, the row at its position takes the anchor's place: with its own
positive, or, if it has none, with the similarity of the replaced anchor to its positive.
"""

import itertools
import json
import math
import sys

import numpy as np

SEED = 20261123
TAU, K = 0.3, 31.0


def similarity(a, b):
    return sum(x * y for x, y in zip(a, b)) / math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))


def f(a, b):
    return math.exp(similarity(a, b) / TAU)


def bias(positive, e_old, e_new, alpha):
    e_all = (1 - alpha) * e_old + alpha * e_new
    return math.log(positive + K * e_old) - math.log(positive + K * e_all)


def statistic(anchors, rows, n_old, alpha):
    """Mean over anchors (embedding, f of the positive, rows that are itself); `rows` in their order, with their numbers."""
    total = 0.0
    for anchor, positive, own in anchors:
        means = []
        for part in [rows[:n_old], rows[n_old:]]:
            values = [f(anchor, row) for number, row in part if number not in own]
            means.append(sum(values) / len(values))
        total += bias(positive, means[0], means[1], alpha)
    return total / len(anchors)


def case(name, groups, old, new, alpha=None):
    noise = old + new
    n_old = len(old)
    alpha = len(new) / len(noise) if alpha is None else alpha
    rows = list(enumerate(noise))
    equal = lambda row: {number for number, other in rows if other == row}
    known = {}
    prepared = []
    for pairs in groups:
        group = []
        for anchor, positive in pairs:
            own = equal(anchor) | equal(positive)
            entry = (anchor, f(anchor, positive), own)
            home = min(equal(anchor) or equal(positive), default=None)
            if home is not None:
                known[home] = entry
            group.append((home, entry))
        prepared.append(group)

    def moved(group, order):
        for home, entry in group:
            if home is None:
                yield entry
                continue
            number, row = order[home]
            yield known.get(number, (row, entry[1], equal(row)))

    found = [statistic([entry for _, entry in group], rows, n_old, alpha) for group in prepared]
    null = [
        [abs(statistic(list(moved(group, order)), list(order), n_old, alpha)) for group in prepared]
        for order in itertools.permutations(rows)
    ]
    columns = list(zip(*null))
    return {
        "name": name,
        "groups": [[[list(x) for x in side] for side in zip(*pairs)] for pairs in groups],
        "old": [list(x) for x in old],
        "new": [list(x) for x in new],
        "temperature": TAU,
        "negatives": K,
        "alpha": alpha,
        "n_self_pairs": sum(len(entry[2]) for group in prepared for _, entry in group),
        "bias_inference": found,
        "null_mean": [sum(column) / len(column) for column in columns],
        "null_sd": [float(np.std(column)) for column in columns],
        # The share of orders at least as far from 0 as the panel, up to rounding.
        "share_at_least": [
            sum(size >= abs(s) - 1e-12 for size in column) / len(column) for s, column in zip(found, columns)
        ],
    }


def main():
    rng = np.random.default_rng(SEED)
    draw = lambda n, shift=0.0: [tuple(row) for row in (rng.standard_normal((n, 3)) + [shift, 0, 0]).tolist()]
    view = lambda rows: [tuple(row) for row in (np.array(rows) + 0.3 * rng.standard_normal((len(rows), 3))).tolist()]
    pairs = lambda rows: list(zip(rows, view(rows)))
    apart = draw(3)
    a, b = draw(4), draw(3, 1.0)
    c, d = draw(3), draw(4)
    e = pairs(draw(3))
    twice = draw(2)
    cases = [
        case("apart", [pairs(apart)], draw(3), draw(4)),
        case("anchors are the old noise", [pairs(a)], a, b),
        case("some anchors are, of old and new data", [pairs(c[:2] + draw(1)), pairs(d[:3])], c, d),
        case("positives are the old noise", [e], [positive for _, positive in e], draw(4), 0.2),
        case("a row occurs again", [pairs(twice)], twice + [twice[0]] + draw(1), draw(3)),
    ]
    stamp = {"versions": f"Python {sys.version.split()[0]}, NumPy {np.__version__}", "seed": SEED}
    json.dump(stamp | {"cases": cases}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
