"""Compares the records of two builds of the program `icl`.

    python3 scripts/compare_records.py OLD_PROGRAM NEW_PROGRAM
    python3 scripts/compare_records.py --records OLD.jsonl NEW.jsonl

The first form runs the same commands with both programs in temporary folders: seven methods on MUTAG
with the seeds 0 and 1, the five methods of the first run on digits, and four methods on a few images of
MNIST. Each `record.jsonl` is then compared line by line. The values must be the same to the last digit,
except for timings (keys that end in `_s`). The order of keys does not matter. Keys that only one record
has are listed: added ones, and removed ones, which are no difference either unless `--keep-keys` is given.
Everything else is printed with its line, its key and both values. The exit code is 1 if there is a
difference and 2 if a command fails.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

GRAPH_METHODS = ["retraining", "warm", "icl", "icl-published", "icl-corrected", "distillation", "replay"]
DIGIT_METHODS = ["inference", "retraining", "warm", "fine-tuning", "icl"]
IMAGE_METHODS = ["retraining", "warm", "icl", "replay"]
DIGITS = ["--data", "digits", "--split", "class:0,1,2,3,4", "--temperature", "0.2", "--negatives", "31"]
DIGITS += ["--batch-size", "64", "--epochs", "60", "--seed", "0"]
IMAGES = ["--data", "MNIST-1v7", "--limit", "60", "--epochs", "2", "--seed", "0"]

# Arguments of `icl run`, by the name of the comparison.
RUNS = {
    "graphs": ["--data", "MUTAG", "--seeds", "2"] + [f"--method={name}" for name in GRAPH_METHODS],
    "digits": DIGITS + [f"--method={name}" for name in DIGIT_METHODS],
    "images": IMAGES + [f"--method={name}" for name in IMAGE_METHODS],
}

# Number of differences that are printed for each comparison.
SHOWN = 20


class Number(str):
    """A number as it is written, so that 1.0 and 1 differ, and so do 0.1 and 0.10."""


def is_timing(key):
    """Checks whether a key holds seconds, which differ from run to run."""
    return key.endswith("_s")


def differences(old, new, path=""):
    """Yields the path of each difference with its old and its new value."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key, value in old.items():
            if key in new and not is_timing(key):
                yield from differences(value, new[key], f"{path}.{key}" if path else key)
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            yield f"length of {path}", len(old), len(new)
        for index, (left, right) in enumerate(zip(old, new)):
            yield from differences(left, right, f"{path}[{index}]")
    elif type(old) is not type(new) or old != new:
        yield path, old, new


def added(old, new, path=""):
    """Yields the paths of all keys that only the new value has, without the indices of lists."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key, value in new.items():
            inside = f"{path}.{key}" if path else key
            if key in old:
                yield from added(old[key], value, inside)
            else:
                yield inside
    elif isinstance(old, list) and isinstance(new, list):
        for left, right in zip(old, new):
            yield from added(left, right, f"{path}[]")


def read(path):
    """Reads the lines of a record, with numbers as they are written."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        fail(f"{path}: {error.strerror}")
    values = []
    for number, line in enumerate(lines, 1):
        try:
            text = dict.fromkeys(["parse_float", "parse_int", "parse_constant"], Number)
            values.append(json.loads(line, **text))
        except json.JSONDecodeError as error:
            fail(f"{path}:{number}: found no JSON ({error})")
    return values


def shown(value):
    """Returns a value in at most one short line."""
    text = value if isinstance(value, Number) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:59] + "…"


def compare(name, old_path, new_path, keeps_keys):
    """Prints the differences between two records and returns their number."""
    old, new = read(old_path), read(new_path)
    pairs = list(zip(old, new))
    gone = sorted({key for left, right in pairs for key in added(right, left)})
    found = [f"the key {key} is gone" for key in gone] if keeps_keys else []
    if len(old) != len(new):
        found.append(f"found {len(new)} lines, expected {len(old)}")
    for number, (left, right) in enumerate(pairs, 1):
        for path, before, after in differences(left, right):
            found.append(f"line {number}: {path}: {shown(before)} became {shown(after)}")
    for difference in found[:SHOWN]:
        print(f"{name}: {difference}")
    if len(found) > SHOWN:
        print(f"{name}: and {len(found) - SHOWN} more differences")
    keys = sorted({key for pair in pairs for key in added(*pair)})
    if keys:
        print(f"{name}: added keys: {', '.join(keys)}")
    if gone and not keeps_keys:
        print(f"{name}: removed keys: {', '.join(gone)}")
    if not found:
        print(f"{name}: {len(old)} lines are the same apart from timings")
    return len(found)


def run(program, arguments, folder):
    """Runs `icl run` and returns the path of its record."""
    command = [program, "run", *arguments, "--out", folder]
    print("running:", *command, file=sys.stderr, flush=True)
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    except OSError as error:
        fail(f"{program}: {error.strerror}")
    if done.returncode != 0:
        fail(f"{program}: exit code {done.returncode}, expected 0\n{done.stdout}")
    return folder / "record.jsonl"


def fail(message):
    print(f"error: {message}", file=sys.stderr)
    sys.exit(2)


def main():
    parser = argparse.ArgumentParser(description="Compare the records of two builds of icl")
    parser.add_argument("--records", action="store_true", help="compare two records without running anything")
    parser.add_argument("--keep-keys", action="store_true", help="a key that the new record lacks is a difference")
    parser.add_argument("old", type=Path, help="program (or record) of the earlier build")
    parser.add_argument("new", type=Path, help="program (or record) of the later build")
    arguments = parser.parse_args()
    if arguments.records:
        sys.exit(1 if compare("records", arguments.old, arguments.new, arguments.keep_keys) else 0)
    n_differences = 0
    with tempfile.TemporaryDirectory(prefix="icl-records-") as folder:
        for name, options in RUNS.items():
            old, new = (
                run(program.resolve(), options, Path(folder) / f"{name}-{side}")
                for side, program in [("old", arguments.old), ("new", arguments.new)]
            )
            n_differences += compare(name, old, new, arguments.keep_keys)
    sys.exit(1 if n_differences else 0)


if __name__ == "__main__":
    main()
