"""Linear classifiers trained by Adam or LARS for a fixed number of epochs, by PyTorch in double precision.

    python3 scripts/reference/descent_probe.py > experiments/icl-lab/tests/reference/descent_probe.json

Adam on all samples at once is the classifier of InfoGraph's evaluation (Sun et al., 2020), which DACL follows; LARS on
batches with a cosine that of DACL's Table 1. First weights and orders of the samples are part of the reference.
"""

import json
import math
import sys

import torch
from torch import nn

SEED = 20261127
TRUST, MOMENTUM = 0.001, 0.9


class Lars(torch.optim.Optimizer):
    """LARS as in SimCLR's code, without weight decay; tensors of rank 1 are not scaled."""

    def __init__(self, parameters, lr):
        super().__init__(parameters, {"lr": lr})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                trust = 1.0
                if p.ndim > 1 and p.norm() > 0 and p.grad.norm() > 0:
                    trust = TRUST * p.norm() / p.grad.norm()
                state = self.state[p]
                velocity = state.get("velocity", torch.zeros_like(p))
                state["velocity"] = MOMENTUM * velocity + group["lr"] * trust * p.grad
                p -= state["velocity"]


def features(n, d, k, scale):
    """Overlapping classes of counts, as sums over the nodes of graphs are."""
    y = torch.arange(n) % k
    y = y[torch.randperm(n)]
    means = torch.rand(k, d) * scale
    x = torch.poisson(means[y] + scale)
    return x, y


def fit(name, optimizer, cosine, n_epochs, batch_size, x, y, weights, orders, rate):
    n = len(y)
    layer = nn.Linear(x.shape[1], weights.shape[0])
    with torch.no_grad():
        layer.weight.copy_(weights)
        layer.bias.zero_()
    if optimizer == "adam":
        rule = torch.optim.Adam(layer.parameters(), lr=rate, weight_decay=0.0)
    else:
        rule = Lars(layer.parameters(), rate)
    size = batch_size or n
    n_updates = n_epochs * math.ceil(n / size)
    factor = (lambda t: (1 + math.cos(math.pi * t / n_updates)) / 2) if cosine else (lambda _: 1.0)
    schedule = torch.optim.lr_scheduler.LambdaLR(rule, factor)
    loss = nn.CrossEntropyLoss()
    first = loss(layer(x), y).item()
    for epoch in range(n_epochs):
        order = torch.tensor(orders[epoch]) if orders else torch.arange(n)
        for batch in order.split(size):
            rule.zero_grad()
            loss(layer(x[batch]), y[batch]).backward()
            rule.step()
            schedule.step()
    predictions = layer(x).argmax(dim=1)
    last = loss(layer(x), y).item()
    accuracy = (predictions == y).double().mean().item()
    print(f"{name}, {rate}: loss {first:.3f} -> {last:.3f}, accuracy {accuracy:.3f}", file=sys.stderr)
    return {
        "rate": rate,
        "weights": layer.weight.tolist(),
        "intercepts": layer.bias.tolist(),
        "predictions": predictions.tolist(),
    }


def case(name, optimizer, cosine, n_epochs, batch_size, data, rates):
    x, y = data
    n, d, k = *x.shape, int(y.max()) + 1
    weights = torch.empty(k, d)
    nn.init.xavier_uniform_(weights)
    orders = [torch.randperm(n).tolist() for _ in range(n_epochs)] if batch_size else []
    setting = (optimizer, cosine, n_epochs, batch_size)
    return {
        "name": name,
        "optimizer": optimizer,
        "cosine": cosine,
        "n_epochs": n_epochs,
        "batch_size": batch_size,
        "d": d,
        "features": x.flatten().tolist(),
        "labels": y.tolist(),
        "weights": weights.tolist(),
        "orders": orders,
        "fits": [fit(name, *setting, x, y, weights, orders, rate) for rate in rates],
    }


def main():
    torch.manual_seed(SEED)
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    small = features(50, 6, 3, 2.0)
    cases = [
        case("InfoGraph's", "adam", False, 100, None, features(40, 12, 3, 5.0), [1e-4, 1e-3, 1e-2]),
        case("two classes", "adam", False, 100, None, features(30, 8, 2, 20.0), [1e-2]),
        case("Table 1's", "lars", True, 20, 16, (small[0] / 10, small[1]), [0.1, 10.0]),
        case("batches", "adam", True, 5, 7, small, [1e-2]),
    ]
    reference = {"seed": SEED, "versions": {"torch": torch.__version__}, "cases": cases}
    json.dump(reference, sys.stdout, separators=(",", ":"))


if __name__ == "__main__":
    main()
