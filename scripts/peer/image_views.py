"""Views per second that torchvision makes with one thread: the best of five rounds.

The transforms are the defaults of ImageViewsConfig (MoCo v1), on a Pillow image in memory. Run by
the benchmark `image_views` of icl-data, so that both are measured in the same minute.

    python3 scripts/peer/image_views.py WIDTH HEIGHT CHANNELS SIZE
"""

import sys
import time

import numpy
import torch
from PIL import Image
from torchvision import transforms

N_ROUNDS, ROUND_S = 5, 0.4


def main():
    width, height, channels, size = map(int, sys.argv[1:])
    torch.set_num_threads(1)
    torch.manual_seed(0)
    rng = numpy.random.default_rng(0)
    y, x, c = numpy.mgrid[0:height, 0:width, 0:channels]
    slope = numpy.abs((3 * x + 2 * y + 170 * c) % 510 - 255)
    array = ((3 * slope + rng.integers(0, 255, slope.shape)) // 4).astype(numpy.uint8)
    image = Image.fromarray(array if channels == 3 else array[:, :, 0])
    mean, std = ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]) if channels == 3 else ([0.449], [0.226])
    view = transforms.Compose(
        [
            transforms.RandomResizedCrop(size, scale=(0.2, 1.0)),
            transforms.RandomGrayscale(0.2),
            transforms.ColorJitter(0.4, 0.4, 0.4, 0.4),
            transforms.RandomHorizontalFlip(),
            transforms.ToTensor(),
            transforms.Normalize(mean, std),
        ]
    )
    best = 0.0
    for _ in range(N_ROUNDS):
        begin, n_calls = time.perf_counter(), 0
        while time.perf_counter() - begin < ROUND_S:
            for _ in range(10):
                view(image)
            n_calls += 10
        best = max(best, n_calls / (time.perf_counter() - begin))
    print(best)


if __name__ == "__main__":
    main()
