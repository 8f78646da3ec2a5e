"""Reference values for the readers of images.

Draws small pictures from a fixed seed, has Pillow write them in every kind of file that is read,
and records each file with the pixels that Pillow reads back as RGB. Of 16-bit grey, which Pillow
clips, the nearest 8-bit values are recorded instead. Of the data sets that may not be copied into
the project only counts, sums and single pixels are recorded, read by plain NumPy and Pillow.

    python3 scripts/reference/image_data.py > crates/icl-data/tests/reference/image_data.json

The data is looked for in the folder of `icl fetch`: the one that ICL_DATA_DIR names, else icl in the
cache folder. A set that is not there is named on the standard error and left out.
"""

import gzip
import io
import json
import os
import platform
import sys
import tarfile
from pathlib import Path

import numpy
import PIL
from PIL import Image, features

ROOT = Path(__file__).resolve().parents[2]
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
DATA = Path(os.environ.get("ICL_DATA_DIR", CACHE / "icl"))
SEED = 20260101
WIDTH, HEIGHT = 21, 14
N_PHOTOS = 4


def picture(rng):
    """Two soft gradients and some noise: neither flat nor pure noise."""
    y, x = numpy.mgrid[0:HEIGHT, 0:WIDTH]
    planes = [
        128 + 90 * numpy.sin(x / (4.0 + channel)) * numpy.cos(y / (5.0 - channel))
        for channel in range(3)
    ]
    noisy = numpy.stack(planes, axis=-1) + rng.normal(0.0, 6.0, (HEIGHT, WIDTH, 3))
    return numpy.clip(numpy.round(noisy), 0, 255).astype(numpy.uint8)


def written(image, **options):
    buffer = io.BytesIO()
    image.save(buffer, **options)
    return buffer.getvalue()


def made_files(rng):
    rgb = Image.fromarray(picture(rng))
    grey = rgb.convert("L")
    alpha = Image.fromarray(rng.integers(0, 256, (HEIGHT, WIDTH), dtype=numpy.uint8))
    rgba = rgb.copy()
    rgba.putalpha(alpha)
    grey_alpha = Image.merge("LA", [grey, alpha])
    palette = rgb.quantize(16)
    other = Image.fromarray(picture(rng))
    exif = Image.Exif()
    exif[0x0112] = 6  # The camera was turned by a quarter.
    jpeg = {"format": "JPEG", "quality": 90}
    files = {
        "rgb-444.jpg": written(rgb, subsampling=0, **jpeg),
        "rgb-422.jpg": written(rgb, subsampling=1, **jpeg),
        "rgb-420.jpg": written(rgb, subsampling=2, **jpeg),
        "progressive.jpg": written(rgb, progressive=True, **jpeg),
        "turned.jpg": written(rgb, exif=exif, subsampling=0, **jpeg),
        "grey.jpg": written(grey, **jpeg),
        "cmyk.jpg": written(rgb.convert("CMYK"), **jpeg),
        "rgb.png": written(rgb, format="PNG"),
        "grey.png": written(grey, format="PNG"),
        "one-bit.png": written(grey.convert("1"), format="PNG"),
        "alpha.png": written(rgba, format="PNG"),
        "grey-alpha.png": written(grey_alpha, format="PNG"),
        "palette.png": written(palette, format="PNG"),
        "palette-alpha.png": written(palette, format="PNG", transparency=3),
        "animated.png": written(rgb, format="PNG", save_all=True, append_images=[other]),
        "lossless.webp": written(rgb, format="WEBP", lossless=True),
        "lossy.webp": written(rgb, format="WEBP", quality=90),
        "alpha.webp": written(rgba, format="WEBP", lossless=True, exact=True),
        "animated.webp": written(
            rgb, format="WEBP", lossless=True, save_all=True, append_images=[other]
        ),
    }
    records = []
    for name, contents in files.items():
        pixels = numpy.asarray(Image.open(io.BytesIO(contents)).convert("RGB"))
        records.append(record(name, contents, pixels))
    deep = rng.integers(0, 65536, (HEIGHT, WIDTH), dtype=numpy.uint16)
    nearest = numpy.floor(deep / 257.0 + 0.5).astype(numpy.uint8)
    contents = written(Image.fromarray(deep), format="PNG")
    records.append(record("grey-16.png", contents, numpy.stack([nearest] * 3, axis=-1)))
    return records


