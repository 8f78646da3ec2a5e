"""The training step of the benchmark `tables`, by PyTorch. Started by it, with the number of threads.

Each line of the input is a number of rows; the answer is a line for each step of a turn, with the seconds of its parts:
forward, loss, backward, update. The first line of the output names the version and the form of Adam that was faster here.

The network is that of `icl_models::MlpConfig::new(64)` with 4 layers of width 256: affine layers without bias, batch
normalisation, ReLU. The loss is InfoNCE, anchors in the first half of the rows, positives in the second.
"""

import statistics
import sys
import time

import torch
from torch import nn
from torch.nn.functional import cross_entropy, normalize

N_COLUMNS, WIDTH, N_LAYERS, TEMPERATURE = 64, 256, 4, 0.1
N_WARM, N_STEPS = 10, 50


class Network:
    def __init__(self, n_rows, fused):
        torch.manual_seed(0)
        widths = [N_COLUMNS] + [WIDTH] * N_LAYERS
        layers = [
            layer
            for d_input, d_output in zip(widths, widths[1:])
            for layer in [nn.Linear(d_input, d_output, bias=False), nn.BatchNorm1d(d_output), nn.ReLU()]
        ]
        # As ours, normalisation keeps no moving averages.
        for layer in layers[1::3]:
            layer.track_running_stats = False
            layer.running_mean = layer.running_var = layer.num_batches_tracked = None
        self.network = nn.Sequential(*layers).train()
        self.rows = torch.randn(n_rows, N_COLUMNS)
        self.own = torch.arange(n_rows // 2)
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=1e-3, fused=fused)

    def step(self):
        times = [time.perf_counter()]
        embeddings = self.network(self.rows)
        times.append(time.perf_counter())
        anchors, positives = normalize(embeddings).chunk(2)
        loss = cross_entropy(anchors @ positives.T / TEMPERATURE, self.own)
        times.append(time.perf_counter())
        self.optimizer.zero_grad()
        loss.backward()
        times.append(time.perf_counter())
        self.optimizer.step()
        times.append(time.perf_counter())
        return [end - start for start, end in zip(times, times[1:])]

    def turn(self):
        for _ in range(N_WARM):
            self.step()
        return [self.step() for _ in range(N_STEPS)]


def median(network):
    return statistics.median(sum(step) for step in network.turn())


def main():
    torch.set_num_threads(int(sys.argv[1]))
    fused = min([False, True], key=lambda fused: median(Network(256, fused)))
    print(f"PyTorch {torch.__version__}, {'fused' if fused else 'default'} Adam", flush=True)
    networks = {}
    for line in sys.stdin:
        n_rows = int(line)
        if n_rows not in networks:
            networks[n_rows] = Network(n_rows, fused)
        for step in networks[n_rows].turn():
            print(*step, flush=True)


if __name__ == "__main__":
    main()
