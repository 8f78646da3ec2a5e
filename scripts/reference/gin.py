"""Graph isomorphism network in InfoGraph's order: passes, first and second derivatives, by PyTorch Geometric in double precision.

    python3 scripts/reference/gin.py > crates/icl-models/tests/reference/gin.json
"""

import json
import sys

import torch
import torch_geometric
from torch.nn import BatchNorm1d, Linear, ReLU, Sequential
from torch_geometric.nn import GINConv, global_add_pool

SEED = 20261206
D_INPUT, D_HIDDEN, N_LAYERS = 3, 4, 3
# A path with a triangle, a pair of nodes and one without neighbours, a star, a single node.
EDGES = [(0, 1), (1, 2), (2, 3), (1, 3), (4, 5), (7, 8), (7, 9), (7, 10)]
SIZES = [4, 3, 4, 1]


class Gin(torch.nn.Module):
    def __init__(self, epsilon):
        super().__init__()
        widths = [D_INPUT] + [D_HIDDEN] * (N_LAYERS - 1)
        mlps = [Sequential(Linear(d, D_HIDDEN), ReLU(), Linear(D_HIDDEN, D_HIDDEN)) for d in widths]
        convolutions = [GINConv(mlp, eps=epsilon) for mlp in mlps]
        norms = [BatchNorm1d(D_HIDDEN) for _ in mlps]
        for norm in norms:
            torch.nn.init.uniform_(norm.weight, 0.5, 1.5)
            torch.nn.init.normal_(norm.bias, std=0.3)
        self.layers = torch.nn.ModuleList(map(torch.nn.ModuleList, zip(convolutions, norms)))

    def forward(self, x, index, graph_of):
        readouts = []
        for convolution, norm in self.layers:
            x = norm(torch.relu(convolution(x, index)))
            readouts.append(global_add_pool(x, graph_of))
        return torch.cat(readouts, 1)


def transposed(tensors):
    """Weights as [input, output], flat."""
    return [(t.T if t.ndim == 2 else t).detach().reshape(-1).tolist() for t in tensors]


def case(epsilon, x, target, index, graph_of):
    network = Gin(epsilon)
    parameters = list(network.parameters())
    encoding = network(x, index, graph_of)
    loss = ((encoding - target) ** 2).mean()
    gradients = torch.autograd.grad(loss, parameters, create_graph=True)
    # The meta-gradient of one step of gradient descent: of the loss at θ − ∇L(θ)/100.
    moved = [p - 0.01 * g for p, g in zip(parameters, gradients)]
    names = [name for name, _ in network.named_parameters()]
    after = torch.func.functional_call(network, dict(zip(names, moved)), (x, index, graph_of))
    meta = torch.autograd.grad(((after - target) ** 2).mean(), parameters)
    return {
        "epsilon": epsilon,
        "parameters": transposed(parameters),
        "encoding": encoding.tolist(),
        "gradients": transposed(gradients),
        "meta_gradients": transposed(meta),
    }


def main():
    torch.manual_seed(SEED)
    torch.set_default_dtype(torch.float64)
    index = torch.tensor(EDGES + [(b, a) for a, b in EDGES]).T
    graph_of = torch.repeat_interleave(torch.arange(len(SIZES)), torch.tensor(SIZES))
    x = torch.randn(sum(SIZES), D_INPUT)
    target = torch.randn(len(SIZES), N_LAYERS * D_HIDDEN)
    json.dump(
        {
            "script": "scripts/reference/gin.py",
            "torch": torch.__version__,
            "torch_geometric": torch_geometric.__version__,
            "seed": SEED,
            "d_hidden": D_HIDDEN,
            "n_layers": N_LAYERS,
            "edges": EDGES,
            "sizes": SIZES,
            "features": x.tolist(),
            "target": target.tolist(),
            "cases": [case(epsilon, x, target, index, graph_of) for epsilon in [0.0, 0.3]],
        },
        sys.stdout,
        indent=1,
    )
    print()


if __name__ == "__main__":
    main()