def record(name, contents, pixels):
    assert pixels.shape == (HEIGHT, WIDTH, 3), name
    return {"name": name, "file": contents.hex(), "pixels": pixels.tobytes().hex()}


def weighted_sum(values):
    """Every byte times one plus its place modulo 251, so that order matters."""
    flat = values.reshape(-1).astype(numpy.int64)
    return int((flat * (1 + numpy.arange(len(flat)) % 251)).sum())


def unpacked(path):
    return numpy.frombuffer(gzip.decompress(path.read_bytes()), dtype=numpy.uint8)


def labelled(labels, pixels):
    return {
        "n_class": numpy.bincount(labels, minlength=10).tolist(),
        "first_labels": labels[:10].tolist(),
        "label_sum": weighted_sum(labels),
        "pixel_sum": weighted_sum(pixels),
    }


def idx(folder, part):
    images = unpacked(folder / f"{part}-images-idx3-ubyte.gz")[16:]
    return labelled(unpacked(folder / f"{part}-labels-idx1-ubyte.gz")[8:], images)


def cifar(path):
    rows = unpacked(path).reshape(-1, 3073)
    planes = rows[:, 1:].reshape(-1, 3, 32, 32)
    return labelled(rows[:, 0], planes.transpose(0, 2, 3, 1))


def photos(path):
    """Single pixels of the first photographs of each class, and how many there are."""
    counts, single = {}, []
    with tarfile.open(path) as archive:
        for member in sorted(archive.getmembers(), key=lambda member: member.name.encode()):
            if not member.isfile():
                continue
            _, part, group, name = member.name.split("/")
            count = counts.setdefault(f"{part}/{group}", 0)
            counts[f"{part}/{group}"] += 1
            if count >= N_PHOTOS:
                continue
            image = Image.open(archive.extractfile(member))
            pixels = numpy.asarray(image.convert("RGB"))
            height, width, _ = pixels.shape
            places = [
                [height * (2 * row + 1) // 16, width * (2 * column + 1) // 16]
                for row in range(8)
                for column in range(8)
            ]
            single.append(
                {
                    "file": f"{part}/{group}/{name}",
                    "width": width,
                    "height": height,
                    "pixels": [[y, x, *pixels[y, x].tolist()] for y, x in places],
                    "means": pixels.mean(axis=(0, 1)).tolist(),
                }
            )
    return {"counts": counts, "single": single}


def main():
    sets = {}
    for name, path, read in [
        ("mnist_train", "mnist", lambda path: idx(path, "train")),
        ("mnist_test", "mnist", lambda path: idx(path, "t10k")),
        ("cifar10", "cifar10/cifar10_train_first4000_lossless.bin.gz", cifar),
        ("photos", "photos/ants-bees-256.tar.gz", photos),
    ]:
        if (DATA / path).exists():
            sets[name] = read(DATA / path)
        else:
            print(f"left out: {DATA / path} is not there", file=sys.stderr)
    rng = numpy.random.default_rng(SEED)
    text = json.dumps(
        {
            "script": "scripts/reference/image_data.py",
            "seed": SEED,
            "versions": {
                "python": platform.python_version(),
                "numpy": numpy.__version__,
                "pillow": PIL.__version__,
                "libjpeg_turbo": features.version("libjpeg_turbo"),
                "webp": features.version("webp"),
            },
            "files": made_files(rng),
            **sets,
        },
        separators=(",", ":"),
    )
    # One file or photograph a line: all on one is as hard to compare as each pixel on its own.
    print(text.replace("},{", "},\n{"))


if __name__ == "__main__":
    main()
