"""Maps between embeddings by SciPy and scikit-learn, and retrieval across versions by plain loops.

    python3 scripts/reference/alignment.py > crates/icl-eval/tests/reference/alignment.json

A map of low rank is found from the singular vectors of the fitted values of the augmented problem [A; sqrt(lambda)·1], not from
products of weights.
"""

import json
import math
import sys

import numpy as np
import scipy
import scipy.stats
import sklearn
from scipy.linalg import orthogonal_procrustes
from sklearn.linear_model import Ridge

SEED = 20261123


def cosine(a, b):
    return sum(x * y for x, y in zip(a, b)) / math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))


def recall(queries, gallery, k):
    own, kept = 0, 0
    for i, query in enumerate(queries):
        order = lambda rows: sorted(range(len(rows)), key=lambda j: (-cosine(query, rows[j]), j))
        own += i in order(gallery)[:k]
        wanted, found = ([j for j in order(rows) if j != i][:k] for rows in (queries, gallery))
        kept += len(set(wanted) & set(found))
    return {"own": own / len(queries), "neighbours": kept / len(queries) / k}


def affine(a, b, rank, ridge):
    centred = a - a.mean(0)
    penalty = ridge * (centred**2).sum() / a.shape[1]
    fit = Ridge(alpha=penalty, solver="svd").fit(a, b)
    weights = fit.coef_.T
    augmented = np.vstack([centred, math.sqrt(penalty) * np.eye(a.shape[1])]) @ weights
    _, _, directions = np.linalg.svd(augmented, full_matrices=False)
    weights = weights @ directions[:rank].T @ directions[:rank]
    return weights, b.mean(0) - a.mean(0) @ weights


def main():
    rng = np.random.default_rng(SEED)
    n, d = 40, 5
    old = rng.standard_normal((n, d)) * [3, 2, 1, 1, 0.5]
    turn = scipy.stats.ortho_group.rvs(d, random_state=SEED)
    new = np.round(old @ turn + 0.3 * rng.standard_normal((n, d)), 6)
    wide = np.round(old @ rng.standard_normal((d, 7)) + 0.2 * rng.standard_normal((n, 7)) + 2, 6)
    old = np.round(old, 6)
    rotation, _ = orthogonal_procrustes(old, new)
    maps = []
    for rank, ridge in [(5, 1e-6), (5, 0.3), (2, 1e-3)]:
        weights, offset = affine(old, wide, rank, ridge)
        maps.append({"rank": rank, "ridge": ridge, "weights": weights.ravel().tolist(), "offset": offset.tolist()})
    stamp = {"versions": f"NumPy {np.__version__}, SciPy {scipy.__version__}, scikit-learn {sklearn.__version__}", "seed": SEED}
    recalls = [{"k": k, "unmapped": recall(new, old, k), "mapped": recall(new, old @ rotation, k)} for k in (1, 10)]
    found = {
        "d": d,
        "d_wide": 7,
        "old": old.ravel().tolist(),
        "new": new.ravel().tolist(),
        "wide": wide.ravel().tolist(),
        "rotation": rotation.ravel().tolist(),
        "affine": maps,
        "recall": recalls,
        "distances": [1 - cosine(a, b) for a, b in zip(old @ rotation, new)],
    }
    json.dump(stamp | found, sys.stdout)
    print()


if __name__ == "__main__":
    main()
