"""Muon for matrices and Adam for the rest, by NumPy in double precision.

    python3 scripts/reference/muon.py > crates/icl-train/tests/reference/muon.json

Layers are those of PyTorch, `[d_out, d_in]`, as in the authors' code; a linear weight is written down transposed, as Burn
has it. Burn holds m and the coefficients of the iteration in single precision, so they are rounded to it here.
"""

import json
import sys

import numpy as np

SEED = 20261126
RATE, FACTOR, WEIGHT_DECAY, STEPS = 3e-3, 20 / 3, 0.1, 5


def single(x):
    return float(np.float32(x))


MOMENTUM = single(0.95)
COEFFICIENTS = [single(x) for x in (3.4445, -4.7750, 2.0315)]


def orthogonal(g):
    a, b, c = COEFFICIENTS
    x = g / np.linalg.norm(g)
    is_tall = x.shape[0] > x.shape[1]
    x = x.T if is_tall else x
    for _ in range(5):
        gram = x @ x.T
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.T if is_tall else x


def muon(w, gradients, rate):
    """The parameter after each step. The momentum is a mean of gradients, as in the authors' code."""
    shape, w = w.shape, w.reshape(len(w), -1)
    mean = np.zeros_like(w)
    values = []
    for gradient in gradients:
        g = gradient.reshape(w.shape)
        mean = MOMENTUM * mean + (1 - MOMENTUM) * g
        u = orthogonal((1 - MOMENTUM) * g + MOMENTUM * mean)
        w = w * (1 - rate * WEIGHT_DECAY) - rate * max(1, w.shape[0] / w.shape[1]) ** 0.5 * u
        values.append(w.reshape(shape))
    return values


def adam(w, gradients, rate):
    b1, b2 = single(0.9), single(0.999)
    m, v = np.zeros_like(w), np.zeros_like(w)
    values = []
    for t, g in enumerate(gradients, 1):
        m = b1 * m + (1 - b1) * g
        v = b2 * v + (1 - b2) * g * g
        w = w - rate * (m / (1 - b1**t)) / (np.sqrt(v / (1 - b2**t)) + single(1e-8))
        values.append(w)
    return values


def main():
    rng = np.random.default_rng(SEED)
    draw = lambda shape: np.round(rng.normal(size=shape), 4)
    cases = []
    for name, shape, rule in (
        ("wide", (3, 5), muon),
        ("tall", (6, 2), muon),
        ("kernel", (4, 2, 3, 3), muon),
        ("narrow_kernel", (5, 1, 1, 2), muon),
        ("bias", (4,), adam),
        ("embedding", (4, 3), adam),
        ("positions", (2, 3), adam),
    ):
        start, gradients = draw(shape), [draw(shape) for _ in range(STEPS)]
        is_linear = rule is muon and len(shape) == 2
        as_burn = lambda x: (x.T if is_linear else x)
        values = rule(start, gradients, RATE * FACTOR if rule is muon else RATE)
        cases.append(
            {
                "name": name,
                "shape": list(as_burn(start).shape),
                "start": as_burn(start).ravel().tolist(),
                "gradients": [as_burn(g).ravel().tolist() for g in gradients],
                "values": [as_burn(value).ravel().tolist() for value in values],
            }
        )
    reference = {
        "seed": SEED,
        "versions": {"numpy": np.__version__},
        "learning_rate": RATE,
        "rate_factor": FACTOR,
        "weight_decay": WEIGHT_DECAY,
        "cases": cases,
    }
    json.dump(reference, sys.stdout, separators=(",", ":"))


if __name__ == "__main__":
    main()
