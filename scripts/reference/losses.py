"""Reference values of the losses, straight from the paper's formulas, in double precision.

Every quantity is a plain double loop over exp(sim/tau) as Eq. 1, 2, 6, 8 and 27 print it: no
logarithm trick, nothing vectorised. Double precision holds exp(100), so none is needed.

    python3 scripts/reference/losses.py > crates/icl-core/tests/reference/losses.json
"""

import json
import math
import sys

import numpy as np

SEED = 20261121


def similarity(a, b):
    norms = math.sqrt(sum(x * x for x in a)) * math.sqrt(sum(x * x for x in b))
    return sum(x * y for x, y in zip(a, b)) / norms if norms > 0 else 0.0


def f(a, b, tau):
    return math.exp(similarity(a, b) / tau)


def mean(values):
    return math.fsum(values) / len(values)


def nce(positive, noise, k):
    return -math.log(positive / (positive + k * noise))


def explicit_case(rng, tau, k, alpha, n, n_old, n_new, d, scale=1.0):
    draw = lambda rows: (rng.standard_normal((rows, d)) * scale).tolist()
    anchors, positives, old, new = draw(n), draw(n), draw(n_old), draw(n_new)
    rows = {name: [] for name in ["nce1_old", "nce1_new", "nce1_all", "change_ratio", "nce2"]}
    for a, p in zip(anchors, positives):
        positive = f(a, p, tau)
        e_old = mean([f(a, x, tau) for x in old])
        e_new = mean([f(a, x, tau) for x in new])
        ratio = (positive + k * e_new) / (positive + k * e_old)
        rows["nce1_old"].append(nce(positive, e_old, k))
        rows["nce1_new"].append(nce(positive, e_new, k))
        rows["nce1_all"].append(nce(positive, (1 - alpha) * e_old + alpha * e_new, k))
        rows["change_ratio"].append(ratio)
        rows["nce2"].append(math.log(alpha * ratio + (1 - alpha)))
    return {
        "temperature": tau, "negatives": k, "alpha": alpha,
        "anchors": anchors, "positives": positives, "old": old, "new": new,
        "expected": rows,
    }


def in_batch_case(rng, tau, k, n_old, n_new, d):
    n = n_old + n_new
    anchors = rng.standard_normal((n, d)).tolist()
    positives = (np.array(anchors) + 0.5 * rng.standard_normal((n, d))).tolist()
    alpha = n_new / n
    old, new = range(n_old), range(n_old, n)
    names = ["nce1_batch", "nce1_symmetric", "all", "old_noise", "new_noise", "ratio", "nce2"]
    rows = {name: [] for name in names}
    for i in range(n):
        positive = f(anchors[i], positives[i], tau)
        others = [j for j in range(n) if j != i]
        forward = nce(positive, mean([f(anchors[i], positives[j], tau) for j in others]), k)
        backward = nce(positive, mean([f(positives[i], anchors[j], tau) for j in others]), k)
        rows["nce1_batch"].append(forward)
        rows["nce1_symmetric"].append((forward + backward) / 2)
        e_old = mean([f(anchors[i], positives[j], tau) for j in old if j != i])
        e_new = mean([f(anchors[i], positives[j], tau) for j in new if j != i])
        rows["all"].append(nce(positive, (1 - alpha) * e_old + alpha * e_new, k))
        rows["old_noise"].append(nce(positive, e_old, k))
        rows["new_noise"].append(nce(positive, e_new, k))
        ratio = (positive + k * e_new) / (positive + k * e_old)
        rows["ratio"].append(ratio)
        rows["nce2"].append(math.log(alpha * ratio + (1 - alpha)))
    return {
        "temperature": tau, "negatives": k, "n_old": n_old,
        "anchors": anchors, "positives": positives, "expected": rows,
    }


def main():
    rng = np.random.default_rng(SEED)
    explicit = [
        explicit_case(rng, 0.1, 31, 0.3, 5, 7, 3, 4),
        explicit_case(rng, 0.5, 7.5, 0.5, 4, 2, 9, 3, scale=1e-3),
        explicit_case(rng, 0.01, 31, 0.7, 6, 5, 5, 3),
        explicit_case(rng, 0.1, 1, 0.0, 3, 4, 4, 2),
        explicit_case(rng, 0.1, 4096, 1.0, 3, 4, 4, 2),
        explicit_case(rng, 1.0, 31, 0.001, 3, 1, 1, 8),
    ]
    in_batch = [in_batch_case(rng, 0.1, 31, 5, 4, 4), in_batch_case(rng, 0.05, 8, 2, 6, 3)]
    json.dump(
        {
            "script": "scripts/reference/losses.py",
            "python": sys.version.split()[0],
            "numpy": np.__version__,
            "seed": SEED,
            "explicit": explicit,
            "in_batch": in_batch,
        },
        sys.stdout,
        indent=1,
    )
    print()


if __name__ == "__main__":
    main()
