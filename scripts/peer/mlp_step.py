"""Times PyTorch on the training step of `cargo bench -p icl-models --bench mlp_step`.

    python3 scripts/peer/mlp_step.py [THREADS]

4 layers of width 256 on 256 rows of 64 columns: Linear without bias, BatchNorm, ReLU; Adam. A table in Markdown, least and
median of 200 runs after 20.
"""

import sys
import time

import torch
from torch import nn

ROWS, COLUMNS, WIDTH, N_LAYERS, N_RUNS = 256, 64, 256, 4, 200


def main():
    torch.set_num_threads(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
    torch.manual_seed(1)
    widths = [COLUMNS] + [WIDTH] * N_LAYERS
    layers = [
        layer
        for d_input, d_output in zip(widths, widths[1:])
        for layer in [nn.Linear(d_input, d_output, bias=False), nn.BatchNorm1d(d_output), nn.ReLU()]
    ]
    network = nn.Sequential(*layers)
    optimizer = torch.optim.Adam(network.parameters(), 1e-3)
    rows = torch.rand(ROWS, COLUMNS)
    parts = {"forward": [], "backward": [], "Adam": [], "step": []}
    for run in range(20 + N_RUNS):
        optimizer.zero_grad()
        times = [time.perf_counter()]
        loss = network(rows).square().mean()
        times.append(time.perf_counter())
        loss.backward()
        times.append(time.perf_counter())
        optimizer.step()
        times.append(time.perf_counter())
        if run >= 20:
            seconds = [b - a for a, b in zip(times, times[1:])] + [times[-1] - times[0]]
            for part, value in zip(parts.values(), seconds):
                part.append(value)
    print("| part | least, ms | median, ms |\n|---|---|---|")
    for name, seconds in parts.items():
        seconds.sort()
        print(f"| {name} | {1e3 * seconds[0]:.3f} | {1e3 * seconds[N_RUNS // 2]:.3f} |")


if __name__ == "__main__":
    main()
