"""PyTorch's side of the benchmark `backends`, which starts it.

As `backends.py versions` it names the versions and, if there is one, the GPU. As
`backends.py N_THREADS DEVICE fastest|usual CASE`, a case being words such as `info_nce 1024 128`, it
prepares the case and repeats it once, prints `ready`, the form that was chosen and what shows that
the work is the other side's, parted by tabs, and then answers the lines of its input:

    turn MS     repeats the case until so many milliseconds have gone, at least once; the answer is
                what a repetition took on average in milliseconds: of the clock, and of all
                processors together
    memory      the answer is the largest resident memory in MiB, so far and before the case
"""

import platform
import sys
import time
import warnings
from functools import partial

import torch


def versions():
    import torch_geometric
    import torchvision

    names = [
        f"Python {platform.python_version()}",
        f"PyTorch {torch.__version__}",
        f"torchvision {torchvision.__version__}",
        f"PyTorch Geometric {torch_geometric.__version__}",
    ]
    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else ""
    print(", ".join(names), gpu, sep="\t")


def maker_of(topic):
    """What makes the work of a case. Only what the topic needs is imported: it takes memory."""
    if topic in ("gcn", "gcn_synthetic"):
        import backends_graphs

        return partial(backends_graphs.step, topic)
    if topic in ("resnet18", "convnet", "perceptron"):
        import backends_images

        return getattr(backends_images, topic)
    if topic == "decision":
        import backends_agent

        return backends_agent.Decision
    import backends_losses

    return {"info_nce": backends_losses.InfoNce, "risk": backends_losses.Risk}[topic]


def turn_ms(work, limit_ms):
    worked = time.process_time()
    start = time.perf_counter()
    n_repetitions = 0
    while True:
        work.repeat()
        n_repetitions += 1
        gone_ms = 1e3 * (time.perf_counter() - start)
        if gone_ms >= limit_ms:
            worked_ms = 1e3 * (time.process_time() - worked)
            return gone_ms / n_repetitions, worked_ms / n_repetitions


def peak_memory_mib():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) // 1024


def main():
    # Such as: sparse tensors are in beta state. The other side shows what this one says in the end.
    warnings.simplefilter("ignore")
    if sys.argv[1] == "versions":
        return versions()
    n_threads, device, form, topic, *sizes = sys.argv[1:]
    torch.set_num_threads(int(n_threads))
    make = maker_of(topic)
    at_start_mib = peak_memory_mib()
    work = make(*sizes, form, device) if topic.startswith("gcn") else make(*sizes, device)
    work.repeat()
    print("ready", work.form, work.facts, sep="\t", flush=True)
    for line in sys.stdin:
        verb, *rest = line.split()
        if verb == "turn":
            print(*turn_ms(work, float(*rest)), flush=True)
        else:
            print(peak_memory_mib(), at_start_mib, flush=True)


if __name__ == "__main__":
    main()
