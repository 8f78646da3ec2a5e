"""Training steps of ResNet-18 by torchvision, for the benchmark `backends`."""

import torch

from backends_numbers import fastest, parameters, synchronise
from vision import Network

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


def step(stem, side, n_images, device):
    """The step in whichever layout, with whichever Adam, is the fastest on up to 32 images."""
    side, n_images = int(side), int(n_images)
    forms = [(layout, adam) for layout in LAYOUTS for adam in ("plain", "fused")]
    tried = stem, side, 3, min(n_images, 32)
    form = fastest(lambda form: Step(tried, form, device), forms)
    return Step((stem, side, 3, n_images), form, device)
