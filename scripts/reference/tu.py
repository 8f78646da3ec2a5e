"""Reference values for the reader of TU data sets, by plain loops.

Reads each data set that is there with Python's own zipfile and split, builds sets of edges, and
computes the local degree profile with NumPy, one node after the other. For the embedded MUTAG,
PyTorch Geometric's LocalDegreeProfile is recorded as well. Only counts and sums are recorded of
the sets that may not be copied into the project.

    python3 scripts/reference/tu.py > crates/icl-data/tests/reference/tu.json

The data is looked for in the folder of `icl fetch`: the one that ICL_DATA_DIR names, else icl in the
cache folder. A set that is not there is named on the standard error and left out.
"""

import json
import math
import os
import platform
import sys
import zipfile
from pathlib import Path

import numpy
import torch
import torch_geometric
from torch_geometric.data import Data
from torch_geometric.transforms import LocalDegreeProfile

ROOT = Path(__file__).resolve().parents[2]
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
DATA = Path(os.environ.get("ICL_DATA_DIR", CACHE / "icl"))
EMBEDDED = ROOT / "crates" / "icl-data" / "data" / "MUTAG.zip"
SETS = ["MUTAG", "PTC_MR", "PROTEINS", "PROTEINS_full", "IMDB-BINARY", "IMDB-MULTI", "REDDIT-BINARY"]


def lines(archive, ending):
    names = [name for name in archive.namelist() if name.endswith(ending)]
    if not names:
        return None
    return archive.read(names[0]).decode().split("\n")[:-1]


def profile(neighbours):
    """Degree, and min, max, mean and (population) std of the neighbours' degrees."""
    rows = []
    for own in neighbours:
        degrees = [len(neighbours[other]) for other in own]
        if degrees:
            of = numpy.array(degrees, dtype=numpy.float64)
            rows.append([len(own), of.min(), of.max(), of.mean(), of.std()])
        else:
            rows.append([0.0] * 5)
    return numpy.array(rows)


def standardized(table):
    deviation = table.std(axis=0)
    constant = table.max(axis=0) == table.min(axis=0)
    deviation[constant] = 1.0
    table = (table - table.mean(axis=0)) / deviation
    table[:, constant] = 0.0
    return table


def reference(path):
    with zipfile.ZipFile(path) as archive:
        listed = [tuple(int(x) - 1 for x in line.split(",")) for line in lines(archive, "_A.txt")]
        graph_of = [int(line) - 1 for line in lines(archive, "_graph_indicator.txt")]
        classes = [int(line) for line in lines(archive, "_graph_labels.txt")]
        labels = lines(archive, "_node_labels.txt")
        attributes = lines(archive, "_node_attributes.txt")
    n_nodes = len(graph_of)
    loops = sum(a == b for a, b in listed)
    distinct = {(a, b) for a, b in listed if a != b}
    both = distinct | {(b, a) for a, b in distinct}
    neighbours = [[] for _ in range(n_nodes)]
    for a, b in sorted(both):
        neighbours[a].append(b)
    blocks = []
    if labels is not None:
        labels = [int(line) for line in labels]
        values = sorted(set(labels))
        one_hot = numpy.zeros((n_nodes, len(values)))
        for node, label in enumerate(labels):
            one_hot[node, values.index(label)] = 1.0
        blocks.append(one_hot)
    if attributes is not None:
        table = [[float(x) for x in line.split(",")] for line in attributes]
        blocks.append(standardized(numpy.array(table)))
    raw = profile(neighbours)
    if not blocks:
        blocks.append(standardized(numpy.log1p(raw)))
    features = numpy.concatenate(blocks, axis=1)
    class_labels = sorted(set(classes))
    # Sums with these weights notice values that stand in the wrong place.
    weights = numpy.array([((node * 7919) % 1009) / 1009 for node in range(n_nodes)])
    return neighbours, {
        "n_graphs": len(classes),
        "n_nodes": n_nodes,
        "n_edge_lines": len(listed),
        "n_distinct": len(distinct),
        "n_self_loops": loops,
        "n_mirrored": len(both) - len(distinct),
        "class_labels": class_labels,
        "n_class": [classes.count(label) for label in class_labels],
        "class_checksum": sum((i + 1) * class_labels.index(c) for i, c in enumerate(classes)) % 1000003,
        "size_checksum": sum((i % 1009) * g for i, g in enumerate(graph_of)) % 1000003,
        "edge_checksum": sum((a * 7919 + b) % 1009 for a, b in both),
        "d_features": features.shape[1],
        "feature_sums": (weights @ features).tolist(),
        "profile_sums": (weights @ raw).tolist(),
    }, graph_of


def geometric_profiles(neighbours, graph_of, n_graphs):
    """PyTorch Geometric's profile of the first graphs, in float32 as it computes it."""
    profiles = []
    for graph in range(n_graphs):
        nodes = [node for node, own in enumerate(graph_of) if own == graph]
        place = {node: index for index, node in enumerate(nodes)}
        pairs = [(place[a], place[b]) for a in nodes for b in neighbours[a]]
        data = Data(edge_index=torch.tensor(pairs).T, num_nodes=len(nodes))
        profiles.append(LocalDegreeProfile()(data).x.double().tolist())
    return profiles


def main():
    sets = {}
    for name in SETS:
        path = DATA / "graphs" / f"{name}.zip"
        if not path.exists():
            print(f"{name} is not there and left out", file=sys.stderr)
            continue
        _, sets[name], _ = reference(path)
        assert all(math.isfinite(x) for x in sets[name]["feature_sums"])
    neighbours, embedded, graph_of = reference(EMBEDDED)
    versions = {
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "torch": torch.__version__,
        "torch_geometric": torch_geometric.__version__,
    }
    record = {
        "script": "scripts/reference/tu.py",
        "seed": None,
        "versions": versions,
        "embedded_mutag": embedded,
        "embedded_mutag_profiles": geometric_profiles(neighbours, graph_of, 3),
        "sets": sets,
    }
    json.dump(record, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
