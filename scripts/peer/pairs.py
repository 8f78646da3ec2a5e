"""An epoch of the benchmark `pairs`, by PyTorch. Started by it, with a file of interactions (.inter) and the number of threads.

Each line of the input is a number of negatives K; the answer is the seconds of an epoch: 97,171 pairs of MovieLens 100K in
batches of 256. The first line of the output names the version, and the forms of Adam and of drawing that were faster here.

The work is that of `icl_models::TwoTower` with a catalogue: the mean of the embeddings of the last 50 items through a linear
layer, scores as one product with all items, K of the items that the user has not seen without replacement, cosine similarity
over a temperature of 0.1, Adam. The histories of all pairs are ready before the clock starts here; ours are made within the epoch.
"""

import statistics
import sys
import time

import torch
from torch import nn
from torch.nn.functional import normalize

WIDTH, N_RECENT, BATCH, TEMPERATURE = 64, 50, 256, 0.1
N_TRIED = 40


def read(path):
    """Histories [n, 50] with padding, their lengths, targets, users, and the items that each user has seen."""
    with open(path, encoding="utf-8") as lines:
        next(lines)
        rows = [line.rstrip("\n").split("\t") for line in lines]
    rows.sort(key=lambda row: float(row[3]))
    items, users = {}, {}
    for user, item, *_ in rows:
        users.setdefault(user, []).append(items.setdefault(item, len(items)))
    n_items = len(items)
    histories, lengths, targets, owners = [], [], [], []
    seen = torch.zeros(len(users), n_items, dtype=torch.bool)
    for owner, of_user in enumerate(users.values()):
        training = of_user[:-2]
        seen[owner, training] = True
        for position in range(1, len(training)):
            recent = training[max(0, position - N_RECENT) : position]
            histories.append(recent + [n_items] * (N_RECENT - len(recent)))
            lengths.append(len(recent))
            targets.append(training[position])
            owners.append(owner)
    return (
        torch.tensor(histories),
        torch.tensor(lengths, dtype=torch.float32)[:, None],
        torch.tensor(targets),
        torch.tensor(owners),
        seen,
    )


class TwoTower:
    def __init__(self, data, fused, draw):
        torch.manual_seed(0)
        self.histories, self.lengths, self.targets, self.owners, self.seen = data
        n_items = self.seen.shape[1]
        # The last row is the padding.
        self.items = nn.EmbeddingBag(n_items + 1, WIDTH, mode="sum", padding_idx=n_items)
        self.query = nn.Linear(WIDTH, WIDTH)
        parameters = [*self.items.parameters(), *self.query.parameters()]
        self.optimizer = torch.optim.Adam(parameters, lr=1e-3, fused=fused)
        self.draw = draw

    def step(self, rows, k):
        mean = self.items(self.histories[rows]) / self.lengths[rows]
        queries = normalize(self.query(mean))
        items = normalize(self.items.weight[:-1])
        scores = queries @ items.T / TEMPERATURE
        targets = self.targets[rows]
        excluded = self.seen[self.owners[rows]]
        positive = scores.gather(1, targets[:, None])
        negatives = scores.gather(1, self.draw(excluded, k))
        logits = torch.cat([positive, negatives], 1)
        loss = (logits.logsumexp(1) - positive[:, 0]).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def epoch(self, k, n_steps=None):
        start = time.perf_counter()
        order = torch.randperm(len(self.targets))
        for rows in order.split(BATCH)[:n_steps]:
            self.step(rows, k)
        return time.perf_counter() - start


def by_multinomial(excluded, k):
    return torch.multinomial((~excluded).float(), k)


def by_largest(excluded, k):
    return torch.rand(excluded.shape).masked_fill_(excluded, -1.0).topk(k, sorted=False).indices


def main():
    torch.set_num_threads(int(sys.argv[2]))
    data = read(sys.argv[1])
    draws = {"torch.multinomial": by_multinomial, "the largest of random numbers": by_largest}

    def tried(fused, draw):
        return statistics.median(TwoTower(data, fused, draws[draw]).epoch(64, N_TRIED) for _ in range(3))

    fused, draw = min(((fused, draw) for fused in [False, True] for draw in draws), key=lambda it: tried(*it))
    adam = "fused" if fused else "default"
    print(f"PyTorch {torch.__version__}, {adam} Adam, negatives by {draw}", flush=True)
    for line in sys.stdin:
        print(TwoTower(data, fused, draws[draw]).epoch(int(line)), flush=True)


if __name__ == "__main__":
    main()
