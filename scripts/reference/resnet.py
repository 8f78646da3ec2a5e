"""ResNet-18 by torchvision, in double precision, on weights that both sides make by one formula.

    python3 scripts/reference/resnet.py > crates/icl-models/tests/reference/resnet.json

Also, for the reader of PyTorch's files,

    python3 scripts/reference/resnet.py --small FOLDER    # the four small files that are kept
    python3 scripts/reference/resnet.py --large FOLDER    # whole networks, for a test that makes them
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch
import torchvision

SIDE = 64
# The kept logits: every 25th of 1000 classes.
STEP = 25
GRADIENTS = [
    "conv1.weight",
    "bn1.weight",
    "bn1.bias",
    "layer1.0.conv1.weight",
    "layer1.1.bn2.bias",
    "layer2.0.downsample.0.weight",
    "layer2.0.downsample.1.weight",
    "layer3.1.conv2.weight",
    "layer4.1.bn2.weight",
    "fc.weight",
    "fc.bias",
]


def uniform(name, shape):
    """Numbers on [-1, 1): FNV-1a of the name, plus a Weyl sequence, through MurmurHash3's mixer."""
    seed = 0x811C9DC5
    for byte in name.encode():
        seed = ((seed ^ byte) * 0x01000193) & 0xFFFFFFFF
    index = np.arange(int(np.prod(shape)), dtype=np.uint64)
    x = ((index * 0x9E3779B9 + seed) & 0xFFFFFFFF).astype(np.uint32)
    x ^= x >> 16
    x *= np.uint32(0x85EBCA6B)
    x ^= x >> 13
    x *= np.uint32(0xC2B2AE35)
    x ^= x >> 16
    return (x.astype(np.float64) / 2.0**31 - 1.0).reshape(shape)


def synthetic(name, shape):
    """The tensor of that name, in single precision."""
    u = uniform(name, shape)
    if len(shape) == 4:
        u = u * np.sqrt(6.0 / np.prod(shape[1:]))
    elif name == "fc.weight":
        u = u / np.sqrt(shape[1])
    elif name.endswith("running_var"):
        u = 1.0 + 0.5 * u
    elif name.endswith(("running_mean", "bias")):
        u = 0.25 * u
    elif name.endswith("weight"):
        u = 1.0 + 0.25 * u
    return torch.from_numpy(u.astype(np.float32))


def network(in_channels, n_classes, is_small):
    model = torchvision.models.resnet18(num_classes=n_classes)
    if is_small:
        model.conv1 = torch.nn.Conv2d(in_channels, 64, 3, stride=1, padding=1, bias=False)
        model.maxpool = torch.nn.Identity()
    elif in_channels != 3:
        model.conv1 = torch.nn.Conv2d(in_channels, 64, 7, stride=2, padding=3, bias=False)
    state = {
        name: synthetic(name, tuple(tensor.shape)) if tensor.is_floating_point() else tensor
        for name, tensor in model.state_dict().items()
    }
    model.load_state_dict(state)
    return model


def case(stem, in_channels, n_classes, side, n_images):
    model = network(in_channels, n_classes, stem == "small")
    shapes = {name: list(tensor.shape) for name, tensor in model.state_dict().items()}
    n_parameters = sum(p.numel() for p in model.parameters())
    model.double()
    shape = (n_images, in_channels, side, side)
    images = torch.from_numpy(uniform("images", shape).astype(np.float32)).double()
    step = STEP if n_classes > STEP else 1
    model.eval()
    with torch.no_grad():
        evaluation = model(images)[:, ::step]
    model.train()
    logits = model(images)
    (logits**2).mean().backward()
    parameters = dict(model.named_parameters())
    return {
        "stem": stem,
        "images": list(shape),
        "n_classes": n_classes,
        "n_parameters": n_parameters,
        "step": step,
        "shapes": shapes,
        "evaluation": evaluation.flatten().tolist(),
        "training": logits[:, ::step].detach().flatten().tolist(),
        "gradient_norms": {name: parameters[name].grad.norm().item() for name in GRADIENTS},
    }


def small(folder):
    """Tensors of every floating-point type, one whose rows lie apart and one in the middle of
    another's numbers."""
    x = torch.arange(24, dtype=torch.float32).reshape(2, 3, 2, 2)
    state = torch.nn.Module().state_dict()
    state["plain"] = x
    state["channels_last"] = x.clone().contiguous(memory_format=torch.channels_last)
    state["middle"] = torch.arange(10, dtype=torch.float32)[3:7]
    state["transposed"] = torch.arange(6, dtype=torch.float64).reshape(2, 3).T
    state["half"] = torch.tensor([0.5, -2.0], dtype=torch.float16)
    state["bfloat"] = torch.tensor([0.5, -2.0], dtype=torch.bfloat16)
    state["count"] = torch.tensor(7)
    state["parameter"] = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    torch.save(state, folder / "tensors.pth")
    torch.save(state, folder / "tensors_legacy.pth", _use_new_zipfile_serialization=False)
    nested = {
        "epoch": 3,
        "state_dict": {"module.plain": state["plain"], "module.middle": state["middle"]},
        "best": torch.tensor([0.5, 0.25]),
    }
    torch.save(nested, folder / "nested.pth")
    torch.save(nested, folder / "nested_legacy.pth", _use_new_zipfile_serialization=False)


def large(folder):
    model = network(3, 1000, False)
    state = model.state_dict()
    torch.save(state, folder / "zip.pth")
    torch.save(state, folder / "legacy.pth", _use_new_zipfile_serialization=False)
    torch.save(state, folder / "protocol_4.pth", pickle_protocol=4)
    torch.save(model.double().state_dict(), folder / "double.pth")
    torch.save(model.half().state_dict(), folder / "half.pth")
    model = network(3, 1000, False).to(memory_format=torch.channels_last)
    torch.save(model.state_dict(), folder / "channels_last.pth")
    torch.save(model, folder / "model.pth")
    parallel = {f"module.{name}": tensor for name, tensor in model.state_dict().items()}
    torch.save({"epoch": 3, "state_dict": parallel}, folder / "checkpoint.pth")
    torch.save({"epoch": 3, "model": model.state_dict()}, folder / "other.pth")
    torch.jit.script(model).save(folder / "script.pth")


def main():
    if sys.argv[1:2] == ["--small"]:
        return small(Path(sys.argv[2]))
    if sys.argv[1:2] == ["--large"]:
        return large(Path(sys.argv[2]))
    json.dump(
        {
            "script": "scripts/reference/resnet.py",
            "torch": torch.__version__,
            "torchvision": torchvision.__version__,
            "cases": [case("standard", 3, 1000, SIDE, 2), case("small", 1, 10, 28, 2)],
        },
        sys.stdout,
        indent=1,
    )
    print()


if __name__ == "__main__":
    main()
