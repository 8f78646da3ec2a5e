"""Trials of ideas for a cheaper update, in PyTorch: each at the same charged cost as the update `icl`.

MNIST, 9 or 5 to 9 new (alpha = 0.1, 0.5), 16,000 images to train on, 1,000 old and 1,000 new ones held out; perceptron
784-256-256-128 with batch normalisation and ReLU, tau 0.2, batches of 256, Muon at 6e-3 as in crates/icl-train. theta_0
is trained for 30 epochs on old data, retraining on all; an update has a tenth of retraining's passes. The loss is
InfoNCE in both directions with K = 255; a view is a shift of up to two pixels, contrast and noise. A full pass of a
view is charged 1, one that only passes forward 0.30; the final statistics, the same for all, are not charged.

Usage: update_trials.py FOLDER [--alpha A ...] [--seeds N ...] [--trials NAME ...] [--program]
FOLDER has the idx files of MNIST. Each line is a run; at the end come the differences to `icl`, old / new, in % of
retraining's risk, with 95 % intervals by Student's t for three seeds (`icl` and theta_0 against retraining). The noise
of the held-out risk is half new. `--program` takes the setting of the headline cells: one direction, K = 31, shifts of
up to one pixel, noise by alpha. Needs numpy and torch 2.15; a growth ratio takes four minutes for a seed, on one core.
"""

import argparse
import copy
import gzip
import json
import math
import time

import numpy as np
import torch

TEMPERATURE, BATCH, RATE, FORWARD, FLOOR = 0.2, 256, 6e-3, 0.30, 0.05
SETTING = {"negatives": 255.0, "shift": 2, "both": True, "by_data": False}


def views(pixels, generator):
    """Shifts, scales and blurs images with noise: [n, 784] to [n, 784]."""
    n, s = len(pixels), SETTING["shift"]
    padded = torch.nn.functional.pad(pixels.view(n, 28, 28), (s, s, s, s))
    rows, columns = (torch.randint(0, 2 * s + 1, (n, 1), generator=generator) + torch.arange(28) for _ in range(2))
    images = padded[torch.arange(n)[:, None, None], rows[:, :, None], columns[:, None, :]]
    contrast = 1 + 0.15 * (2 * torch.rand(n, 1, 1, generator=generator) - 1)
    return (images * contrast + 0.1 * torch.randn(n, 28, 28, generator=generator)).view(n, 784)


def encoder(seed):
    torch.manual_seed(seed)
    hidden = [[torch.nn.Linear(d, 256, bias=False), torch.nn.BatchNorm1d(256), torch.nn.ReLU()] for d in (784, 256)]
    return torch.nn.Sequential(*hidden[0], *hidden[1], torch.nn.Linear(256, 128))


def kernel(first, second):
    normal = torch.nn.functional.normalize
    return (normal(first, dim=1) @ normal(second, dim=1).T / TEMPERATURE).exp()


def info_nce(first, second, control=None):
    """InfoNCE of each pair: K times the mean over the other pairs. `control` corrects the noise sum of an anchor."""
    f, n = kernel(first, second), len(first)
    others, losses = f * (1 - torch.eye(n, dtype=f.dtype)), []
    for anchors, noise in ((first, others.sum(1)), (second, others.sum(0)))[: 1 + SETTING["both"]]:
        noise = noise if control is None else control(anchors, noise)
        losses.append((SETTING["negatives"] / (n - 1) * noise / f.diagonal()).log1p())
    return sum(losses) / len(losses)


def nt_xent(first, second):
    """NT-Xent of each pair: the noise of an anchor is both views of all other pairs, 2K instead of K."""
    n, both = len(first), torch.cat([first, second])
    f = kernel(both, both)
    noise = (f * (1 - torch.eye(n, dtype=f.dtype).repeat(2, 2))).sum(1)
    losses = (SETTING["negatives"] / (n - 1) * noise / f.diagonal(n).repeat(2)).log1p()
    return (losses[:n] + losses[n:]) / 2


