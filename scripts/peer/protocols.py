"""scikit-learn's side of `cargo xtask bench protocols`: GridSearchCV(SVC()) on the folds of the benchmark.

    python3 scripts/peer/protocols.py N_JOBS

It writes its name, then reads the path of a JSON file a line, with embeddings, labels, folds and the grid for C,
and answers each with a line of JSON: seconds, accuracies and chosen C.
"""

import json
import sys
import time

import numpy as np
import sklearn
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC


def main():
    n_jobs = int(sys.argv[1])
    print(f"scikit-learn {sklearn.__version__}", flush=True)
    for line in sys.stdin:
        with open(line.strip()) as file:
            case = json.load(file)
        x = np.array(case["embeddings"]).reshape(-1, case["width"])
        y, folds = np.array(case["labels"]), np.array(case["folds"])
        accuracies, chosen = [], []
        start = time.perf_counter()
        for fold in range(folds.max() + 1):
            test = folds == fold
            search = GridSearchCV(SVC(), {"C": case["grid"]}, cv=5, n_jobs=n_jobs)
            search.fit(x[~test], y[~test])
            accuracies.append(search.score(x[test], y[test]))
            chosen.append(search.best_params_["C"])
        answer = {
            "seconds": time.perf_counter() - start,
            "accuracies": accuracies,
            "chosen_c": chosen,
        }
        print(json.dumps(answer), flush=True)


main()
