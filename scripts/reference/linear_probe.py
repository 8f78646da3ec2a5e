"""The linear probe by scikit-learn: single fits on standardised features, nested cross-validation.

    python3 scripts/reference/linear_probe.py > crates/icl-eval/tests/reference/linear_probe.json
"""

import json
import sys

import numpy as np
import scipy
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

SEED = 20261124
GRID = [1e-4, 1e-3, 1e-2, 1e-1]
N_FOLDS = 5
EXACT = {"solver": "lbfgs", "tol": 1e-10, "max_iter": 100_000}


def clouds(rng, counts, d, distance):
    """Classes that overlap, with features on very different scales, the last of them constant."""
    y = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    means = rng.normal(size=(len(counts), d))
    means *= distance / np.sqrt(2) / np.linalg.norm(means, axis=1, keepdims=True)
    x = (rng.normal(size=(len(y), d)) + means[y]) * 10.0 ** rng.uniform(-1, 2, d) + 3.0
    x[:, -1] = 0.1
    return np.round(x, 4), y


def loss(classifier, c, x, y):
    """What the fit minimises, divided by C and the number of samples."""
    own = classifier.predict_log_proba(x)[np.arange(len(y)), np.searchsorted(classifier.classes_, y)]
    return -own.mean() + 0.5 * (classifier.coef_**2).sum() / (c * len(y))


def fit(x, y, c):
    """A fit to the first two thirds; the classes of the rest."""
    n_train = 2 * len(y) // 3
    pipeline = make_pipeline(StandardScaler(), LogisticRegression(C=c, **EXACT))
    pipeline.fit(x[:n_train], y[:n_train])
    classifier = pipeline[-1]
    return {
        "c": c,
        "n_train": n_train,
        "weights": classifier.coef_.tolist(),
        "intercepts": classifier.intercept_.tolist(),
        "loss": loss(classifier, c, pipeline[0].transform(x[:n_train]), y[:n_train]),
        "predictions": pipeline.predict(x[n_train:]).tolist(),
    }


def case(name, x, y):
    folds = np.empty(len(y), dtype=int)
    accuracies, chosen = [], []
    outer = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
    for k, (train, test) in enumerate(outer.split(x, y)):
        folds[test] = k
        search = GridSearchCV(LogisticRegression(**EXACT), {"C": GRID}, cv=N_FOLDS)
        pipeline = make_pipeline(StandardScaler(), search).fit(x[train], y[train])
        accuracies.append(pipeline.score(x[test], y[test]))
        chosen.append(pipeline[-1].best_params_["C"])
    print(f"{name}: {np.mean(accuracies):.4f} {chosen}", file=sys.stderr)
    return {
        "name": name,
        "d": x.shape[1],
        "embeddings": x.ravel().tolist(),
        "labels": y.tolist(),
        "folds": folds.tolist(),
        "accuracies": accuracies,
        "chosen_c": chosen,
        "mean": np.mean(accuracies),
        "std": np.std(accuracies),
        "fits": [fit(x, y, c) for c in (1e-3, 1.0, 1e3)],
    }


def main():
    rng = np.random.default_rng(SEED)
    cases = [
        case("two classes", *clouds(rng, [110, 70], 8, 1.5)),
        case("four classes", *clouds(rng, [70, 60, 50, 30], 10, 2.5)),
        case("wider than long", *clouds(rng, [30, 25, 20], 120, 6.0)),
        case("two classes, wider than long", *clouds(rng, [25, 30], 80, 4.0)),
    ]
    versions = {
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }
    reference = {"seed": SEED, "versions": versions, "grid": GRID, "cases": cases}
    json.dump(reference, sys.stdout, separators=(",", ":"))


if __name__ == "__main__":
    main()
