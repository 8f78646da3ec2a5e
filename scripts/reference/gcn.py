"""Graph convolution and the encoder's training pass, by PyTorch Geometric, in double precision.

    python3 scripts/reference/gcn.py > crates/icl-models/tests/reference/gcn.json
"""

import json
import sys

import torch
import torch_geometric
from torch.nn.functional import leaky_relu
from torch_geometric.nn import GCNConv, global_add_pool, global_max_pool, global_mean_pool

SEED = 20261121


def main():
    torch.manual_seed(SEED)
    torch.set_default_dtype(torch.float64)
    # Three graphs: a path with a triangle, an isolated pair of nodes, a star.
    edges = [(0, 1), (1, 2), (2, 3), (1, 3), (6, 7), (6, 8), (6, 9)]
    graph_of = torch.tensor([0, 0, 0, 0, 1, 1, 2, 2, 2, 2])
    index = torch.tensor(edges + [(b, a) for a, b in edges]).T
    d_input, d_hidden = 3, 4
    x = torch.randn(10, d_input)
    convolutions = [GCNConv(d_input, d_hidden), GCNConv(d_hidden, d_hidden)]
    for convolution in convolutions:
        torch.nn.init.normal_(convolution.bias)
    wide, narrow = GCNConv(d_input, d_hidden), GCNConv(d_input, 2)
    torch.nn.init.normal_(narrow.bias)

    # The encoder has no biases; its normalisation would take them out.
    layers = [GCNConv(d_input, d_hidden, bias=False), GCNConv(d_hidden, d_hidden, bias=False)]
    norms = [torch.nn.BatchNorm1d(d_hidden, affine=False) for _ in layers]
    pools = {"Sum": global_add_pool, "Mean": global_mean_pool, "Max": global_max_pool}
    encodings, gradients = {}, {}
    target = torch.randn(3, 2 * d_hidden)
    for name, pool in pools.items():
        for layer in layers:
            layer.zero_grad()
        hidden, readouts = x, []
        for layer, norm in zip(layers, norms):
            hidden = leaky_relu(norm(layer(hidden, index)), 0.01)
            readouts.append(pool(hidden, graph_of))
        encoding = torch.cat(readouts, 1)
        ((encoding - target) ** 2).mean().backward()
        encodings[name] = encoding.tolist()
        # PyTorch keeps weights as [output, input]; ours are [input, output].
        gradients[name] = [layer.lin.weight.grad.T.tolist() for layer in layers]

    json.dump(
        {
            "script": "scripts/reference/gcn.py",
            "torch": torch.__version__,
            "torch_geometric": torch_geometric.__version__,
            "seed": SEED,
            "edges": edges,
            "sizes": [4, 2, 4],
            "features": x.tolist(),
            "convolutions": [
                {
                    "weight": layer.lin.weight.T.tolist(),
                    "bias": layer.bias.tolist(),
                    "output": layer(x, index).tolist(),
                }
                for layer in [convolutions[0], wide, narrow]
            ],
            "layers": [layer.lin.weight.T.tolist() for layer in layers],
            "target": target.tolist(),
            "encodings": encodings,
            "gradients": gradients,
        },
        sys.stdout,
        indent=1,
    )
    print()


if __name__ == "__main__":
    main()
