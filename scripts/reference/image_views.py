"""What torchvision makes of small images, for given parameters, and how it draws parameters.

The images come from a formula that the Rust test computes as well, so that none are stored. Results
that must agree bit by bit are stored as CRC-32 of their bytes `[channel, row, column]`; results
that may differ by a level (resizing, blur) as every STRIDE-th row and column of their bytes, in
hexadecimal digits, and their mean. Of 20,000 drawn parameters, the empirical distribution
functions at fixed thresholds and the counts are stored.

    python3 scripts/reference/image_views.py > crates/icl-data/tests/reference/image_views.json
"""

import itertools
import json
import platform
import random
import sys
import zlib

import numpy
import PIL
import torch
import torchvision
from PIL import Image
from torchvision import transforms
from torchvision.transforms import functional as F

SEED = 20261121
N_DRAWS = 20_000
N_THRESHOLDS = 39
SCALE, RATIO = (0.2, 1.0), (3 / 4, 4 / 3)


def picture(width, height, channels):
    """Slopes that rise and fall, and noise on them."""
    y, x, c = numpy.mgrid[0:height, 0:width, 0:channels].astype(numpy.int64)
    slope = numpy.abs((3 * x + 2 * y + 170 * c) % 510 - 255)
    noise = (x * 73856093 ^ y * 19349663 ^ c * 83492791) * 2654435761 % 2**32 >> 24
    bytes_ = (3 * slope + noise) // 4
    return Image.fromarray(bytes_.astype(numpy.uint8).squeeze(2) if channels == 1 else bytes_.astype(numpy.uint8))


def planes(image):
    array = numpy.asarray(image)
    return array[None] if array.ndim == 2 else array.transpose(2, 0, 1)


def crc(image):
    return zlib.crc32(numpy.ascontiguousarray(planes(image)).tobytes())


def samples(image, stride):
    array = planes(image)
    return {
        "stride": stride,
        "bytes": numpy.ascontiguousarray(array[:, ::stride, ::stride]).tobytes().hex(),
        "mean": float(array.mean(dtype=numpy.float64)),
    }


def describe(shape):
    return dict(zip(["width", "height", "channels"], shape))


def crop(image, box, size):
    left, top, width, height = box
    return F.resized_crop(image, top, left, height, width, [size, size], antialias=True)


def grey(image):
    return F.to_grayscale(image, 3) if image.mode == "RGB" else image


def jitter(image, order, factors):
    adjust = [F.adjust_brightness, F.adjust_contrast, F.adjust_saturation, F.adjust_hue]
    for step in order:
        image = adjust[step](image, factors[step])
    return image


