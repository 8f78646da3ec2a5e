"""AUC of positives among their noise, by scikit-learn, one anchor after the other.

    python3 scripts/reference/ranks.py > crates/icl-core/tests/reference/ranks.json

Embeddings are small whole numbers, and the rows come in copies: similarities are ties by the dozen, of equal rows and
of equal directions. Similarities are rounded to 12 digits, so that a tie of the numbers is a tie in double precision.
"""

import json
import sys

import numpy as np
import sklearn
from sklearn.metrics import roc_auc_score

SEED = 20261122


def case(rng, n, n_old, d, top):
    draw = lambda: rng.integers(-top, top + 1, size=(n, d)).astype(float)
    anchors, positives = draw(), draw()
    # Half of the positives are their anchors, some of them longer; some rows occur again.
    positives[::2] = anchors[::2] * rng.integers(1, 4, size=(len(anchors[::2]), 1))
    positives[n // 2 : n // 2 + 4] = positives[:4]
    anchors[0] = 0
    length = lambda x: np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-300)
    scores = np.round((anchors / length(anchors)) @ (positives / length(positives)).T, 12)
    aucs = []
    for i in range(n):
        is_positive = np.arange(n) == i
        aucs.append(float(roc_auc_score(is_positive, scores[i])))
    return {
        "n_old": n_old,
        "anchors": anchors.tolist(),
        "positives": positives.tolist(),
        "aucs": aucs,
    }


def main():
    rng = np.random.default_rng(SEED)
    cases = [case(rng, 24, 15, 3, 2), case(rng, 17, 4, 6, 1), case(rng, 9, 6, 2, 9)]
    json.dump(
        {
            "versions": f"scikit-learn {sklearn.__version__}, NumPy {np.__version__}",
            "seed": SEED,
            "cases": cases,
        },
        sys.stdout,
    )
    print()


main()
