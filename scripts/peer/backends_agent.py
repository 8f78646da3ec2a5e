"""An agent's decision by PyTorch, for the benchmark `backends`."""

import collections
import math

import torch

D_STATE, HISTORY, D_HIDDEN = 3, 8, 20


class Decision:
    """The action of an actor with two LSTM layers for the last states, of which one is new."""

    form = "inference mode"

    def __init__(self, device):
        torch.manual_seed(0)
        self.device = device
        self.layers = torch.nn.LSTM(D_STATE, D_HIDDEN, 2, batch_first=True).to(device)
        self.head = torch.nn.Linear(D_HIDDEN, 1).to(device)
        self.window = collections.deque([[0.0] * D_STATE] * HISTORY, HISTORY)
        self.at = 0
        self.facts = f"{HISTORY} states of {D_STATE} numbers, 2 layers of {D_HIDDEN}"

    @torch.inference_mode()
    def repeat(self):
        self.at += 1
        self.window.append([math.sin(self.at), math.cos(self.at), 0.5])
        hidden, _ = self.layers(torch.tensor([list(self.window)], device=self.device))
        self.head(hidden[:, -1]).tanh().item()
