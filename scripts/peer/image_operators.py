"""Times PyTorch's image operators for `cargo bench -p icl-kernels --bench image_operators`.

Each line read is a case, each line written the seconds that it took, the least of a few runs:

    convolution N SIDE C_IN C_OUT SIZE STRIDE PADDING    forward, by the input, by the weight
    batch_norm N SIDE C RESIDUAL                         forward with ReLU, backward
    step N SIDE STEM                                     a training step of ResNet-18; STEM large or small
"""

import sys
import time

import torch
import torch.nn.functional as F
from torch import nn


def least(run, n_runs=10):
    def once():
        start = time.perf_counter()
        run()
        return time.perf_counter() - start

    once()
    return min(once() for _ in range(n_runs))


def convolution(n, side, c_in, c_out, size, stride, padding):
    x = torch.randn(n, c_in, side, side)
    weight = torch.randn(c_out, c_in, size, size)
    y = F.conv2d(x, weight, None, stride, padding)

    def backward(mask):
        torch.ops.aten.convolution_backward(
            y, x, weight, None, [stride] * 2, [padding] * 2, [1, 1], False, [0, 0], 1, mask
        )

    return [
        least(lambda: F.conv2d(x, weight, None, stride, padding)),
        least(lambda: backward([True, False, False])),
        least(lambda: backward([False, True, False])),
    ]


def batch_norm(n, side, channels, residual):
    x = torch.randn(n, channels, side, side, requires_grad=True)
    added = torch.randn(n, channels, side, side, requires_grad=True) if residual else None
    norm = nn.BatchNorm2d(channels)
    ones = torch.ones(n, channels, side, side)

    def forward():
        y = norm(x)
        return torch.relu_(y + added if residual else y)

    seconds = []
    for _ in range(11):
        y = forward()
        start = time.perf_counter()
        y.backward(ones)
        seconds.append(time.perf_counter() - start)
        x.grad = None
        if residual:
            added.grad = None
    return [least(forward), min(seconds)]


def step(n, side, stem):
    from torchvision.models import resnet18

    model = resnet18()
    model.fc = nn.Identity()
    if stem == "small":
        model.conv1 = nn.Conv2d(3, 64, 3, 1, 1, bias=False)
        model.maxpool = nn.Identity()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    x = torch.randn(n, 3, side, side)

    def run():
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()

    return [least(run)]


def main():
    torch.manual_seed(0)
    for line in sys.stdin:
        kind, *values = line.split()
        if kind == "threads":
            torch.set_num_threads(int(values[0]))
            print(torch.__version__, flush=True)
            continue
        values = [value if value.isalpha() else int(value) for value in values]
        seconds = {"convolution": convolution, "batch_norm": batch_norm, "step": step}[kind](*values)
        print(*seconds, flush=True)


if __name__ == "__main__":
    main()
