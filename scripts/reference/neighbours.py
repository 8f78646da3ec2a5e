"""Nearest neighbours kept between two embeddings, by scikit-learn.

    python3 scripts/reference/neighbours.py > crates/icl-eval/tests/reference/neighbours.json
"""

import json
import sys

import numpy as np
import sklearn
from sklearn.neighbors import NearestNeighbors

SEED = 20261122


def stored(x):
    """Embeddings as a reader of the JSON sees them: four decimals."""
    return np.round(x, 4)


def neighbours(x, k):
    """For each row its k nearest others by cosine distance; none of them at a tie."""
    search = NearestNeighbors(n_neighbors=k, metric="cosine", algorithm="brute").fit(x)
    # Without an argument a row is not its own neighbour.
    distances, indices = search.kneighbors()
    if k + 1 < len(x):
        further, _ = NearestNeighbors(n_neighbors=k + 1, metric="cosine").fit(x).kneighbors()
        assert (further[:, k] - distances[:, k - 1]).min() > 1e-9, "a tie at the border"
    return indices


def case(name, before, after, ks):
    before, after = stored(before), stored(after)
    shares = []
    for k in ks:
        pairs = zip(neighbours(before, k), neighbours(after, k))
        shares.append(float(np.mean([len(set(a) & set(b)) / k for a, b in pairs])))
    print(f"{name}: {shares}", file=sys.stderr)
    return {
        "name": name,
        "d_before": before.shape[1],
        "d_after": after.shape[1],
        "before": before.ravel().tolist(),
        "after": after.ravel().tolist(),
        "k": ks,
        "share": shares,
    }


def main():
    rng = np.random.default_rng(SEED)
    x = rng.normal(size=(120, 8))
    pooled = np.abs(rng.normal(size=(90, 12))) * np.exp(rng.normal(3, 1, (90, 1)))
    cases = [
        case("a little noise", x, x + 0.2 * rng.normal(size=x.shape), [1, 5, 10, 119]),
        case("much noise", x, x + 2.0 * rng.normal(size=x.shape), [1, 10]),
        case("nothing in common", x, rng.normal(size=(120, 5)), [1, 10, 60]),
        case("a narrow cone", pooled, pooled * rng.uniform(0.8, 1.25, 12), [1, 10, 30]),
    ]
    versions = {"numpy": np.__version__, "scikit-learn": sklearn.__version__}
    json.dump({"seed": SEED, "versions": versions, "cases": cases}, sys.stdout, separators=(",", ":"))


if __name__ == "__main__":
    main()
