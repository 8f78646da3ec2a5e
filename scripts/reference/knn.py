"""The k nearest neighbours by scikit-learn: cosine similarity, weighted and uniform votes.

    python3 scripts/reference/knn.py > crates/icl-eval/tests/reference/knn.json
"""

import json
import sys

import numpy as np
import sklearn
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

SEED = 20261125
N_FOLDS = 5


def clouds(rng, counts, d, distance):
    """Classes that overlap, rows of very different lengths."""
    y = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    means = rng.normal(size=(len(counts), d))
    means *= distance / np.sqrt(2) / np.linalg.norm(means, axis=1, keepdims=True)
    x = (rng.normal(size=(len(y), d)) + means[y]) * 10.0 ** rng.uniform(-1, 1, (len(y), 1))
    return np.round(x, 5), 3 * y


def classifier(k, temperature, x, y):
    weights = "uniform"
    if temperature is not None:
        # Distances are 1 − cosine similarity.
        weights = lambda distances: np.exp((1 - distances) / temperature)
    return KNeighborsClassifier(k, weights=weights, metric="cosine", algorithm="brute").fit(x, y)


def run(x, y, folds, k, temperature):
    """The predictions of every sample from outside its fold; no class ties with another."""
    predictions = np.empty(len(y), dtype=int)
    accuracies = []
    for fold in range(N_FOLDS):
        train, test = folds != fold, folds == fold
        fitted = classifier(min(k, train.sum()), temperature, x[train], y[train])
        votes = np.sort(fitted.predict_proba(x[test]), axis=1)
        # scikit-learn gives a tie to the lowest class.
        assert (votes[:, -1] - votes[:, -2]).min() > 1e-9, "a tie between classes"
        predictions[test] = fitted.predict(x[test])
        accuracies.append((predictions[test] == y[test]).mean())
    return {
        "k": k,
        "temperature": temperature,
        "predictions": predictions.tolist(),
        "accuracies": accuracies,
        "mean": np.mean(accuracies),
        "std": np.std(accuracies),
    }


def case(name, x, y, settings):
    folds = np.empty(len(y), dtype=int)
    outer = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
    for k, (_, test) in enumerate(outer.split(x, y)):
        folds[test] = k
    runs = [run(x, y, folds, k, temperature) for k, temperature in settings]
    print(f"{name}: {[run['mean'] for run in runs]}", file=sys.stderr)
    return {
        "name": name,
        "d": x.shape[1],
        "embeddings": x.ravel().tolist(),
        "labels": y.tolist(),
        "folds": folds.tolist(),
        "runs": runs,
    }


def main():
    rng = np.random.default_rng(SEED)
    # Uniform votes of two classes cannot tie where k is odd.
    two = [(1, None), (7, None), (20, 0.07), (31, None), (200, 0.07), (200, 1.0)]
    many = [(1, None), (1, 0.07), (20, 0.07), (20, 0.01), (200, 0.07)]
    cases = [
        case("two classes", *clouds(rng, [80, 60], 8, 2.0), two),
        case("five classes", *clouds(rng, [50, 40, 40, 30, 20], 12, 3.5), many),
        case("wider than long", *clouds(rng, [20, 25, 15], 100, 6.0), many),
    ]
    versions = {"numpy": np.__version__, "scikit-learn": sklearn.__version__}
    json.dump({"seed": SEED, "versions": versions, "cases": cases}, sys.stdout, separators=(",", ":"))


if __name__ == "__main__":
    main()