class Control:
    """Control variate of old noise: c times the mean over all stored embeddings minus that over those in the batch."""

    def __init__(self, c):
        self.c, self.stored, self.batch, self.n_anchors, self.n_floor = c, None, None, 0, 0

    def __call__(self, anchors, noise):
        is_old = self.batch < len(self.stored)
        f = kernel(anchors, self.stored)
        in_batch = f[:, self.batch[is_old]]
        own = torch.zeros_like(noise)
        own[is_old] = in_batch[is_old].diagonal()
        n_in, n_all = is_old.sum() - is_old.long(), len(self.stored) - is_old.long()
        correction = n_in * (f.sum(1) - own) / n_all - (in_batch.sum(1) - own)
        estimate, least = noise + self.c * correction, FLOOR * noise
        self.n_anchors, self.n_floor = self.n_anchors + len(noise), self.n_floor + (estimate < least).sum().item()
        return torch.maximum(estimate, least)


def exact_losses(first, second, n_old, alpha):
    """L^{I,X'} of each sample, with the noise of Eq. 27 over all pairs: the share alpha of it is new."""
    f, n = kernel(first, second), len(first)
    positive = f.diagonal().clone()
    f.fill_diagonal_(0)
    is_old = (torch.arange(n) < n_old).to(f.dtype)
    noise = (1 - alpha) * f[:, :n_old].sum(1) / (n_old - is_old)
    noise += alpha * f[:, n_old:].sum(1) / (n - n_old - 1 + is_old)
    return (SETTING["negatives"] * noise / positive).log1p()


class Problem:
    """Old and new images, old first, divided into a training and a held-out part, with fixed views for evaluations."""

    def __init__(self, pixels, labels, seed, alpha, n=16_000, n_held=1_000):
        order = np.random.default_rng(seed)
        is_new = labels >= (9 if alpha == 0.1 else 5)
        counts = [n - round(alpha * n), round(alpha * n)]
        parts = [order.permutation(np.where(is_new == new)[0])[: count + n_held] for new, count in enumerate(counts)]
        self.n_held, generator = n_held, torch.Generator().manual_seed(seed)
        self.seed, self.n_old, self.new_noise = seed, counts[0], alpha if SETTING["by_data"] else 0.5
        self.pixels = pixels[np.concatenate([part[n_held:] for part in parts])]
        held = pixels[np.concatenate([part[:n_held] for part in parts])]
        self.held = [views(held, generator) for _ in range(2)]

    @torch.no_grad()
    def risks(self, net, pixels):
        """Held-out risk on old and on new data, with statistics re-estimated over views of 4,096 of these images."""
        generator = torch.Generator().manual_seed(self.seed + 7)
        some = pixels[torch.randperm(len(pixels), generator=generator)[:4096]]
        net = copy.deepcopy(net).train()
        for norm in (net[1], net[4]):
            norm.momentum = 1.0
        net(torch.cat([views(some, generator) for _ in range(2)]))
        net.eval()
        losses = exact_losses(*(net(side).double() for side in self.held), self.n_held, self.new_noise)
        return [part.mean().item() for part in losses.split(self.n_held)]


@torch.no_grad()
def embedded(net, pixels, generator):
    return torch.cat([net(views(chunk, generator)) for chunk in pixels.chunk(math.ceil(len(pixels) / 512))])


def pair_losses(net, pixels, seed):
    """Losses of images in batches of 256, always with the same views and batches."""
    generator = torch.Generator().manual_seed(seed + 3)
    sides = (embedded(net, pixels, generator).split(BATCH) for _ in range(2))
    return torch.cat([info_nce(*pair) for pair in zip(*sides)])


