"""Multilayer perceptron with projection head: passes, first and second derivatives, by PyTorch in double precision.

    python3 scripts/reference/mlp.py > crates/icl-models/tests/reference/mlp.json
"""

import json
import sys

import torch
from torch.nn import BatchNorm1d, Linear, ReLU, Sequential

SEED = 20261205
D_INPUT, WIDTH, D_OUTPUT = 5, 6, 3
N_LAYERS, N_ROWS = 2, 9


def normalised(d_input, d_output):
    """Linear-BN-ReLU; the normalisation subtracts any bias, so there is none."""
    linear = Linear(d_input, d_output, bias=False)
    norm = BatchNorm1d(d_output)
    torch.nn.init.uniform_(norm.weight, 0.5, 1.5)
    torch.nn.init.normal_(norm.bias, std=0.3)
    return [linear, norm, ReLU()]


def values(module):
    """Trained tensors in the order of our module, weights as [input, output]."""
    return [p.T if p.ndim == 2 else p for p in module.parameters()]


def flat(tensors):
    return [t.detach().reshape(-1).tolist() for t in tensors]


def main():
    torch.manual_seed(SEED)
    torch.set_default_dtype(torch.float64)
    encoder = Sequential(*normalised(D_INPUT, WIDTH), *normalised(WIDTH, WIDTH))
    head = Sequential(*normalised(WIDTH, WIDTH), *normalised(WIDTH, WIDTH), Linear(WIDTH, D_OUTPUT))
    network = Sequential(encoder, head)
    rows = torch.randn(N_ROWS, D_INPUT)
    target = torch.randn(N_ROWS, D_OUTPUT)

    parameters = list(network.parameters())
    training = network(rows)
    features = encoder(rows)
    loss = ((training - target) ** 2).mean()
    gradients = torch.autograd.grad(loss, parameters, create_graph=True)
    # The meta-gradient of one step of gradient descent: of the loss at θ − ∇L(θ)/10.
    moved = [p - 0.1 * g for p, g in zip(parameters, gradients)]
    names = [name for name, _ in network.named_parameters()]
    after = torch.func.functional_call(network, dict(zip(names, moved)), rows)
    meta = torch.autograd.grad(((after - target) ** 2).mean(), parameters)

    # Statistics over all rows in one batch: biased variance, as in training.
    for norm in (m for m in network.modules() if isinstance(m, BatchNorm1d)):
        norm.register_forward_pre_hook(estimate)
    network(rows)
    network.eval()
    json.dump(
        {
            "script": "scripts/reference/mlp.py",
            "torch": torch.__version__,
            "seed": SEED,
            "d_input": D_INPUT,
            "width": WIDTH,
            "d_output": D_OUTPUT,
            "n_layers": N_LAYERS,
            "parameters": flat(values(network)),
            "rows": rows.tolist(),
            "target": target.tolist(),
            "training": training.tolist(),
            "features": features.tolist(),
            "gradients": flat(g.T if g.ndim == 2 else g for g in gradients),
            "meta_gradients": flat(g.T if g.ndim == 2 else g for g in meta),
            "other_rows": (other := torch.randn(4, D_INPUT)).tolist(),
            "evaluation": network(other).tolist(),
            "embedding": encoder(other).tolist(),
        },
        sys.stdout,
        indent=1,
    )
    print()


def estimate(norm, inputs):
    x = inputs[0].detach()
    if norm.training:
        norm.momentum = 0.0
        norm.running_mean.copy_(x.mean(0))
        norm.running_var.copy_(x.var(0, unbiased=False))


if __name__ == "__main__":
    main()
