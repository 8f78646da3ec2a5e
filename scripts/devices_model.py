#!/usr/bin/env python3
"""Predicts the time of a training step of several processes, and says where more of them stop paying.

Usage: devices_model.py [FILE.svg]

    T(W) = 2·B·t/W + 6·B²·d/(F·D) + 8·P·(W > 1)/M + (W - 1)/W·(8·P + 8·B·d + 16·B·d·(D > 1))/β + (3 + 2·(D > 1))·(W - 1)·λ

    W processes, B samples a batch, t seconds a view forward and backward, d width of the embeddings, F FLOP/s of the loss, P parameters,
    M bytes/s in which gradients are copied to the host and back, β bytes/s and λ seconds of latency of the network. D is the number of
    processes that divide the anchors of the loss: W from 512 samples on, else 1.

The terms: views, the loss, copies, what the network carries (the sum of the gradients, the embeddings, and with a divided loss the sum of its gradients at
them, by rings), and latency. Constants come from docs/benchmarks/devices.md; those of a network are its nominal rate and 20 µs.
"""

import sys

PARAMETERS = 11.2e6
WIDTH = 128
BATCH = 1024
DIVIDED_FROM = 512
COPIES = 2e9
LATENCY = 20e-6
PROCESSES = (1, 2, 4, 8, 16, 32, 64)
SHOWN = (1, 4, 16, 64)
# Seconds a view of 224 px, 64 px on two cores by the number of pixels, and FLOP/s of the loss; and a node sixteen times as fast.
VIEW, LOSS = 1.74e-3 * (224 / 64) ** 2, 256e9
NODES = {"2 cores": (VIEW, LOSS), "32 cores": (VIEW / 16, 16 * LOSS)}
NETWORKS = {"10 Gbit/s": 1.25e9, "100 Gbit/s": 12.5e9}


def seconds(n, node, network, batch=BATCH, parameters=PARAMETERS, width=WIDTH):
    """Returns the time of a step of n processes."""
    view, flops = node
    n_dividing = n if batch >= DIVIDED_FROM else 1
    is_divided = n_dividing > 1
    views = 2 * batch * view / n
    loss = 6 * batch**2 * width / (flops * n_dividing)
    copies = 8 * parameters / COPIES if n > 1 else 0.0
    carried = 8 * parameters + 8 * batch * width + 16 * batch * width * is_divided
    return views + loss + copies + (n - 1) / n * carried / network + (3 + 2 * is_divided) * (n - 1) * LATENCY


def picture(path):
    """Writes the speed-up against the number of processes, both logarithmic."""
    import math

    left, top, size = 60, 20, 320
    place = lambda n, gain: (left + size * math.log2(n) / 6, top + size * (1 - math.log2(max(gain, 1)) / 6))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 560 {size + 80}" font-family="sans-serif" font-size="12">',
        f'<rect x="{left}" y="{top}" width="{size}" height="{size}" fill="none" stroke="#888"/>',
        f'<line x1="{left}" y1="{top + size}" x2="{left + size}" y2="{top}" stroke="#bbb" stroke-dasharray="4"/>',
        f'<text x="{left + size / 2}" y="{top + size + 45}" text-anchor="middle">nodes</text>',
        f'<text x="16" y="{top + size / 2}" text-anchor="middle" transform="rotate(-90 16 {top + size / 2})">speed-up</text>',
    ]
    for n in PROCESSES:
        x, y = place(n, n)
        parts.append(f'<text x="{x}" y="{top + size + 20}" text-anchor="middle">{n}</text>')
        parts.append(f'<text x="{left - 8}" y="{y + 4}" text-anchor="end">{n}</text>')
    colours = iter(("#1f77b4", "#d62728", "#2ca02c", "#9467bd"))
    for at, (node, network) in enumerate((node, network) for node in NODES for network in NETWORKS):
        colour = next(colours)
        gains = [seconds(1, NODES[node], 1) / seconds(n, NODES[node], NETWORKS[network]) for n in PROCESSES]
        points = " ".join("{:.1f},{:.1f}".format(*place(n, gain)) for n, gain in zip(PROCESSES, gains))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<text x="{left + size + 12}" y="{top + 20 + 18 * at}" fill="{colour}">{node}, {network}</text>')
    with open(path, "w") as file:
        file.write("\n".join(parts + ["</svg>"]) + "\n")


def main():
    print("| node | network | " + " | ".join(f"{n} node{'s' * (n > 1)}" for n in SHOWN) + " |")
    print("|---|---|" + "--:|" * len(SHOWN))
    for name, node in NODES.items():
        for network, rate in NETWORKS.items():
            one = seconds(1, node, rate)
            cells = []
            for n in SHOWN:
                step = seconds(n, node, rate)
                cells.append(f"{step:.2f} s, {one / step:.1f}x")
            print(f"| {name} | {network} | {' | '.join(cells)} |")
    if len(sys.argv) > 1:
        picture(sys.argv[1])


if __name__ == "__main__":
    main()
