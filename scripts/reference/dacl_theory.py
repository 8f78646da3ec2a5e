"""Residuals of Theorem 2 of DACL (Verma et al., 2021) for a linear model, by NumPy in double precision.

    python3 scripts/reference/dacl_theory.py > crates/icl-core/tests/reference/dacl_theory.json

The partners are a finite, centred and skewed set, so that the expectation over them is a sum and its third moment is
not 0; the one over Gaussian noise is a Gauss-Hermite quadrature with 60 nodes.
"""

import json
import sys

import numpy as np

SEED = 20261126
D, N_PARTNERS, SIGMA = 5, 7, 0.8
ALPHAS = [0.08, 0.04, 0.02, 0.01]
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(60)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


def cross_entropy(q, y):
    """-log p(y) of the logit q."""
    return np.logaddexp(0, -q) if y == 1 else np.logaddexp(0, q)


def mixup(w, x, y, partners, alpha):
    """E loss(f(x + alpha (partner - x))) minus the terms of Eq. 7, with the factor 1/2 in c2."""
    mean = np.mean([cross_entropy(w @ (x + alpha * (partner - x)), y) for partner in partners])
    f, length = w @ x, np.linalg.norm(w)
    psi = 1 / (1 + np.exp(-f))
    slope = psi * (1 - psi)
    cosine = f / (length * np.linalg.norm(x))
    covariance = partners.T @ partners / len(partners)
    c1 = alpha * abs(cosine) * abs(y - psi) * np.linalg.norm(x)
    c2 = alpha**2 / 2 * cosine**2 * np.linalg.norm(x) ** 2 * slope
    c3 = alpha**2 / 2 * slope
    terms = cross_entropy(f, y) + c1 * length + c2 * length**2 + c3 * w @ covariance @ w
    return mean - terms


def gauss(w, x, y, alpha):
    """E loss(f(x + alpha z)), z ~ N(0, SIGMA^2), minus the terms of Eq. 8."""
    f, length = w @ x, np.linalg.norm(w)
    psi = 1 / (1 + np.exp(-f))
    mean = WEIGHTS @ cross_entropy(f + alpha * SIGMA * length * NODES, y)
    return mean - cross_entropy(f, y) - SIGMA**2 * alpha**2 / 2 * psi * (1 - psi) * length**2


def main():
    rng = np.random.default_rng(SEED)
    partners = rng.exponential(size=(N_PARTNERS, D))
    partners -= partners.mean(axis=0)
    cases = []
    while len(cases) < 4:
        w, x = np.round(rng.normal(size=D), 3), np.round(rng.normal(size=D), 3)
        f = w @ x
        # The sample is classified correctly, as the theorem assumes.
        y = int(f > 0)
        if not 0.5 < abs(f) < 2.5 or [case["label"] for case in cases].count(y) == 2:
            continue
        cases.append(
            {
                "weights": w.tolist(),
                "sample": x.tolist(),
                "label": y,
                "mixup": [mixup(w, x, y, partners, alpha) for alpha in ALPHAS],
                "gauss": [gauss(w, x, y, alpha) for alpha in ALPHAS],
            }
        )
    reference = {
        "seed": SEED,
        "versions": {"numpy": np.__version__},
        "alphas": ALPHAS,
        "sigma": SIGMA,
        "partners": partners.tolist(),
        "cases": cases,
    }
    for case in cases:
        for noise in ("mixup", "gauss"):
            r = np.array(case[noise])
            print(case["label"], noise, r[:-1] / r[1:], r, file=sys.stderr)
    json.dump(reference, sys.stdout, separators=(",", ":"))


if __name__ == "__main__":
    main()
