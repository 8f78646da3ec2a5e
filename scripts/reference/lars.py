"""LARS in the form of SimCLR's code, by NumPy in double precision.

    python3 scripts/reference/lars.py > crates/icl-train/tests/reference/lars.json
"""

import json
import sys

import numpy as np

SEED = 20261125
TRUST, MOMENTUM, WEIGHT_DECAY = 0.001, 0.9, 1e-6


def steps(start, gradients, learning_rate):
    """The parameter after each step. Tensors of rank 1 have no weight decay and no scaling."""
    w = np.array(start, dtype=np.float64)
    v = np.zeros_like(w)
    values = []
    for gradient in gradients:
        g = np.array(gradient, dtype=np.float64)
        trust = 1.0
        if w.ndim > 1:
            g = g + WEIGHT_DECAY * w
            w_norm, g_norm = np.linalg.norm(w.ravel()), np.linalg.norm(g.ravel())
            if w_norm > 0 and g_norm > 0:
                trust = TRUST * w_norm / g_norm
        v = MOMENTUM * v + learning_rate * trust * g
        w = w - v
        values.append(w)
    return values


def case(name, start, gradients, learning_rate):
    start = np.array(start, dtype=np.float64)
    gradients = [np.array(gradient, dtype=np.float64) for gradient in gradients]
    values = steps(start, gradients, learning_rate)
    return {
        "name": name,
        "shape": list(start.shape),
        "learning_rate": learning_rate,
        "start": start.ravel().tolist(),
        "gradients": [gradient.ravel().tolist() for gradient in gradients],
        "values": [value.ravel().tolist() for value in values],
    }


def main():
    rng = np.random.default_rng(SEED)
    zeros = np.zeros((2, 2))
    kernel = np.round(rng.normal(size=(3, 2, 3, 3)), 4)
    cases = [
        case(
            "weights, the last gradient 0",
            [[1, -2], [0.5, 3]],
            [[[0.1, 0.2], [-0.3, 0.4]], [[0.05, -0.1], [0.2, 0.1]], zeros],
            2.0,
        ),
        case("bias", [1, -1], [[0.1, 0.2], [-0.1, 0.3]], 2.0),
        case("weights of 0", zeros[:1], [[[0.1, 0.2]], [[0.1, -0.2]]], 2.0),
        case("weights and gradient of 0", zeros, [zeros, zeros], 2.0),
        case("kernel", kernel, [np.round(rng.normal(size=kernel.shape), 4) for _ in range(4)], 0.3),
    ]
    reference = {
        "seed": SEED,
        "versions": {"numpy": np.__version__},
        "trust": TRUST,
        "momentum": MOMENTUM,
        "weight_decay": WEIGHT_DECAY,
        "cases": cases,
    }
    json.dump(reference, sys.stdout, separators=(",", ":"))


if __name__ == "__main__":
    main()
