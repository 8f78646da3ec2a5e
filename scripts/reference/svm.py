"""The evaluation protocol by scikit-learn: nested cross-validation of SVC, single fits; folds and PCA.

    python3 scripts/reference/svm.py > experiments/icl-lab/tests/reference/svm.json
    python3 scripts/reference/svm.py --planes > crates/icl-eval/tests/reference/planes.json

The same for embeddings as large as a real data set's, too large to keep in the repository:

    python3 scripts/reference/svm.py --large > svm-large.json
    ICL_SVM_REFERENCE=$PWD/svm-large.json \
        cargo test --release -p icl-lab large_embeddings -- --ignored --nocapture
"""

import json
import sys
import time
import warnings

import numpy as np
import scipy
import sklearn
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

SEED = 20261121
GRID = [1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3]
N_FOLDS = 5


def stored(x):
    """Embeddings as a reader of the JSON sees them: three decimals, in single precision."""
    return np.round(x, 3).astype(np.float32).astype(np.float64)


def gaussians(rng, counts, d, distance):
    """Classes that overlap: unit normal clouds whose means lie about `distance` apart."""
    y = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    means = rng.normal(size=(len(counts), d))
    means *= distance / np.sqrt(2) / np.linalg.norm(means, axis=1, keepdims=True)
    return stored(rng.normal(size=(len(y), d)) + means[y]), y


def pooled(rng, n, d, shift):
    """Like a graph encoder's sums over nodes: positive, heavy-tailed, strongly correlated."""
    y = (rng.random(n) < 0.4).astype(int)
    n_nodes = np.exp(rng.normal(3.4 - shift * y, 0.7))
    profile = np.abs(rng.normal(size=(n, 5))) + 0.15 * y[:, None]
    x = 0.05 * n_nodes[:, None] * (profile @ rng.gamma(1.0, 1.0, (5, d)))
    return stored(np.maximum(x + 0.3 * rng.normal(size=(n, d)), 0)), y


def protocol_case(name, x, y):
    outer = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
    folds = np.empty(len(y), dtype=int)
    accuracies, chosen = [], []
    start = time.perf_counter()
    for k, (train, test) in enumerate(outer.split(x, y)):
        folds[test] = k
        # The estimator and the inner folds of cross_val_score(GridSearchCV(SVC(), cv=5), ...),
        # gone through by hand because cross_val_score does not tell the chosen C.
        search = GridSearchCV(SVC(), {"C": GRID}, cv=N_FOLDS).fit(x[train], y[train])
        accuracies.append(search.score(x[test], y[test]))
        chosen.append(search.best_params_["C"])
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
        "seconds": time.perf_counter() - start,
    }


def fit_case(case, c):
    """One fit on the first two thirds of a case; decision values and labels of the rest."""
    x = np.array(case["embeddings"]).reshape(-1, case["d"])
    y = np.array(case["labels"])
    n_train = 2 * len(y) // 3
    machine = SVC(C=c, decision_function_shape="ovo").fit(x[:n_train], y[:n_train])
    values = machine.decision_function(x[n_train:])
    dual = machine.dual_coef_
    if len(machine.classes_) == 2:
        # Of two classes scikit-learn turns the sign; libsvm's is positive for the first class.
        values, dual = -values[:, None], -dual
    signed = np.zeros((dual.shape[0], n_train))
    signed[:, machine.support_] = dual
    return {
        "case": case["name"],
        "c": c,
        "n_train": n_train,
        "gamma": machine._gamma,
        "decision_values": np.round(values, 9).tolist(),
        "predictions": machine.predict(x[n_train:]).tolist(),
        "dual_coefficients": np.round(signed, 9).tolist() if len(machine.classes_) == 2 else None,
    }


def fold_case(y, n_folds):
    folds = np.empty(len(y), dtype=int)
    for k, (_, test) in enumerate(StratifiedKFold(n_folds).split(np.zeros(len(y)), y)):
        folds[test] = k
    return {"labels": list(map(int, y)), "n_folds": n_folds, "folds": folds.tolist()}


def plane_case(name, x, _):
    pca = PCA(2, svd_solver="full").fit(x)
    axes = pca.components_
    largest = np.abs(axes).argmax(axis=1)
    signs = np.sign(axes[np.arange(2), largest])
    return {
        "case": name,
        "d": x.shape[1],
        "embeddings": x.ravel().tolist(),
        "axes": (axes * signs[:, None]).tolist(),
        "coordinates": np.round(pca.transform(x) * signs, 9).tolist(),
        "explained": pca.explained_variance_ratio_.tolist(),
    }


def embeddings(rng):
    return [
        ("hard", *gaussians(rng, [165, 135], 12, 1.3)),
        ("balanced", *gaussians(rng, [100, 100], 10, 1.1)),
        ("three-imbalanced", *gaussians(rng, [140, 60, 40], 8, 1.8)),
        ("pooled", *pooled(rng, 300, 8, 1.0)),
        ("five-with-a-tiny-class", *gaussians(rng, [40, 30, 25, 20, 5], 6, 2.0)),
    ]


def small(rng):
    cases = [protocol_case(*named) for named in embeddings(rng)]
    fits = [fit_case(case, c) for case in (cases[0], *cases[2:4]) for c in (1e-2, 1.0, 1e3)]
    return {"cases": cases, "fits": fits}


def planes(rng):
    named = embeddings(rng)
    folds = [
        fold_case(rng.integers(0, 2, 23), 5),
        fold_case(rng.permutation(np.repeat([4, 0, 7], [17, 6, 9])), 5),
        fold_case(rng.permutation(np.repeat([1, 0], [3, 20])), 5),
        fold_case(np.repeat([2, 1, 0], [5, 4, 7]), 3),
        fold_case(rng.permutation(np.repeat([0, 1], [2, 11])), 2),
    ]
    return {"folds": folds, "planes": [plane_case(*named[i]) for i in (1, 3, 4)]}


def large(rng):
    cases = [
        protocol_case("hard-1113x64", *gaussians(rng, [663, 450], 64, 1.3)),
        protocol_case("pooled-1113x64", *pooled(rng, 1113, 64, 0.8)),
        protocol_case("pooled-2000x64", *pooled(rng, 2000, 64, 1.2)),
        protocol_case("five-2000x64", *gaussians(rng, [900, 500, 300, 200, 100], 64, 2.5)),
    ]
    return {"cases": cases, "fits": []}


def main():
    # That the tiny class is smaller than the inner folds is what its case is for.
    warnings.filterwarnings("ignore", message="The least populated class")
    make = {"--large": large, "--planes": planes}.get(sys.argv[-1], small)
    versions = {
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }
    reference = {"seed": SEED, "versions": versions}
    reference |= make(np.random.default_rng(SEED))
    json.dump(reference, sys.stdout, separators=(",", ":"))


if __name__ == "__main__":
    main()
