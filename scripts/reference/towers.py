"""Two towers and the tower of words: passes, first and second derivatives, by PyTorch in double precision.

    python3 scripts/reference/towers.py > crates/icl-models/tests/reference/towers.json
"""

import json
import sys

import torch
from torch.nn import Embedding, Linear, ReLU, Sequential
from torch.nn.functional import embedding_bag

SEED = 20261123
N_ITEMS, N_WORDS, D, D_HIDDEN = 7, 9, 4, 5
# One history is empty, and one holds an item twice.
HISTORIES = [[0, 3, 3], [], [6, 1, 2, 5]]
TARGETS = [4, 0, 3]
TEXTS = [[8, 8, 1], [0, 2, 3, 4], [], [7], [5, 6, 5], [1, 2]]


def means(table, bags):
    """Mean of each bag by PyTorch's own function; 0 for the empty one."""
    flat = torch.tensor([member for bag in bags for member in bag])
    offsets = torch.tensor([0] + [len(bag) for bag in bags[:-1]]).cumsum(0)
    return embedding_bag(flat, table, offsets, mode="mean")


def by_mean(table, bags):
    """The same by rows: PyTorch cannot differentiate embedding_bag twice."""
    rows = [table[bag].mean(0) if bag else table.new_zeros(table.shape[1]) for bag in bags]
    return torch.stack(rows)


def loss(anchors, positives, catalogue, target):
    scores = anchors @ catalogue.T
    return ((scores - target) ** 2).mean() + ((anchors * positives).sum(1) ** 2).mean()


def values(parameters):
    """Trained tensors in the order of our module, weights of affine maps as [input, output]."""
    return [p.detach().reshape(-1).tolist() for p in parameters]


def ours(parameters, is_linear):
    return [p.T if linear else p for p, linear in zip(parameters, is_linear)]


def reference(parameters, is_linear, output_of, loss_of):
    """Values at the parameters, gradients, and the meta-gradient of one step of gradient descent, 1/10 wide."""
    first = loss_of(parameters)
    gradients = torch.autograd.grad(first, parameters, create_graph=True)
    moved = [p - 0.1 * g for p, g in zip(parameters, gradients)]
    meta = torch.autograd.grad(loss_of(moved), parameters)
    return {
        "parameters": values(ours(parameters, is_linear)),
        "output": output_of(parameters).detach().tolist(),
        "loss": first.item(),
        "gradients": values(ours(gradients, is_linear)),
        "meta_gradients": values(ours(meta, is_linear)),
    }


def leaves(*modules):
    return [p.detach().clone().requires_grad_() for m in modules for p in m.parameters()]


def two_tower():
    parameters = leaves(Embedding(N_ITEMS, D), Linear(D, D))
    target = torch.randn(len(HISTORIES), N_ITEMS)

    def towers(p, mean):
        items, weight, bias = p
        return mean(items, HISTORIES) @ weight.T + bias, items[TARGETS]

    def loss_of(p):
        anchors, positives = towers(p, by_mean)
        return loss(anchors, positives, p[0], target)

    output = lambda p: torch.cat(towers(p, means))
    return {
        "n_items": N_ITEMS,
        "d": D,
        "histories": HISTORIES,
        "items": TARGETS,
        "target": target.tolist(),
        **reference(parameters, [False, True, False], output, loss_of),
    }


def word_tower():
    network = Sequential(Linear(D, D_HIDDEN), ReLU(), Linear(D_HIDDEN, D))
    parameters = leaves(Embedding(N_WORDS, D), network)
    target = torch.randn(len(TEXTS) // 2, len(TEXTS) // 2)

    def encode(p, mean):
        hidden = (mean(p[0], TEXTS) @ p[1].T + p[2]).relu()
        return hidden @ p[3].T + p[4]

    def loss_of(p):
        anchors, positives = encode(p, by_mean).chunk(2)
        return loss(anchors, positives, positives, target)

    return {
        "n_words": N_WORDS,
        "d": D,
        "d_hidden": D_HIDDEN,
        "texts": TEXTS,
        "target": target.tolist(),
        **reference(parameters, [False, True, False, True, False], lambda p: encode(p, means), loss_of),
    }


def main():
    torch.manual_seed(SEED)
    torch.set_default_dtype(torch.float64)
    json.dump(
        {
            "script": "scripts/reference/towers.py",
            "torch": torch.__version__,
            "seed": SEED,
            "two_tower": two_tower(),
            "word_tower": word_tower(),
        },
        sys.stdout,
        indent=1,
    )
    print()


if __name__ == "__main__":
    main()
