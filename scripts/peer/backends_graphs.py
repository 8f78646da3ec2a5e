"""Training steps of a graph convolutional network by PyTorch Geometric, for the benchmark `backends`.

The graphs are read from the same files, or made by the same rule, as on the other side; the network
has the same shape and the batches hold the same graphs in the same order. Batches lie ready on the
device before the first step.
"""

import os
import zipfile
from pathlib import Path

import numpy
import torch
from torch.nn import functional
from torch_geometric.nn import GCNConv, global_add_pool
from torch_geometric.nn.conv.gcn_conv import gcn_norm

from backends_numbers import fastest, hashed, parameters, synchronise

N_BATCHES = 4
N_SYNTHETIC = 64
STRIDE = 7919
D_HIDDEN = 32
TEMPERATURE = 0.1
NEGATIVES = 31


class Graphs:
    """Graphs, node after node: simple and undirected, each edge in both directions."""

    def __init__(self, sizes, edges, features):
        self.offsets = numpy.concatenate(([0], numpy.cumsum(sizes)))
        n_nodes = self.offsets[-1]
        source, target = edges
        apart = source != target
        source, target = source[apart], target[apart]
        keys = numpy.concatenate((source * n_nodes + target, target * n_nodes + source))
        self.source, self.target = numpy.divmod(numpy.unique(keys), n_nodes)
        self.starts = numpy.searchsorted(self.source, self.offsets)
        self.features = self.profiles() if features is None else features

    def __len__(self):
        return len(self.offsets) - 1

    def profiles(self):
        """The local degree profile of each node: log(1 + x), standardised."""
        n_nodes = self.offsets[-1]
        degrees = numpy.bincount(self.source, minlength=n_nodes).astype(float)
        others = degrees[self.target]
        count = numpy.maximum(degrees, 1)
        mean = numpy.bincount(self.source, others, n_nodes) / count
        square = numpy.bincount(self.source, others**2, n_nodes) / count
        deviation = numpy.sqrt(numpy.maximum(square - mean**2, 0))
        least, greatest = numpy.full(n_nodes, numpy.inf), numpy.zeros(n_nodes)
        numpy.minimum.at(least, self.source, others)
        numpy.maximum.at(greatest, self.source, others)
        least[degrees == 0] = 0
        columns = numpy.stack((degrees, least, greatest, mean, deviation), axis=1)
        return standardised(numpy.log1p(columns)).astype(numpy.float32)

    def batch(self, number, n_samples):
        """Every graph twice, first all anchors, then all positives: features, edges, graph of node."""
        at = (number * n_samples + numpy.arange(n_samples)) * STRIDE % len(self)
        features, source, target, owner, n_nodes = [], [], [], [], 0
        for position, graph in enumerate(numpy.concatenate((at, at))):
            first, last = self.offsets[graph], self.offsets[graph + 1]
            edges = slice(self.starts[graph], self.starts[graph + 1])
            features.append(self.features[first:last])
            source.append(self.source[edges] - first + n_nodes)
            target.append(self.target[edges] - first + n_nodes)
            owner.append(numpy.full(last - first, position))
            n_nodes += last - first
        edges = numpy.stack((numpy.concatenate(source), numpy.concatenate(target)))
        features, owner = numpy.concatenate(features), numpy.concatenate(owner)
        return torch.from_numpy(features), torch.from_numpy(edges), torch.from_numpy(owner)


def standardised(columns):
    deviation = columns.std(axis=0)
    return (columns - columns.mean(axis=0)) / numpy.where(deviation > 0, deviation, numpy.inf)


def tu(name):
    """A data set in the format of TU Dortmund."""
    path = Path(os.environ["ICL_DATA_DIR"]) / "graphs" / f"{name}.zip"
    with zipfile.ZipFile(path) as archive:
        members = {Path(member).name: member for member in archive.namelist()}

        def table(kind):
            member = members.get(f"{name}_{kind}.txt")
            if member is None:
                return None
            text = archive.read(member)
            n_lines = len(text.splitlines())
            return numpy.fromstring(text.replace(b",", b" "), sep=" ").reshape(n_lines, -1)

        owner = table("graph_indicator")[:, 0].astype(int) - 1
        edges = table("A").astype(int).T - 1
        labels, attributes = table("node_labels"), table("node_attributes")
    assert (numpy.diff(owner) >= 0).all(), f"{path}: the nodes of a graph must follow each other"
    columns = []
    if labels is not None:
        columns.append(labels == numpy.unique(labels))
    if attributes is not None:
        columns.append(standardised(attributes))
    features = numpy.concatenate(columns, axis=1).astype(numpy.float32) if columns else None
    return Graphs(numpy.bincount(owner), edges, features)


