"""Training steps of encoders of images, and of a perceptron, for the benchmark `backends`."""

import torch

from backends_numbers import fastest, parameters, synchronise
from vision import Network

SIDE = 28
LAYOUTS = {"rows": torch.contiguous_format, "channels last": torch.channels_last}


class Step:
    """Forward, the sum of features times fixed numbers, backward, Adam."""

    def __init__(self, case, form, device):
        layout, adam = form
        self.device, self.form = device, f"{layout}, {adam} Adam"
        self.network = Network(LAYOUTS[layout], *case, device=device, fused=adam == "fused")
        self.facts = f"{parameters(self.network.model)} parameters"

    def repeat(self):
        self.network.step()
        synchronise(self.device)


def fastest_step(network, side, n_channels, n_images, device):
    """The step in whichever layout, with whichever Adam, is the fastest on up to 32 images."""
    forms = [(layout, adam) for layout in LAYOUTS for adam in ("plain", "fused")]
    tried = network, side, n_channels, min(n_images, 32)
    form = fastest(lambda form: Step(tried, form, device), forms)
    return Step((network, side, n_channels, n_images), form, device)


def resnet18(stem, side, n_images, device):
    return fastest_step(stem, int(side), 3, int(n_images), device)


def convnet(n_images, device):
    return fastest_step("ConvNet", SIDE, 1, int(n_images), device)


class Perceptron:
    """The same step of three affine layers without bias, each with batch normalisation and ReLU, on rows of pixels."""

    def __init__(self, n_rows, adam, device):
        torch.manual_seed(0)
        self.device = device
        widths = [SIDE * SIDE, 256, 256, 256]
        layers = [
            layer
            for d_input, d_output in zip(widths, widths[1:])
            for layer in (
                torch.nn.Linear(d_input, d_output, bias=False),
                torch.nn.BatchNorm1d(d_output),
                torch.nn.ReLU(inplace=True),
            )
        ]
        self.model = torch.nn.Sequential(*layers).to(device).train()
        self.rows = torch.randn(n_rows, widths[0]).to(device)
        self.fixed = torch.randn(n_rows, widths[-1]).to(device)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3, fused=adam == "fused")
        self.form, self.facts = f"{adam} Adam", f"{parameters(self.model)} parameters"

    def repeat(self):
        loss = (self.model(self.rows) * self.fixed).sum()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        synchronise(self.device)


def perceptron(n_rows, device):
    adam = fastest(lambda adam: Perceptron(int(n_rows), adam, device), ["plain", "fused"])
    return Perceptron(int(n_rows), adam, device)
