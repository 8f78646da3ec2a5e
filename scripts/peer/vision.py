"""The steps of the benchmark `vision`, by PyTorch. Started by it, with the number of threads.

Each line of the input names a case, as `STEM SIDE N_CHANNELS N_IMAGES`; the answer is the time of
one training step in milliseconds. The first line of the output names the versions.
"""

import sys
import time

import torch
import torchvision


class Network:
    def __init__(self, layout, stem, side, n_channels, n_images, device="cpu", fused=None):
        torch.manual_seed(0)
        model = torchvision.models.resnet18()
        model.fc = torch.nn.Identity()
        if stem == "Small":
            model.conv1 = torch.nn.Conv2d(n_channels, 64, 3, padding=1, bias=False)
            model.maxpool = torch.nn.Identity()
        self.model = model.to(device, memory_format=layout).train()
        images = torch.randn(n_images, n_channels, side, side)
        self.images = images.to(device, memory_format=layout)
        self.fixed = torch.randn(n_images, 512).to(device)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3, fused=fused)

    def step(self):
        start = time.perf_counter()
        loss = (self.model(self.images) * self.fixed).sum()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return 1e3 * (time.perf_counter() - start)


def faster(*case):
    """The network in the layout whose steps are the faster, by the best of three."""
    networks = [
        Network(layout, *case) for layout in (torch.contiguous_format, torch.channels_last)
    ]
    return min(networks, key=lambda network: min(network.step() for _ in range(3)))


def main():
    torch.set_num_threads(int(sys.argv[1]))
    print(f"PyTorch {torch.__version__}, torchvision {torchvision.__version__}", flush=True)
    cases = {}
    for line in sys.stdin:
        stem, *sizes = line.split()
        if line not in cases:
            cases[line] = faster(stem, *map(int, sizes))
        print(cases[line].step(), flush=True)


if __name__ == "__main__":
    main()
