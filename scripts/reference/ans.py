"""Reliability of labels and numbers of negatives (Wu, Wu and Huang, 2021), by SciPy in double precision.

    python3 scripts/reference/ans.py > crates/icl-core/tests/reference/ans.json

The probabilities are adaptive quadratures, the optima a search over Simpson's rule on a fine grid.
"""

import json
import sys

import numpy as np
import scipy
from scipy.integrate import quad, simpson
from scipy.special import owens_t
from scipy.stats import norm

GRID = np.linspace(-14, 14, 28 * 128 + 1)


def probability(mu, k):
    """The integral of phi(z) Phi(z + mu)^k."""
    inside = lambda z: np.exp(norm.logpdf(z) + k * norm.logcdf(z + mu))
    parts = [quad(inside, a, a + 1, epsabs=1e-16, epsrel=1e-13)[0] for a in range(-14, 14)]
    return float(np.sum(parts))


def by_k(separations, k_max):
    """Mean probability over the separations at K = 1, ..., k_max."""
    log_cdf = np.array([norm.logcdf(GRID + mu) for mu in separations])
    base = norm.logpdf(GRID)
    values = []
    for k in range(1, k_max + 1):
        values.append(simpson(np.exp(base + k * log_cdf), x=GRID, axis=-1).mean())
    return np.array(values)


def optimum(label, predictions, weight, k_max):
    a, b = by_k([label], k_max), by_k(predictions, k_max)
    v = weight * (a - b) + (1 - weight) * (1 - a - b + 2 * a * b)
    best = int(v.argmax())
    low = high = best
    while low > 0 and v[low - 1] >= v[best] - 0.001:
        low -= 1
    while high + 1 < k_max and v[high + 1] >= v[best] - 0.001:
        high += 1
    return {
        "label": label,
        # The prediction of a stage; null for the course of a whole training.
        "prediction": float(predictions[0]) if len(predictions) == 1 else None,
        "weight": weight,
        "k_max": k_max,
        "k": best + 1,
        "range": [low + 1, high + 1],
        "effectiveness": float(v[best]),
    }


def course(mu, end=3.0, n=120):
    """Midpoints of mu (1 - exp(-t)), t from 0 to end."""
    t = (np.arange(n) + 0.5) * end / n
    return mu * (1 - np.exp(-t))


def main():
    separations = [-1.5, 0.0, 0.3, 1.0, 2.4]
    counts = [0.5, 1, 4, 20, 100]
    of_auc = [0.05, 0.3, 0.5, 0.75, 0.7602, 0.918, 0.95, 0.957, 0.999999]
    optima = []
    for mu in [1.0, 2.4, float(np.sqrt(2) * norm.ppf(0.95))]:
        for weight in [0.9, 0.95, 1.0]:
            optima.append(optimum(mu, course(mu), weight, 150))
    for mu in [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.4, 2.0, 2.8]:
        for weight in [0.9, 1.0]:
            optima.append(optimum(mu, course(mu), weight, 600 if mu < 0.35 else 150))
    # Stages of training: one prediction instead of a course.
    for mu, stages in [(1.0, [0, 0.25, 0.5, 0.75, 0.95]), (2.4, [0, 0.6, 1.2, 1.8, 2.16])]:
        for prediction in stages:
            for weight in [0.9, 1.0]:
                optima.append(optimum(mu, [prediction], weight, 400))
    json.dump(
        {
            "versions": f"SciPy {scipy.__version__}, NumPy {np.__version__}",
            "probabilities": [[mu, k, probability(mu, k)] for mu in separations for k in counts],
            "owen": [
                [mu, float(norm.cdf(mu / np.sqrt(2)) - 2 * owens_t(mu / np.sqrt(2), 1 / np.sqrt(3)))]
                for mu in separations
            ],
            "separations": [[auc, float(np.sqrt(2) * norm.ppf(auc))] for auc in of_auc],
            "optima": optima,
        },
        sys.stdout,
        indent=1,
    )
    print()


main()
