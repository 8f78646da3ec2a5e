"""Writes the valid files of PyTorch weights that generated inputs begin with, into fuzz/valid.

Needs PyTorch; any version from 2.1 on writes files of the same formats.
"""

from collections import OrderedDict
from pathlib import Path

import torch

torch.manual_seed(1)
weights = OrderedDict(
    [
        ("conv1.weight", torch.randn(2, 1, 3, 3)),
        ("bn1.weight", torch.ones(2)),
        ("bn1.running_mean", torch.zeros(2)),
        ("bn1.running_var", torch.ones(2)),
        ("bn1.num_batches_tracked", torch.tensor(3)),
        ("fc.weight", torch.randn(3, 2).half()),
        ("fc.bias", torch.randn(6)[::2]),
    ]
)
folder = Path(__file__).parent.parent / "fuzz" / "valid"
torch.save(weights, folder / "weights.pth")
nested = {"epoch": 3, "state_dict": {f"module.{name}": tensor for name, tensor in weights.items()}}
torch.save(nested, folder / "nested.pth")
torch.save(weights, folder / "legacy.pth", _use_new_zipfile_serialization=False)
