"""The nearest of a few labelled samples by scikit-learn: cosine similarity, on fixed draws.

    python3 scripts/reference/few_labels.py > crates/icl-eval/tests/reference/few_labels.json
"""

import json
import sys

import numpy as np
import sklearn
from sklearn.neighbors import KNeighborsClassifier

SEED = 20261126
N_DRAWS = 4


def clouds(rng, counts, d, distance):
    """Classes that overlap, rows of very different lengths."""
    y = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    means = rng.normal(size=(len(counts), d))
    means *= distance / np.sqrt(2) / np.linalg.norm(means, axis=1, keepdims=True)
    x = (rng.normal(size=(len(y), d)) + means[y]) * 10.0 ** rng.uniform(-1, 1, (len(y), 1))
    return np.round(x, 5), 3 * y


def case(rng, name, x, y, n_labels):
    draws, accuracies = [], []
    for _ in range(N_DRAWS):
        of_class = [rng.permutation(np.flatnonzero(y == label))[:n_labels] for label in np.unique(y)]
        labelled = np.sort(np.concatenate(of_class))
        rest = np.setdiff1d(np.arange(len(y)), labelled)
        nearest = KNeighborsClassifier(1, metric="cosine", algorithm="brute").fit(x[labelled], y[labelled])
        draws.append(labelled.tolist())
        accuracies.append(nearest.score(x[rest], y[rest]))
    print(f"{name}: {accuracies}", file=sys.stderr)
    return {
        "name": name,
        "d": x.shape[1],
        "embeddings": x.ravel().tolist(),
        "labels": y.tolist(),
        "draws": draws,
        "accuracies": accuracies,
    }


def main():
    rng = np.random.default_rng(SEED)
    cases = [
        case(rng, "two classes", *clouds(rng, [60, 40], 6, 2.0), 5),
        case(rng, "five classes", *clouds(rng, [30, 30, 25, 20, 15], 10, 4.0), 5),
        case(rng, "one label", *clouds(rng, [20, 20, 20], 24, 5.0), 1),
    ]
    versions = {"numpy": np.__version__, "scikit-learn": sklearn.__version__}
    json.dump({"seed": SEED, "versions": versions, "cases": cases}, sys.stdout, separators=(",", ":"))


if __name__ == "__main__":
    main()