def optimizers(net, name, decay, parts):
    """Muon for matrices and Adam for vectors, or AdamW for all. `parts` are factors of the rates of trunk and head."""
    layers = zip((net[:-1], net[-1:]), parts)
    groups = [{"params": [value], "factor": factor} for part, factor in layers for value in part.parameters()]
    if name == "adamw":
        return [torch.optim.AdamW(groups, weight_decay=decay)]
    matrices = [group | {"factor": group["factor"] * 20 / 3} for group in groups if group["params"][0].ndim > 1]
    muon = torch.optim.Muon(matrices, weight_decay=0, momentum=0.95, adjust_lr_fn="original")
    return [muon, torch.optim.Adam([group for group in groups if group["params"][0].ndim == 1])]


def train(start, pixels, n_old, budget, seed, share=lambda c: 1.0, rate=lambda c: RATE, optimizer="muon", decay=0.0,
          parts=(1, 1), state=None, select=False, one_view=False, control=None, loss=info_nce, forward=FORWARD):
    """Trains until `budget` passes are charged. c is the share of the budget that is spent."""
    began, (generator, of_stored) = time.process_time(), (torch.Generator().manual_seed(seed * 13 + n) for n in (5, 6))
    net, average = (copy.deepcopy(start).train() for _ in range(2))
    rules = optimizers(net, optimizer, decay, parts)
    for rule, saved in zip(rules, state or []):
        rule.load_state_dict(copy.deepcopy(saved))
    old, rise, n_steps, is_over = pixels[:n_old], None, 0, False
    cost, due = forward * n_old * (one_view + 2 * select), [0.3, 0.6] if select else [0, 0.5]
    targets = embedded(average, old, of_stored) if one_view else torch.zeros(n_old, 128)
    before = pair_losses(average, old, seed) if select else None
    while not is_over:
        chosen = torch.randperm(n_old, generator=generator)[: round(share(cost / budget) * n_old)]
        if select and due and cost / budget >= due[0]:
            rise, cost, due = pair_losses(average, old, seed) - before, cost + 2 * forward * n_old, due[1:]
        if rise is not None:
            chosen = rise.topk(len(chosen)).indices
        pool = torch.cat([chosen.sort().values, torch.arange(n_old, len(pixels))])
        for batch in pool[torch.randperm(len(pool), generator=generator)].chunk(math.ceil(len(pool) / BATCH)):
            if control and due and cost / budget >= due[0]:
                control.stored, cost, due = embedded(net, old, of_stored), cost + forward * n_old, due[1:]
            batch = batch[cost + (2 - (batch < n_old).long() * one_view).cumsum(0) <= budget]
            if is_over := len(batch) < BATCH // 4:
                break
            is_stored, n = (batch < n_old) & one_view, len(batch)
            first, second = views(pixels[batch], generator), views(pixels[batch], generator)
            rows = net(torch.cat([first, second[~is_stored]]))
            first, second = rows[:n], torch.zeros_like(rows[:n])
            second[~is_stored], second[is_stored] = rows[n:], targets[batch[is_stored]]
            net.zero_grad()
            if control:
                control.batch = batch
            (info_nce(first, second, control) if control else loss(first, second)).mean().backward()
            for rule in rules:
                for group in rule.param_groups:
                    group["lr"] = group["factor"] * rate(cost / budget)
                rule.step()
            cost, n_steps = cost + len(rows), n_steps + 1
            with torch.no_grad():
                torch._foreach_lerp_(list(average.parameters()), list(net.parameters()), 4 / (5 + n_steps))
    run = {"charged": round(cost), "steps": n_steps, "seconds": round(time.process_time() - began, 2)}
    run |= {"floor": control.n_floor / control.n_anchors} if control else {}
    return average, net, [rule.state_dict() for rule in rules], run


