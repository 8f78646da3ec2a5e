"""Embeddings of exported encoders by other programs: NumPy, ONNX Runtime, torchvision.

    export.py numpy FILE.safetensors DATA EMBEDDINGS.npy
    export.py onnx FILE.onnx DATA EMBEDDINGS.npy
    export.py torchvision FILE.safetensors DATA EMBEDDINGS.npy

DATA is a table (.csv), a folder with grey images of the encoder's side (IDX) or a folder of graphs with node labels.
Prints the largest distance to EMBEDDINGS, and the largest value of these. Called by the tests of `icl export`.
"""

import csv
import json
import sys
from pathlib import Path

import numpy as np


def safetensors(path):
    """Reads a safetensors file without its library: tensors and metadata."""
    content = Path(path).read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    metadata = header.pop("__metadata__")
    types = {"F32": np.float32, "F64": np.float64, "I64": np.int64}
    tensors = {}
    for name, info in header.items():
        begin, end = (8 + length + at for at in info["data_offsets"])
        values = np.frombuffer(content[begin:end], types[info["dtype"]])
        tensors[name] = values.reshape(info["shape"])
    return tensors, metadata


def table(path, names, means):
    """Returns the features of a table by their names; missing numbers are the mean."""
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    columns = set(rows[0])
    features = []
    for name, mean in zip(names, means):
        if name in columns:
            values = [float(row[name]) if row[name] else mean for row in rows]
        elif name.endswith(" is missing"):
            values = [float(not row[name.removesuffix(" is missing")]) for row in rows]
        else:
            column, _, text = name.partition("=")
            values = [float(row[column] == text) for row in rows]
        features.append(values)
    return np.array(features).T


def images(folder, views):
    """Returns grey images as the views of an encoder have them, [n, 1, side, side]."""
    content = (Path(folder) / "train-images-idx3-ubyte").read_bytes()
    n, height, width = np.frombuffer(content[4:16], ">i4")
    x = np.frombuffer(content[16:], np.uint8).reshape(n, 1, height, width) / 255
    if "mean" in views:
        x = (x - np.mean(views["mean"])) / np.mean(views["std"])
    return x.astype(np.float32)


def normal(tensors, layer, x, epsilon):
    """Normalises columns by the statistics of the population, in double precision."""
    scaled = (x - tensors[f"{layer}.running_mean"]) / np.sqrt(tensors[f"{layer}.running_var"].astype(float) + epsilon)
    if f"{layer}.weight" not in tensors:
        return scaled
    return scaled * tensors[f"{layer}.weight"] + tensors[f"{layer}.bias"]


def mlp(tensors, config, x):
    """Embeddings of an MLP; rows of a table are standardised first."""
    if "mean" in tensors:
        x = (x - tensors["offset"]).astype(np.float32).astype(float)
        x = (x - tensors["mean"]) / tensors["sd"]
    x = x.reshape(len(x), -1).astype(float)
    for layer in range(config["n_layers"]):
        x = x @ tensors[f"layers.{layer}.linear.weight"].astype(float).T
        x = np.maximum(normal(tensors, f"layers.{layer}.norm", x, config["epsilon"]), 0)
    return x


def graphs(folder):
    """Yields the node features and the adjacency matrix with self-loops of each graph of a folder."""
    folder = Path(folder)
    lines = lambda ending: (folder / f"{folder.name}_{ending}.txt").read_text().split("\n")[:-1]
    graph_of = np.array([int(line) for line in lines("graph_indicator")])
    labels = np.array([int(line) for line in lines("node_labels")])
    features = (labels[:, None] == np.unique(labels)[None]).astype(float)
    edges = np.array([[int(end) - 1 for end in line.split(",")] for line in lines("A")])
    adjacency = np.eye(len(labels))
    adjacency[edges[:, 0], edges[:, 1]] = adjacency[edges[:, 1], edges[:, 0]] = 1
    for graph in np.unique(graph_of):
        nodes = np.flatnonzero(graph_of == graph)
        yield features[nodes], adjacency[np.ix_(nodes, nodes)]


def gcn(tensors, config, x, a):
    """Embedding of a graph by a GCN with sums as readout."""
    root = 1 / np.sqrt(a.sum(1))
    a = root[:, None] * a * root[None]
    readouts = []
    for layer in range(config["n_layers"]):
        x = a @ x @ tensors[f"convolutions.{layer}.lin.weight"].astype(float).T
        x = normal(tensors, f"norms.{layer}", x, config["epsilon"])
        x = np.where(x > 0, x, config["negative_slope"] * x)
        readouts.append(x.sum(0))
    return np.concatenate(readouts)


