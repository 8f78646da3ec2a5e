"""The effective rank of matrices (RankMe, Garrido et al., 2023) by NumPy in double precision.

    python3 scripts/reference/effective_rank.py > crates/icl-eval/tests/reference/effective_rank.json
"""

import json
import sys

import numpy as np

SEED = 20261123


def effective_rank(rows):
    values = np.linalg.svd(rows, compute_uv=False)
    shares = values / values.sum()
    shares = shares[shares > 0]
    return float(np.exp(-(shares * np.log(shares)).sum()))


def main():
    rng = np.random.default_rng(SEED)
    tall = rng.standard_normal((40, 6)) * np.array([3, 1, 1, 0.3, 0.1, 0.001])
    cases = {
        "tall": tall,
        "tall, with a mean": tall + 5.0,
        "wide": rng.standard_normal((5, 12)),
        "square": rng.standard_normal((7, 7)),
        "after a rectifier": np.maximum(rng.standard_normal((30, 8)) - 0.5, 0.0),
    }
    listed = [{"name": name, "rows": rows.tolist(), "rank": effective_rank(rows)} for name, rows in cases.items()]
    json.dump({"version": f"NumPy {np.__version__}", "seed": SEED, "cases": listed}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
