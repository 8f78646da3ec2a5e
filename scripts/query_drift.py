#!/usr/bin/env python3
"""Measures what a recommender ranks after an update while its stored items are those of the encoder before.

Query drift compensation (Goswami et al., 2025, arXiv:2506.00037) leaves stored embeddings as they are, updates by
distillation, and moves queries back by the mean drift of the queries of the new data. Here it stands beside stored
items without it, beside a linear map of the queries, and beside items that are embedded again.

Usage: scripts/query_drift.py ICL INTERACTIONS FOLDER [SEEDS]
  ICL           the program
  INTERACTIONS  NAME.inter, as scripts/data/ml-100k.sh makes it
  FOLDER        a new folder for everything
  SEEDS         the number of seeds, from 0 (5)

The last tenth of all interactions by time is the test; of what is before it the last three tenths are new. Items that
come later than the first 60 % are left out: no old encoder has them. Printed: nDCG@10 of a test interaction's item
among all items that its user has not seen, by encoder and way of search: the mean over the seeds, and its difference to
no update with half of the 95 % interval.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
from scipy import stats

METHODS = ["warm", "icl", "distillation"]
TRAINING = ["--negatives", "31", "--batch-size", "256", "--stop", "never"]


def prepared(source, folder):
    """Writes the interactions whose items are known, in order of time; returns their users and items."""
    head, *lines = source.read_text().splitlines()
    lines.sort(key=lambda line: float(line.split("\t")[3]))
    known = {line.split("\t")[1] for line in lines[: int(0.6 * len(lines))]}
    lines = [line for line in lines if line.split("\t")[1] in known]
    (folder / "all.inter").write_text("\n".join([head, *lines]) + "\n")
    return [(user, item) for user, item, *_ in (line.split("\t") for line in lines)]


def ndcg(queries, items, tests, histories):
    """Mean nDCG@10 of queries (n x d) against items (m x d); `tests` has the place of each query's item."""
    total = 0.0
    for query, (user, item, place) in zip(queries, tests):
        scores = items @ query
        seen = [at for at, when in histories[user] if when < place and at != item]
        scores[seen] = -np.inf
        rank = np.sum(scores > scores[item])
        total += 1 / np.log2(rank + 2) if rank < 10 else 0.0
    return total / len(tests)


def main(icl, source, folder, n_seeds="5"):
    icl, source, folder = str(Path(icl).resolve()), Path(source).resolve(), Path(folder)
    folder.mkdir()

    def run(*line):
        done = subprocess.run([icl, *map(str, line)], cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"icl {' '.join(map(str, line))}\n{done.stderr}")

    rows = prepared(source, folder)
    run("split", "--data", "all.inter", "--split", "time", "--alpha", 0.1, "--out", "whole")
    run("split", "--data", "whole/old", "--split", "time", "--alpha", 0.3, "--out", "train")
    n_old, n_train = (
        sum(len(path.read_text().splitlines()) - 1 for path in (folder / part).glob("*.inter"))
        for part in ("train/old", "whole/old")
    )
    number = {item: at for at, item in enumerate(dict.fromkeys(item for _, item in rows))}
    # Each interaction but a user's first is a row of the embeddings, in the order of the file.
    histories, samples = {}, []
    for place, (user, item) in enumerate(rows):
        if user in histories:
            samples.append((user, number[item], place))
        histories.setdefault(user, []).append((number[item], place))
    places = np.array([place for *_, place in samples])
    is_new, is_test = (places >= n_old) & (places < n_train), places >= n_train
    tests = [sample for sample, test in zip(samples, is_test) if test]

    def embedded(encoder, name):
        """Queries of all samples, and an embedding of each item."""
        run("embed", "--from", encoder, "--data", "all.inter", "--views", 2, "--out", f"{name}.npy")
        queries, positives = np.load(folder / f"{name}.npy"), np.load(folder / f"{name}.positives.npy")
        items = np.zeros((len(number), positives.shape[1]), positives.dtype)
        for (_, item, _), positive in zip(samples, positives):
            assert not items[item].any() or np.array_equal(items[item], positive), "the rows are in another order"
            items[item] = positive
        assert items.any(axis=1).all(), "an item without an embedding"
        return queries, items

    def unit(vectors):
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    counts = np.zeros((len(number), 1))
    for _, item in rows[:n_train]:
        counts[number[item]] += 1
    print("popularity", f"{ndcg(np.ones((len(tests), 1)), counts, tests, histories):.4f}")

    found = {}
    for seed in range(int(n_seeds)):
        seeded = [*TRAINING, "--seed", seed]
        first = f"{seed}/first"
        run("train", "--data", "train/old", "--epochs", 10, *seeded, "--out", first)
        before, stored = embedded(f"{first}/encoder.safetensors", f"{seed}/before")

        def ranks(name, queries, items):
            found.setdefault(name, []).append(ndcg(queries, items, tests, histories))

        ranks("no update", before[is_test], stored)
        for method in METHODS:
            out = f"{seed}/{method}"
            parts = ["--old", "train/old", "--new", "train/new"]
            budget = ["--budget", "25%", "--epochs", 1000, "--hold-out", 0, "--accept"]
            line = ["--from", f"{first}/encoder.safetensors", *parts, "--method", method, *budget, *seeded]
            run("update", *line, "--out", out)
            after, again = embedded(f"{out}/encoder.safetensors", f"{seed}/{method}-after")
            drift = (after[is_new] - before[is_new]).mean(axis=0)
            ones = np.ones((len(after), 1), after.dtype)
            linear = np.linalg.lstsq(np.hstack([after, ones])[is_new], before[is_new], rcond=None)[0]
            ranks(f"{method}: items embedded again", after[is_test], again)
            ranks(f"{method}: stored items", after[is_test], stored)
            ranks(f"{method}: stored items, mean drift removed", unit(after[is_test] - drift), stored)
            mapped = (np.hstack([after, ones]) @ linear)[is_test]
            ranks(f"{method}: stored items, queries by a linear map", unit(mapped), stored)
        for name, values in found.items():
            print(seed, name, f"{values[-1]:.4f}", flush=True)

    print()
    base = np.array(found["no update"])
    for name, values in found.items():
        values = np.array(values)
        half = stats.t.ppf(0.975, len(values) - 1) * stats.sem(values - base) if len(values) > 1 else float("nan")
        print(f"| {name} | {values.mean():.4f} | {(values - base).mean():+.4f} ± {half:.4f} |")


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    main(*sys.argv[1:])
