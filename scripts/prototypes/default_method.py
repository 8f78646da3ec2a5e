"""Trials of how an update should draw its samples, in PyTorch: which choices are worth building.

Digits by class, views and encoder as in the first run of the program (shift by up to one pixel, contrast, noise; a
perceptron 64-128-128-64 with batch normalisation; tau 0.2, K 31, Adam, batches of 64). theta_0 is trained for 480 thousand
passes on the old classes. Each line is one choice; its columns are the cost in thousands of sample passes, the held-out
risk on old and on new data in nats, and their mean. Seeds from 100 are for tuning: no published result uses them.

Usage: default_method.py DIGITS.csv.gz SEED ALPHA [ALPHA ...]
Needs: numpy, torch. One alpha takes about two minutes on one core.
"""

import copy
import gzip
import math
import sys

import numpy as np
import torch

TEMPERATURE, NEGATIVES, BATCH = 0.2, 31.0, 64
COSTS = [5000 * 2**k for k in range(6)]


def views(pixels, generator):
    """Shifts, scales and blurs images with noise: [n, 64] to [n, 64]."""
    n = len(pixels)
    padded = torch.nn.functional.pad(pixels.view(n, 8, 8), (1, 1, 1, 1))
    columns, rows = (torch.randint(0, 3, (n,), generator=generator) for _ in range(2))
    at = torch.arange(8)
    rows, columns = (rows[:, None] + at)[:, :, None], (columns[:, None] + at)[:, None, :]
    images = padded[torch.arange(n)[:, None, None], rows, columns]
    contrast = 1 + 0.15 * (2 * torch.rand(n, 1, 1, generator=generator) - 1)
    return (images * contrast + 0.1 * torch.randn(n, 8, 8, generator=generator)).reshape(n, 64)


def encoder(seed):
    torch.manual_seed(seed)
    layers = []
    for d_in, d_out in [(64, 128), (128, 128)]:
        layers += [torch.nn.Linear(d_in, d_out), torch.nn.BatchNorm1d(d_out), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers, torch.nn.Linear(128, 64))


def similarities(first, second):
    normal = torch.nn.functional.normalize
    return normal(first, dim=1) @ normal(second, dim=1).T / TEMPERATURE


def exact_losses(first, second, n_old):
    """L^{I,X'} of each sample, with the noise of Eq. 27 over all pairs."""
    f = similarities(first, second).exp()
    n = len(f)
    positive = f.diagonal().clone()
    f.fill_diagonal_(0)
    is_old = (torch.arange(n) < n_old).float()
    noise = (n_old / n) * f[:, :n_old].sum(1) / (n_old - is_old)
    noise += ((n - n_old) / n) * f[:, n_old:].sum(1) / (n - n_old - 1 + is_old)
    return -(positive / (positive + NEGATIVES * noise)).log()


