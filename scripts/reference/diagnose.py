"""What `icl diagnose` must answer, straight from the paper's formulas, in double precision.

Every quantity is a plain double loop over exp(sim/tau) as Eq. 1, 2, 6 and 8 print it: no logarithm
trick, nothing vectorised. Double precision holds exp(100), so none is needed. Rows of the noise that equal
the anchor or its positive are none of its noise. The embeddings are written as NumPy files of several types, byte orders and memory orders.

    python3 scripts/reference/diagnose.py crates/icl-cli/tests/reference/diagnose
"""

import itertools
import json
import math
import pathlib
import statistics
import sys

import numpy as np

SEED = 20261121
D = 5


def similarity(a, b):
    norms = math.sqrt(sum(x * x for x in a)) * math.sqrt(sum(x * x for x in b))
    return sum(x * y for x, y in zip(a, b)) / norms if norms > 0 else 0.0


def f(a, b, tau):
    return math.exp(similarity(a, b) / tau)


def mean(values):
    return math.fsum(values) / len(values)


def others(rows, a, p):
    return [row for row in rows if row != a and row != p]


def nce(positive, noise, k):
    return -math.log(positive / (positive + k * noise))


def diagnose(sets, tau, k, alpha):
    anchors, positives, old, new = (sets[name] for name in ["anchors", "positives", "old", "new"])
    rows = {
        name: []
        for name in [
            "nce1_old",
            "nce1_new",
            "nce1_all",
            "nce2",
            "change_ratio",
            "bias_inference",
            "bias_fine_tuning",
        ]
    }
    for a, p in zip(anchors, positives):
        positive = f(a, p, tau)
        e_old = mean([f(a, x, tau) for x in others(old, a, p)])
        e_new = mean([f(a, x, tau) for x in others(new, a, p)])
        e_all = (1 - alpha) * e_old + alpha * e_new
        ratio = (positive + k * e_new) / (positive + k * e_old)
        rows["nce1_old"].append(nce(positive, e_old, k))
        rows["nce1_new"].append(nce(positive, e_new, k))
        rows["nce1_all"].append(nce(positive, e_all, k))
        rows["change_ratio"].append(ratio)
        rows["nce2"].append(math.log(alpha * ratio + (1 - alpha)))
        rows["bias_inference"].append(rows["nce1_old"][-1] - rows["nce1_all"][-1])
        rows["bias_fine_tuning"].append(rows["nce1_new"][-1] - rows["nce1_all"][-1])
    return {"mean": {name: mean(row) for name, row in rows.items()}, "per_sample": rows}


def ranking(sets):
    """AUC, and the share of all draws of K noise samples that are below the positive, by listing them.

    A draw with c samples as high as the positive counts 1/(c + 1): one of c + 1 equal scores is taken as the highest.
    """
    pairs = list(zip(sets["anchors"], sets["positives"]))
    noises = [others(sets["old"] + sets["new"], a, p) for a, p in pairs]
    aucs, right = [], {k: [] for k in [1, 4, min(map(len, noises))]}
    for (a, p), noise in zip(pairs, noises):
        higher = [similarity(a, p) - similarity(a, x) for x in noise]
        tied = [abs(distance) < 1e-9 for distance in higher]
        above = [distance < -1e-9 for distance in higher]
        below = [not one and not other for one, other in zip(tied, above)]
        aucs.append(mean([one + other / 2 for one, other in zip(below, tied)]))
        for k, of in right.items():
            draws = list(itertools.combinations(range(len(noise)), k))
            of.append(mean([
                0.0 if any(above[i] for i in drawn) else 1 / (1 + sum(tied[i] for i in drawn))
                for drawn in draws
            ]))
    auc = mean(aucs)
    return {
        "auc": auc,
        "mu": math.sqrt(2) * statistics.NormalDist().inv_cdf(auc),
        "right_predictions": [[k, mean(of)] for k, of in right.items()],
    }


def n_self_pairs(sets):
    noise = sets["old"] + sets["new"]
    return sum(len(noise) - len(others(noise, a, p)) for a, p in zip(sets["anchors"], sets["positives"]))


def draw(rng):
    """Four sets: f64, f32, f64 in Fortran's order, f32 with the bytes the other way round."""
    anchors = rng.standard_normal((4, D))
    positives = (anchors + 0.4 * rng.standard_normal((4, D))).astype("<f4")
    old = np.asfortranarray(rng.standard_normal((6, D)))
    new = (rng.standard_normal((3, D)) + [1, 0, 0, 0, 0]).astype(">f4")
    # A zero vector has no direction: it is as similar to everything as a right angle is.
    anchors[3] = 0
    old[5] = 0
    return {"anchors": anchors, "positives": positives, "old": old, "new": new}


def swap(sets):
    """The same with the types handed round, so that each set has been read in every way."""
    return {
        "anchors": np.asfortranarray(sets["anchors"].astype("<f4")),
        "positives": sets["positives"].astype(">f8"),
        "old": sets["old"].astype(">f4", order="C"),
        "new": np.asfortranarray(sets["new"].astype("<f8")),
    }


def own(rng):
    """Anchors that are rows of the old noise, of which one occurs twice, and a positive that is a row of the new noise."""
    old = rng.standard_normal((6, D))
    old[4] = old[1]
    positives = old[:4] + 1.5 * rng.standard_normal((4, D))
    new = rng.standard_normal((4, D)) + [1, 0, 0, 0, 0]
    new[2] = positives[3]
    return {"anchors": old[:4], "positives": positives, "old": old, "new": new}


def main(folder):
    rng = np.random.default_rng(SEED)
    mixed = draw(rng)
    cases = []
    for name, sets in [("mixed", mixed), ("swapped", swap(mixed)), ("own", own(rng))]:
        for file, values in sets.items():
            np.save(folder / f"{name}-{file}.npy", values)
        lists = {file: values.astype("f8").tolist() for file, values in sets.items()}
        default = len(lists["new"]) / (len(lists["old"]) + len(lists["new"]))
        for tau, k, alpha in [
            (0.1, 31, None),
            (0.5, 7.5, None),
            (0.01, 31, None),
            (0.1, 31, 0),
            (0.1, 4096, 1),
            (0.05, 1, 0.8),
            (1, 31, 0.001),
        ]:
            used = default if alpha is None else alpha
            cases.append(
                {
                    "sets": name,
                    "temperature": tau,
                    "negatives": k,
                    "alpha": alpha,
                    "expected": diagnose(lists, tau, k, used) | ranking(lists) | {"alpha": used, "n_self_pairs": n_self_pairs(lists)},
                }
            )
    stamp = {
        "script": "scripts/reference/diagnose.py",
        "python": sys.version.split()[0],
        "numpy": np.__version__,
        "seed": SEED,
    }
    text = json.dumps(stamp | {"cases": cases}, indent=1)
    (folder / "cases.json").write_text(text + "\n")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