def blur(image, sigma):
    length = max(3, 2 * (image.width // 20) + 1)
    return F.gaussian_blur(image, [length, length], [sigma, sigma])


def single_steps():
    """Jitter of which only one step does anything, on images that are not resized."""
    cases = []
    for step, factors in enumerate(
        [[0.0, 0.6, 1.0, 1.37, 4.0], [0.0, 0.61, 1.0, 1.39, 5.0], [0.0, 0.62, 1.0, 1.38, 3.0], [-0.5, -0.4, -0.013, 0.001, 0.2, 0.4, 0.5]]
    ):
        for shape, factor in itertools.product([(64, 64, 3), (28, 28, 1)], factors):
            result = jitter(picture(*shape), [step], {step: factor})
            cases.append({**describe(shape), "step": step, "factor": factor, "crc32": crc(result)})
    return cases


def orders(rng):
    """All orders of the four steps, with and without grey and flip."""
    cases = []
    for at, order in enumerate(itertools.permutations(range(4))):
        factors = [rng.uniform(0.6, 1.4) for _ in range(3)] + [rng.uniform(-0.4, 0.4)]
        shape = (28, 28, 1) if at % 6 == 5 else (45, 45, 3)
        image = picture(*shape)
        if at % 4 == 1:
            image = grey(image)
        image = jitter(image, order, factors)
        if at % 2:
            image = F.hflip(image)
        cases.append(
            {
                **describe(shape),
                "grey": at % 4 == 1,
                "order": order,
                "factors": factors,
                "flip": bool(at % 2),
                "crc32": crc(image),
            }
        )
    return cases


def all_colours():
    """Every colour there is, in 64 squares of 512 x 512 pixels: red is the slowest."""
    cases = []
    colours = numpy.arange(512 * 512)
    for name, change in [
        ("grey", lambda image, _: grey(image)),
        ("saturation", F.adjust_saturation),
        ("hue", F.adjust_hue),
    ]:
        for factor in {"grey": [1.0], "saturation": [0.7, 1.4], "hue": [0.003, 0.3, -0.45]}[name]:
            total = 0
            for square in range(64):
                codes = colours + square * 512 * 512
                pixels = numpy.stack([codes >> 16, codes >> 8 & 255, codes & 255], axis=1)
                image = Image.fromarray(pixels.astype(numpy.uint8).reshape(512, 512, 3))
                total = zlib.crc32(numpy.ascontiguousarray(planes(change(image, factor))).tobytes(), total)
            cases.append({"name": name, "factor": factor, "crc32": total})
    return cases


def crops():
    cases = []
    for shape, box, size, stride in [
        ((37, 53, 3), (0, 0, 37, 53), 32, 2),
        ((37, 53, 3), (5, 7, 30, 40), 32, 1),
        ((37, 53, 3), (5, 7, 32, 40), 32, 2),
        ((37, 53, 3), (4, 3, 32, 32), 32, 2),
        ((37, 53, 3), (9, 30, 5, 4), 64, 4),
        ((28, 28, 1), (2, 1, 25, 26), 28, 1),
        ((28, 28, 1), (0, 0, 28, 28), 64, 3),
        ((340, 256, 3), (20, 10, 300, 230), 224, 9),
        ((340, 256, 3), (0, 0, 340, 256), 64, 3),
        ((340, 256, 3), (100, 50, 120, 150), 224, 9),
        ((340, 256, 3), (337, 254, 3, 2), 64, 4),
        ((340, 256, 3), (1, 1, 339, 255), 1, 1),
        ((1, 1, 3), (0, 0, 1, 1), 5, 1),
        ((2000, 3, 1), (500, 0, 1500, 3), 8, 1),
    ]:
        result = crop(picture(*shape), box, size)
        cases.append({**describe(shape), "crop": box, "size": size, **samples(result, stride)})
    return cases


def plains():
    cases = []
    for shape, size, stride in [
        ((340, 256, 3), 224, 9),
        ((340, 256, 3), 64, 3),
        ((37, 53, 3), 32, 2),
        ((37, 53, 3), 64, 4),
        ((37, 53, 3), 37, 3),
        ((32, 32, 3), 32, 2),
        ((28, 28, 1), 28, 2),
        ((28, 31, 1), 13, 1),
        ((1, 1, 3), 8, 2),
        ((3, 1000, 1), 16, 1),
        ((2000, 2, 3), 4, 1),
        ((340, 256, 3), 1, 1),
    ]:
        steps = transforms.Compose([transforms.Resize(size), transforms.CenterCrop(size)])
        cases.append({**describe(shape), "size": size, **samples(steps(picture(*shape)), stride)})
    return cases


def blurs():
    cases = []
    for shape, sigma, stride in [
        ((64, 64, 3), 0.1, 3),
        ((64, 64, 3), 0.7, 3),
        ((64, 64, 3), 2.0, 2),
        ((28, 28, 1), 1.0, 1),
        ((2, 2, 3), 1.5, 1),
        ((3, 3, 1), 9.0, 1),
        ((224, 224, 3), 0.6, 9),
        ((224, 224, 3), 2.0, 7),
    ]:
        result = blur(picture(*shape), sigma)
        cases.append({**describe(shape), "sigma": sigma, **samples(result, stride)})
    return cases


def chains(rng):
    """Everything together."""
    cases = []
    for at, (shape, size, stride) in enumerate(
        [((340, 256, 3), 224, 9)] * 2 + [((340, 256, 3), 64, 3)] * 4 + [((37, 53, 3), 32, 2)] * 4 + [((28, 28, 1), 28, 1)] * 2
    ):
        image = picture(*shape)
        torch.manual_seed(at)
        top, left, height, width = transforms.RandomResizedCrop.get_params(image, SCALE, RATIO)
        box = (left, top, width, height)
        order = rng.sample(range(4), 4)
        factors = [rng.uniform(0.6, 1.4) for _ in range(3)] + [rng.uniform(-0.4, 0.4)]
        sigma = rng.uniform(0.1, 2.0) if at % 2 else None
        image = crop(image, box, size)
        if at % 4 == 3:
            image = grey(image)
        image = jitter(image, order, factors)
        if sigma is not None:
            image = blur(image, sigma)
        if at % 3 == 0:
            image = F.hflip(image)
        cases.append(
            {
                **describe(shape),
                "crop": box,
                "size": size,
                "grey": at % 4 == 3,
                "order": order,
                "factors": factors,
                "sigma": sigma,
                "flip": at % 3 == 0,
                **samples(image, stride),
            }
        )
    return cases


def distribution(values, low, high):
    """How many of the values are at most each of the thresholds, which are evenly spaced."""
    thresholds = [low + (high - low) * (at + 1) / (N_THRESHOLDS + 1) for at in range(N_THRESHOLDS)]
    return {"low": low, "high": high, "counts": [int((values <= t).sum()) for t in thresholds]}


def drawn_crops():
    torch.manual_seed(SEED)
    cases = []
    for shape, scale, ratio in [
        ((340, 256), SCALE, RATIO),
        ((100, 230), SCALE, RATIO),
        ((400, 20), SCALE, RATIO),
        ((28, 28), (0.08, 1.0), RATIO),
        ((210, 200), (0.5, 1.0), (0.5, 3.0)),
    ]:
        image = torch.empty(1, shape[1], shape[0])
        draws = [transforms.RandomResizedCrop.get_params(image, scale, ratio) for _ in range(N_DRAWS)]
        top, left, height, width = numpy.array(draws, dtype=numpy.float64).T
        # A crop that fills a side has no choice of position.
        share = lambda first, length, side: first / numpy.maximum(side - length, 1)
        # What is drawn when no attempt fits.
        torch_fallback = transforms.RandomResizedCrop.get_params(image, (2.0, 2.0), ratio)
        cases.append(
            {
                "width": shape[0],
                "height": shape[1],
                "scale": scale,
                "ratio": ratio,
                "area": distribution(width * height / (shape[0] * shape[1]), 0.0, 1.0),
                "log_ratio": distribution(numpy.log(width / height), -1.2, 1.2),
                "left": distribution(share(left, width, shape[0]), 0.0, 1.0),
                "top": distribution(share(top, height, shape[1]), 0.0, 1.0),
                "centre": {
                    "crop": [torch_fallback[i] for i in [1, 0, 3, 2]],
                    "count": sum(tuple(draw) == tuple(torch_fallback) for draw in draws),
                },
            }
        )
    return cases


def drawn_jitters():
    jitter = transforms.ColorJitter(0.4, 0.3, 1.2, 0.1)
    draws = [
        transforms.ColorJitter.get_params(jitter.brightness, jitter.contrast, jitter.saturation, jitter.hue)
        for _ in range(N_DRAWS)
    ]
    orders = [tuple(draw[0].tolist()) for draw in draws]
    column = lambda at: numpy.array([draw[at] for draw in draws])
    return {
        "strengths": [0.4, 0.3, 1.2, 0.1],
        "order_counts": [orders.count(order) for order in itertools.permutations(range(4))],
        "factors": [
            distribution(column(1), 0.5, 1.5),
            distribution(column(2), 0.5, 1.5),
            distribution(column(3), -0.1, 2.3),
            distribution(column(4), -0.12, 0.12),
        ],
    }


def main():
    rng = random.Random(SEED)
    record = {
        "script": "scripts/reference/image_views.py",
        "seed": SEED,
        "versions": {
            "python": platform.python_version(),
            "numpy": numpy.__version__,
            "torch": torch.__version__,
            "torchvision": torchvision.__version__,
            "pillow": PIL.__version__,
        },
        "pictures": [{**describe(s), "crc32": crc(picture(*s))} for s in [(37, 53, 3), (28, 28, 1), (340, 256, 3)]],
        "single_steps": single_steps(),
        "orders": orders(rng),
        "all_colours": all_colours(),
        "crops": crops(),
        "plains": plains(),
        "blurs": blurs(),
        "chains": chains(rng),
        "n_draws": N_DRAWS,
        "drawn_crops": drawn_crops(),
        "drawn_jitters": drawn_jitters(),
    }
    json.dump(record, sys.stdout, separators=(",", ":"))
    print()


if __name__ == "__main__":
    main()
