"""The steps of the benchmark `vision`, by PyTorch. Started by it, with the number of threads.

Each line of the input names a case, as `NETWORK SIDE N_CHANNELS N_IMAGES`, where NETWORK is the stem of a ResNet-18,
`Standard` or `Small`, or `ConvNet`; the answer is the time of one training step in milliseconds. The first line of the output names the versions.
"""

import sys
import time

import torch
import torchvision


def resnet(stem, n_channels):
    model = torchvision.models.resnet18()
    model.fc = torch.nn.Identity()
    if stem == "Small":
        model.conv1 = torch.nn.Conv2d(n_channels, 64, 3, padding=1, bias=False)
        model.maxpool = torch.nn.Identity()
    return model, 512


def convnet(n_channels):
    """Four 3x3 convolutions of stride 2, as the project's ConvNet."""
    layers, widths = [], [n_channels, 32, 64, 128, 256]
    for c_in, c_out in zip(widths, widths[1:]):
        layers += [
            torch.nn.Conv2d(c_in, c_out, 3, stride=2, padding=1, bias=False),
            torch.nn.BatchNorm2d(c_out),
            torch.nn.ReLU(inplace=True),
        ]
    pool = [torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten()]
    return torch.nn.Sequential(*layers, *pool), widths[-1]


class Network:
    def __init__(self, layout, stem, side, n_channels, n_images, device="cpu", fused=None):
        torch.manual_seed(0)
        model, d_features = convnet(n_channels) if stem == "ConvNet" else resnet(stem, n_channels)
        self.model = model.to(device, memory_format=layout).train()
        images = torch.randn(n_images, n_channels, side, side)
        self.images = images.to(device, memory_format=layout)
        self.fixed = torch.randn(n_images, d_features).to(device)
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
