"""Losses and the exact risk by PyTorch, for the benchmark `backends`."""

import math

import torch
from torch.nn import functional

from backends_numbers import embeddings, synchronise

TEMPERATURE = 0.1
# The exact risk's K, and the rows and columns of similarities that are held at once: the fastest of
# those that were tried.
NEGATIVES = 31
CHUNK_ROWS, CHUNK_COLUMNS = 512, 2048


class InfoNce:
    """InfoNCE of a batch and its gradients by anchors and positives.

    With K = n - 1 it is the cross entropy of the similarities, the positive being on the diagonal.
    """

    form = "cross entropy"

    def __init__(self, n, width, device):
        self.device = device
        self.embeddings = embeddings(int(n), int(width), device)
        self.facts = f"loss {self.loss().item():.5f}"

    def loss(self):
        for tensor in self.embeddings:
            tensor.requires_grad_().grad = None
        anchors, positives = (functional.normalize(tensor) for tensor in self.embeddings)
        logits = (anchors / TEMPERATURE) @ positives.T
        return functional.cross_entropy(logits, torch.arange(len(logits), device=self.device))

    def repeat(self):
        self.loss().backward()
        synchronise(self.device)


class Risk:
    """The exact risk of n pairs, of which the first half is old (growth ratio 0.5)."""

    form = f"chunks of {CHUNK_ROWS} x {CHUNK_COLUMNS}"

    def __init__(self, n, device):
        self.embeddings = embeddings(int(n), 64, device)
        self.facts = f"risk {self.risk():.5f}"

    @torch.inference_mode()
    def risk(self):
        anchors, positives = (functional.normalize(tensor) for tensor in self.embeddings)
        n = len(anchors)
        n_old = n // 2
        positive = (anchors * positives).sum(1) / TEMPERATURE
        anchors = anchors / TEMPERATURE
        is_old = torch.arange(n, device=anchors.device) < n_old
        old = log_sums(anchors, positives, 0, n_old) - (n_old - is_old.int()).log()
        new = log_sums(anchors, positives, n_old, n) - (n - n_old - (~is_old).int()).log()
        both = torch.logaddexp(old, new) + math.log(0.5)
        losses = [
            functional.softplus(math.log(NEGATIVES) + noise - positive) for noise in (both, old, new)
        ]
        everything, against_old, against_new = losses
        # As on the other side, the parts and the biases are means of the same losses.
        parts = [
            everything.mean(),
            everything[:n_old].mean(),
            everything[n_old:].mean(),
            against_old[:n_old].mean(),
            (against_old - everything).mean(),
            (against_new - everything)[n_old:].mean(),
        ]
        return torch.stack(parts).tolist()[0]

    def repeat(self):
        self.risk()


def log_sums(anchors, positives, first, last):
    """log of the sum of f over the columns from `first` to `last`, without self, of every row."""
    n = len(anchors)
    rows = []
    for row in range(0, n, CHUNK_ROWS):
        chunk = anchors[row : row + CHUNK_ROWS]
        parts = []
        for column in range(first, last, CHUNK_COLUMNS):
            noise = positives[column : min(column + CHUNK_COLUMNS, last)]
            logits = chunk @ noise.T
            if -logits.shape[0] < row - column < logits.shape[1]:
                logits.diagonal(row - column).fill_(-torch.inf)
            parts.append(logits.logsumexp(1))
        rows.append(torch.stack(parts).logsumexp(0))
    return torch.cat(rows)
