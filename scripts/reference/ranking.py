"""Ranks of targets among items: AUC, HR@k and nDCG@k, by scikit-learn and by sorting.

    python3 scripts/reference/ranking.py > crates/icl-eval/tests/reference/ranking.json
"""

import json
import sys

import numpy as np
import sklearn
from sklearn.metrics import ndcg_score, roc_auc_score
from sklearn.metrics.pairwise import cosine_similarity

SEED = 20261124
KS = [1, 5, 10, 40]


def measures(scores, target, excluded):
    """AUC, HR@k and nDCG@k of one query among the items that are not excluded."""
    kept = np.array([i for i in range(len(scores)) if i == target or i not in excluded])
    truth = (kept == target).astype(int)
    kept_scores = scores[kept]
    above = (kept_scores > scores[target]).sum()
    tied = (kept_scores == scores[target]).sum()
    hits = [float(np.mean([above + place < k for place in range(tied)])) for k in KS]
    ndcg = [float(ndcg_score([truth], [kept_scores], k=k)) for k in KS]
    return float(roc_auc_score(truth, kept_scores)), hits, ndcg


def case(name, queries, items, n_seen, rng):
    queries, items = np.round(queries, 4), np.round(items, 4)
    scores = cosine_similarity(queries, items)
    # No two scores of a query are so close that rounding decides, but for those that are equal.
    steps = np.diff(np.sort(scores, axis=1), axis=1)
    assert ((steps == 0) | (steps > 1e-9)).all()
    targets, excluded, all_measures = [], [], []
    for row in scores:
        seen = rng.choice(len(items), n_seen, replace=False)
        target = int(rng.integers(len(items)))
        targets.append(target)
        excluded.append(seen.tolist())
        all_measures.append(measures(row, target, set(seen.tolist())))
    auc, hits, ndcg = zip(*all_measures)
    return {
        "name": name,
        "d": items.shape[1],
        "queries": queries.ravel().tolist(),
        "items": items.ravel().tolist(),
        "targets": targets,
        "excluded": excluded,
        "auc": list(auc),
        "hit_rate": list(map(list, hits)),
        "ndcg": list(map(list, ndcg)),
    }


def main():
    rng = np.random.default_rng(SEED)
    # More queries than are scored by one product.
    plain = case("plain", rng.normal(size=(70, 6)), rng.normal(size=(150, 6)), 20, rng)
    # On two axes and with few lengths, the cosine has only a few values.
    axes = np.array([[1, 0], [0, 1], [-1, 0], [0, -2], [3, 0]])
    ties = case("ties", axes[rng.integers(5, size=30)], axes[rng.integers(5, size=60)], 7, rng)
    json.dump(
        {
            "script": "scripts/reference/ranking.py",
            "numpy": np.__version__,
            "scikit-learn": sklearn.__version__,
            "seed": SEED,
            "k": KS,
            "cases": [plain, ties],
        },
        sys.stdout,
    )
    print()


if __name__ == "__main__":
    main()
