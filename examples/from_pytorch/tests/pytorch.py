"""Writes a random resnet18 of torchvision's as safetensors, or reads one back as any program of PyTorch does.

python3 pytorch.py write FILE
python3 pytorch.py read FILE BEFORE       prints the logits of two images
"""

import sys

import torch
import torchvision
from safetensors.torch import load_file, save_file

command, path = sys.argv[1:3]
torch.manual_seed(0)
model = torchvision.models.resnet18()
if command == "write":
    save_file(model.state_dict(), path)
else:
    own, before, after = model.state_dict(), load_file(sys.argv[3]), load_file(path)
    assert set(own) == set(after), set(own) ^ set(after)
    for name, tensor in own.items():
        found = after[name]
        assert (found.dtype, found.shape) == (tensor.dtype, tensor.shape), name
        # The classes have no part in the update; everything else is trained or, as random weights come without statistics,
        # re-estimated.
        is_kept = name.startswith("fc.") or name.endswith("num_batches_tracked")
        assert torch.equal(found, before[name]) == is_kept, name
    model.load_state_dict(after)
    images = (torch.arange(2 * 3 * 32 * 32) * 37 % 101 / 64 - 0.75).reshape(2, 3, 32, 32)
    with torch.no_grad():
        logits = model.eval()(images)
    print(" ".join(map(repr, logits.flatten().tolist())))
    print(f"torch {torch.__version__}, torchvision {torchvision.__version__}", file=sys.stderr)