def gin(tensors, config, x, a):
    """Embedding of a graph by a GIN with sums as readout."""
    a = a + config["epsilon_gin"] * np.eye(len(a))
    readouts = []
    for layer in range(config["n_layers"]):
        at = lambda name: tensors[f"layers.{layer}.{name}"].astype(float)
        affine = lambda name, x: x @ at(f"{name}.weight").T + at(f"{name}.bias")
        x = np.maximum(affine("second", np.maximum(affine("first", a @ x), 0)), 0)
        x = normal(tensors, f"layers.{layer}.norm", x, config["epsilon"])
        readouts.append(x.sum(0))
    return np.concatenate(readouts)


def convnet(tensors, config, x):
    """Embeddings of images by four convolutions of stride 2, place by place."""
    for layer in range(4):
        weight = tensors[f"layers.{layer}.convolution.weight"].astype(float)
        n, _, height, width = x.shape
        padded = np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)])
        y = np.zeros((n, len(weight), (height + 1) // 2, (width + 1) // 2))
        for row in range(y.shape[2]):
            for column in range(y.shape[3]):
                window = padded[:, :, 2 * row : 2 * row + 3, 2 * column : 2 * column + 3]
                y[:, :, row, column] = np.einsum("nchw,ochw->no", window, weight)
        rows = y.transpose(0, 2, 3, 1)
        rows = normal(tensors, f"layers.{layer}.norm", rows, config["epsilon"])
        x = np.maximum(rows, 0).transpose(0, 3, 1, 2)
    return x.mean((2, 3))


def by_numpy(path, data):
    tensors, metadata = safetensors(path)
    config = json.loads(metadata["config"])
    kind = metadata["kind"]
    if kind == "mlp":
        return mlp(tensors, config, table(data, json.loads(metadata["features"]), tensors["mean"]))
    if kind == "image-mlp":
        return mlp(tensors, config, images(data, json.loads(metadata["views"])))
    if kind == "convnet":
        return convnet(tensors, config, images(data, json.loads(metadata["views"])))
    config = config.get("encoder", config)
    network = gcn if kind.startswith("gcn") else gin
    return np.stack([network(tensors, config, x, a) for x, a in graphs(data)])


def by_onnx(path, data):
    import onnxruntime

    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    metadata = session.get_modelmeta().custom_metadata_map
    (source,) = session.get_inputs()
    if source.name == "rows":
        means = [it["mean"] for it in json.loads(metadata["schema"])["statistics"]]
        x = table(data, json.loads(metadata["features"]), means)
    else:
        x = images(data, json.loads(metadata["views"]))
    (embeddings,) = session.run(["embeddings"], {source.name: x})
    # A batch of another size.
    (first,) = session.run(None, {source.name: x[:1]})
    assert np.allclose(first[0], embeddings[0], atol=1e-5), "batches of one"
    try:
        import onnx
    except ImportError:
        return embeddings
    onnx.checker.check_model(path, full_check=True)
    return embeddings


def by_torchvision(path, data):
    import torch
    import torchvision

    tensors, metadata = safetensors(path)
    network = torchvision.models.resnet18()
    config = json.loads(metadata["config"])
    channels = config["in_channels"]
    if config["stem"] == "small":
        network.conv1 = torch.nn.Conv2d(channels, 64, 3, 1, 1, bias=False)
        network.maxpool = torch.nn.Identity()
    elif channels != 3:
        network.conv1 = torch.nn.Conv2d(channels, 64, 7, 2, 3, bias=False)
    state = {name: torch.from_numpy(values.copy()) for name, values in tensors.items()}
    missing, unexpected = network.load_state_dict(state, strict=False)
    assert missing == ["fc.weight", "fc.bias"] and not unexpected, (missing, unexpected)
    network.fc = torch.nn.Identity()
    with torch.no_grad():
        x = images(data, json.loads(metadata["views"]))
        return network.eval()(torch.from_numpy(x)).numpy()


def main():
    program, path, data, expected = sys.argv[1:]
    by = {"numpy": by_numpy, "onnx": by_onnx, "torchvision": by_torchvision}[program]
    found, expected = by(path, data), np.load(expected)
    assert found.shape == expected.shape, (found.shape, expected.shape)
    print(np.abs(found - expected).max(), np.abs(expected).max())


if __name__ == "__main__":
    main()
