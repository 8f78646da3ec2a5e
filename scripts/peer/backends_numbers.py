"""Numbers that both sides of the benchmark `backends` make alike, and what its cases share."""

import os
import time

import numpy
import torch


def hashed(stream, n):
    """n numbers in [0, 1): SplitMix64 (Steele, Lea and Flood, 2014), its upper 24 bits."""
    with numpy.errstate(over="ignore"):
        first = numpy.uint64(stream << 32)
        z = (first + numpy.arange(1, n + 1, dtype=numpy.uint64)) * numpy.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
        z ^= z >> numpy.uint64(31)
    return (z >> numpy.uint64(40)).astype(float) / 2**24


def embeddings(n, width, device):
    """Anchors, and positives that are like them, both [n, width]."""
    anchors = hashed(2, n * width) - 0.5
    positives = 0.5 * anchors + 0.5 * (hashed(3, n * width) - 0.5)
    return [
        torch.from_numpy(values.reshape(n, width).astype(numpy.float32)).to(device)
        for values in (anchors, positives)
    ]


def parameters(module):
    """How many numbers are trained."""
    return sum(parameter.numel() for parameter in module.parameters())


def synchronise(device):
    if device != "cpu":
        torch.cuda.synchronize()


def fastest(make, forms):
    """The form whose work repeats the fastest, by the best of three.

    They are tried in a process that ends, so that what they take is not in this one's memory.
    """
    read, write = os.pipe()
    if os.fork() == 0:
        try:
            times = [best_of_three(make(form)) for form in forms]
            os.write(write, str(times.index(min(times))).encode())
        except Exception as error:
            os.write(write, repr(error).encode())
        finally:
            os._exit(0)
    os.close(write)
    answer = os.read(read, 1000).decode()
    if not answer.isdigit():
        raise RuntimeError(f"no form could be chosen: {answer or 'the process ended'}")
    return forms[int(answer)]


def best_of_three(work):
    work.repeat()
    times = []
    for _ in range(3):
        start = time.perf_counter()
        work.repeat()
        times.append(time.perf_counter() - start)
    return min(times)