class Problem:
    """Old and new samples, divided into a training and a held-out part, with fixed views for evaluations."""

    def __init__(self, pixels, labels, seed, alpha):
        order = np.random.default_rng(seed)
        old_classes = range(5) if alpha >= 0.3 else range(8)
        old, new = (order.permutation(np.where(np.isin(labels, old_classes) == is_old)[0]) for is_old in (True, False))
        n_held = [round(len(part) / 10) for part in (old, new)]
        held = [part[:n] for part, n in zip((old, new), n_held)]
        old, new = old[n_held[0] :], new[n_held[1] :]
        n_new = round(alpha / (1 - alpha) * len(old))
        if n_new <= len(new):
            new = new[:n_new]
        else:
            old = old[: round((1 - alpha) / alpha * len(new))]
        generator = torch.Generator().manual_seed(seed)
        self.old, self.new = pixels[old], pixels[new]
        self.all = torch.cat([self.old, self.new])
        self.fixed = [views(self.all, generator) for _ in range(2)]
        held_pixels = pixels[np.concatenate(held)]
        self.held, self.n_held_old = [views(held_pixels, generator) for _ in range(2)], n_held[0]
        self.seed = seed

    def with_statistics(self, net):
        """Copies an encoder with batch normalisation re-estimated over the fixed views of the training part."""
        net = copy.deepcopy(net)
        for layer in net:
            if isinstance(layer, torch.nn.BatchNorm1d):
                layer.reset_running_stats()
                layer.momentum = None
        net.train()
        with torch.no_grad():
            net(torch.cat(self.fixed))
        return net.eval()

    def risks(self, net, held=True):
        """Mean loss over old and over new samples."""
        net = self.with_statistics(net)
        n_old = self.n_held_old if held else len(self.old)
        with torch.no_grad():
            losses = exact_losses(*(net(side) for side in (self.held if held else self.fixed)), n_old)
        return losses[:n_old].mean().item(), losses[n_old:].mean().item()

    def log_change_ratio(self, net):
        """log(E_new / E_old) of each old sample: how much its noise changes."""
        net = self.with_statistics(net)
        n_old = len(self.old)
        with torch.no_grad():
            f = similarities(*(net(side) for side in self.fixed)).exp()[:n_old]
            f[:, :n_old].fill_diagonal_(0)
        return (f[:, n_old:].mean(1) / (f[:, :n_old].sum(1) / (n_old - 1))).log()


def train(problem, start, share, rate, costs, warm_up=0, draw="uniform", wise=False, old_only=False):
    """Trains with the share of old samples that share(cost, losses) gives, and returns the held-out risks at each cost.

    `losses` are the last mean training losses of old and of new anchors with their standard errors, free of cost.
    """
    generator = torch.Generator().manual_seed(problem.seed * 13 + 5)
    net = copy.deepcopy(start).train()
    average = copy.deepcopy(net)
    adam = torch.optim.Adam(net.parameters(), lr=rate)
    cost, step, found, seen = 0, 0, [], None
    while len(found) < len(costs):
        n = len(problem.old) if old_only else round(share(cost, seen) * len(problem.old))
        if draw == "log r":
            weights = (problem.log_change_ratio(average) / 0.3).exp()
            old = torch.multinomial(weights, n, generator=generator)
        else:
            old = torch.randperm(len(problem.old), generator=generator)[:n]
        pool = problem.old[old] if old_only else torch.cat([problem.old[old], problem.new])
        order = torch.randperm(len(pool), generator=generator)
        of_parts = [[], []]
        for batch in order.chunk(max(1, round(len(pool) / BATCH))):
            for group in adam.param_groups:
                group["lr"] = rate * min(1, (step + 1) / max(1, warm_up))
            first, second = views(pool[batch], generator), views(pool[batch], generator)
            logits = similarities(*net(torch.cat([first, second])).chunk(2))
            positive = logits.diagonal()
            noise = logits.masked_fill(torch.eye(len(batch), dtype=torch.bool), -torch.inf).logsumexp(1)
            losses = torch.logaddexp(positive, noise + math.log(NEGATIVES / (len(batch) - 1))) - positive
            for part, rows in enumerate((batch < n, batch >= n)):
                of_parts[part].append(losses[rows].detach())
            adam.zero_grad()
            losses.mean().backward()
            adam.step()
            cost, step = cost + 2 * len(batch), step + 1
            with torch.no_grad():
                for mean, value in zip(average.parameters(), net.parameters()):
                    mean.lerp_(value, 1 - min(0.99, (1 + step) / (10 + step)))
            if len(found) < len(costs) and cost >= costs[len(found)]:
                found.append((cost, problem.risks(best_on_the_line(problem, start, average) if wise else average)))
        parts = [torch.cat(part) for part in of_parts]
        if all(len(part) > 1 for part in parts):
            seen = [(part.mean().item(), (part.std() / math.sqrt(len(part))).item()) for part in parts]
    return found, average