def trials(alpha):
    """Options of `train` for each trial."""
    few, half = alpha < 0.4, {} if alpha < 0.4 else {"share": lambda c: 0.5}
    parts = {"head x 3": (1, 3), "head x 10": (1, 10), "trunk x 0.3": (0.3, 1)}
    listed = {"icl": {}} | {name: {"parts": factors} for name, factors in parts.items()}
    for rate in (3e-3, 1e-2):
        for name, decay in (("AdamW 0.01", 0.01), ("AdamW 0.1", 0.1), ("Adam", 0.0)):
            listed[f"{name}, rate {rate:g}"] = dict(optimizer="adamw", decay=decay, rate=lambda c, rate=rate: rate)
    listed |= {"from the last weights": dict(start="last"), "with the optimizer's state": dict(state="saved")}
    listed |= {"old samples by the rise of their losses": dict(select=True, **half), "NT-Xent": dict(loss=nt_xent)}
    listed |= {"one view of old samples": dict(one_view=True)}
    listed |= {f"control variate, c = {c}": dict(control=Control(c)) for c in (1, 0.5)}
    if not few:
        listed |= {f"rate x {by}": dict(rate=lambda c, by=by: by * RATE) for by in (0.5, 1.5)}
        listed |= {"rate x 2, falling from half": dict(rate=lambda c: 2 * RATE * min(1, 2 - 2 * c))}
        listed |= {"half of the old samples, uniform": half}
    share = (lambda c: 0.5 ** (1 - c)) if few else (lambda c: 1.0)
    return {name: {"share": share, **options} for name, options in listed.items()}


def cell(problem, alpha, names, epochs=30):
    """Trains theta_0, retraining and the trials of a growth ratio and a seed, and returns the risks of each."""
    seed, pixels, n_old, risks = problem.seed, problem.pixels, problem.n_old, {}
    def add(name, net, run, of=pixels):
        risks[name] = np.array(problem.risks(net, of))
        print(json.dumps({"alpha": alpha, "seed": seed, "trial": name, "risks": list(risks[name]), **run}), flush=True)

    start, last, state, run = train(encoder(seed), pixels[:n_old], n_old, 2 * epochs * n_old, seed + 1000)
    add("theta_0 kept", start, run, pixels[:n_old])
    end, _, _, run = train(encoder(seed + 50), pixels, n_old, 2 * epochs * len(pixels), seed + 2000)
    add("retraining", end, run)
    for name, options in trials(alpha).items():
        if not names or name in names:
            begin = last if options.pop("start", None) else start
            options |= {"state": state} if "state" in options else {}
            net, _, _, run = train(begin, pixels, n_old, 0.1 * 2 * epochs * len(pixels), seed, **options)
            add(name, net, run)
    return risks


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    for name, kind, default in (("alpha", float, [0.1, 0.5]), ("seeds", int, [100, 101, 102]), ("trials", str, None)):
        parser.add_argument(f"--{name}", type=kind, nargs="+", default=default)
    parser.add_argument("--program", action="store_true")
    chosen = parser.parse_args()
    if chosen.program:
        SETTING.update(negatives=31.0, shift=1, both=False, by_data=True)
    torch.set_num_threads(1)
    files = (gzip.open(f"{chosen.folder}/train-{name}-ubyte.gz").read() for name in ("images-idx3", "labels-idx1"))
    pixels, labels = (np.frombuffer(file, np.uint8, offset=start) for file, start in zip(files, (16, 8)))
    pixels = torch.tensor(pixels.reshape(-1, 784) / 255, dtype=torch.float32)
    for alpha in chosen.alpha:
        found = [cell(Problem(pixels, labels, seed, alpha), alpha, chosen.trials) for seed in chosen.seeds]
        for name in found[0]:
            base = "icl" if name not in ("icl", "theta_0 kept") and "icl" in found[0] else "retraining"
            rows = np.array([100 * (risks[name] - risks[base]) / risks["retraining"] for risks in found])
            half = 4.303 * rows.std(0, ddof=1) / math.sqrt(3) if len(rows) == 3 else [math.nan] * 2
            print(f"| {name} | {alpha} |", " / ".join(f"{at:+.1f} ± {by:.1f}" for at, by in zip(rows.mean(0), half)))


if __name__ == "__main__":
    main()