def synthetic(n_nodes):
    """Rings with as many chords as nodes, five features a node."""
    n_all = N_SYNTHETIC * n_nodes
    node, first = numpy.arange(n_all) % n_nodes, numpy.arange(n_all) // n_nodes * n_nodes
    chord = (hashed(0, n_all) * n_nodes).astype(int)
    source = numpy.concatenate((first + node, first + node))
    target = numpy.concatenate((first + (node + 1) % n_nodes, first + chord))
    features = (hashed(1, 5 * n_all) - 0.5).reshape(n_all, 5).astype(numpy.float32)
    return Graphs(numpy.full(N_SYNTHETIC, n_nodes), (source, target), features)


class Gcn(torch.nn.Module):
    """Two convolutions without bias, each read out by sums."""

    def __init__(self, d_features, normalize):
        super().__init__()
        self.convolutions = torch.nn.ModuleList(
            GCNConv(d_input, D_HIDDEN, bias=False, normalize=normalize)
            for d_input in (d_features, D_HIDDEN)
        )
        self.norms = torch.nn.ModuleList(
            torch.nn.BatchNorm1d(D_HIDDEN, affine=False, track_running_stats=False)
            for _ in range(2)
        )

    def forward(self, x, edges, weights, owner, n_graphs):
        readouts = []
        for convolution, norm in zip(self.convolutions, self.norms):
            x = functional.leaky_relu(norm(convolution(x, edges, weights)), 0.01)
            x = functional.dropout(x, 0.5, self.training)
            readouts.append(global_add_pool(x, owner, n_graphs))
        return torch.cat(readouts, dim=1)


def info_nce(anchors, positives, negatives):
    """NCE-I, the expectation of the noise over the positives of the others."""
    n = len(anchors)
    anchors, positives = functional.normalize(anchors), functional.normalize(positives)
    logits = anchors @ positives.T / TEMPERATURE
    is_self = torch.eye(n, dtype=torch.bool, device=logits.device)
    noise = logits.masked_fill(is_self, -torch.inf).logsumexp(1)
    ratio = negatives / (n - 1)
    return functional.softplus(noise - logits.diagonal() + numpy.log(ratio)).mean()


class Step:
    """Forward of both views as one batch, NCE-I, backward, Adam.

    `form` says what a convolution is given: `edges`, as in the library's examples, which makes it
    normalise the edges anew in each; `weights`, with the normalised weights made once a batch; or
    `sparse`, with the normalised adjacency as a sparse matrix made once a batch.
    """

    def __init__(self, graphs, n_samples, form, device):
        torch.manual_seed(0)
        self.device, self.n_samples, self.form = device, n_samples, form
        self.model = Gcn(graphs.features.shape[1], form == "edges").to(device).train()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3)
        self.n_nodes = self.n_edges = self.at = 0
        self.batches = []
        for number in range(N_BATCHES):
            x, edges, owner = graphs.batch(number, n_samples)
            self.n_nodes += len(x)
            self.n_edges += edges.shape[1] // 2
            weights = None
            if form != "edges":
                edges, weights = gcn_norm(edges, num_nodes=len(x))
            if form == "sparse":
                matrix = torch.sparse_coo_tensor(edges, weights, (len(x), len(x)))
                edges, weights = matrix.to_sparse_csr(), None
            batch = (x, edges, weights, owner)
            self.batches.append([part if part is None else part.to(device) for part in batch])
        self.facts = (
            f"{parameters(self.model)} parameters, {self.n_nodes} nodes and {self.n_edges} edges in "
            f"{N_BATCHES} batches"
        )

    def repeat(self):
        batch = self.batches[self.at % N_BATCHES]
        self.at += 1
        embeddings = self.model(*batch, 2 * self.n_samples)
        loss = info_nce(*embeddings.split(self.n_samples), NEGATIVES)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        synchronise(self.device)


def step(topic, name_or_n_nodes, n_samples, form, device):
    """The step in the form of the library's examples, or in the faster of the two others."""
    graphs = tu(name_or_n_nodes) if topic == "gcn" else synthetic(int(name_or_n_nodes))
    n_samples = int(n_samples)
    if form == "usual":
        return Step(graphs, n_samples, "edges", device)
    n_tried = min(n_samples, 128)
    form = fastest(lambda form: Step(graphs, n_tried, form, device), ["weights", "sparse"])
    return Step(graphs, n_samples, form, device)