def best_on_the_line(problem, start, end):
    """WiSE-FT (Wortsman et al., 2022): the best of four encoders between the start and the end, on training data."""
    candidates = []
    for weight in (0.4, 0.6, 0.8, 1.0):
        mixed = copy.deepcopy(end)
        with torch.no_grad():
            for value, first in zip(mixed.parameters(), start.parameters()):
                value.copy_(first + weight * (value - first))
        candidates.append((sum(problem.risks(mixed, held=False)), mixed))
    return min(candidates, key=lambda of: of[0])[1]


class FromLosses:
    """Share that doubles while old anchors lose more than at the start, by more than two standard errors."""

    def __init__(self, first):
        self.share, self.start = first, None

    def __call__(self, _cost, seen):
        if seen is not None:
            old = seen[0]
            if self.start is None or old[0] < self.start[0]:
                self.start = old
            elif old[0] - self.start[0] > 2 * math.hypot(old[1], self.start[1]):
                self.share, self.start = min(1.0, 2 * self.share), None
        return self.share


def main():
    path, seed, alphas = sys.argv[1], int(sys.argv[2]), [float(alpha) for alpha in sys.argv[3:]]
    torch.set_num_threads(1)
    with gzip.open(path, "rt") as file:
        rows = [line.strip().split(",") for line in file]
    rows = np.array([row for row in rows if row[0].replace(".", "").isdigit()], dtype=float)
    pixels, labels = torch.tensor(rows[:, :64] / 16, dtype=torch.float32), rows[:, 64].astype(int)
    print(f"torch {torch.__version__}, seed {seed}")
    for alpha in alphas:
        problem = Problem(pixels, labels, seed, alpha)
        _, first = train(problem, encoder(seed), None, 1e-2, [480_000], old_only=True)
        balanced = min(1.0, 1.5 * alpha / (1 - alpha))
        epoch = 2 * len(problem.all)

        def doubling(cost, _seen, balanced=balanced, epoch=epoch):
            k = 0 if cost < 12 * epoch else 1 + math.floor(math.log(cost / epoch / 12, 4))
            return min(1.0, balanced * 2**k)

        def constant(share):
            return lambda _cost, _seen: share

        trials = {
            "warm, rate 3e-3": dict(share=constant(1.0), rate=3e-3),
            "warm": dict(share=constant(1.0), rate=1e-2),
            "warm, warm-up 150": dict(share=constant(1.0), rate=1e-2, warm_up=150),
            "share 0.2": dict(share=constant(0.2), rate=1e-2),
            "fine-tuning": dict(share=constant(0.0), rate=3e-3),
            "new 2/5, rate 3e-3": dict(share=constant(balanced), rate=3e-3),
            "new 2/5": dict(share=constant(balanced), rate=1e-2),
            "new 2/5, widening by cost": dict(share=doubling, rate=1e-2),
            "new 2/5, widening by losses": dict(share=FromLosses(balanced), rate=1e-2),
            "new 2/5, old by log r": dict(share=constant(balanced), rate=1e-2, draw="log r"),
            "new 2/5, widening, WiSE-FT": dict(share=doubling, rate=1e-2, wise=True),
        }
        old, new = problem.risks(first)
        print(f"\nalpha {alpha}: {len(problem.old)} old and {len(problem.new)} new samples; theta_0 {old:.3f}/{new:.3f}")
        for name, choice in trials.items():
            found, _ = train(problem, first, costs=COSTS, **choice)
            cells = (f"{cost // 1000}k {old:.3f}/{new:.3f} = {(old + new) / 2:.3f}" for cost, (old, new) in found)
            print(f"{name:28}", "  ".join(cells), flush=True)
        found, _ = train(problem, encoder(seed + 50), constant(1.0), 1e-2, [*COSTS, 320_000, 640_000])
        cells = (f"{cost // 1000}k {old:.3f}/{new:.3f} = {(old + new) / 2:.3f}" for cost, (old, new) in found)
        print(f"{'retraining':28}", "  ".join(cells), flush=True)


if __name__ == "__main__":
    main()
