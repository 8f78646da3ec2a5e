"""Event files of TensorBoard, written and read by its own wheel.

    pip install tensorboard==2.21.0
    python3 scripts/reference/tensorboard_events.py > crates/icl-report/tests/reference/tensorboard.json
    python3 scripts/reference/tensorboard_events.py DIR  # prints the scalars of the files in a folder
"""

import io
import json
import sys
import tempfile
from pathlib import Path

import tensorboard
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter

# Zeros, which protocol buffers leave out of an event but not out of a value; steps of one and of many bytes; a tag
# of more than 127 bytes that is not ASCII.
SCALARS = [
    ("risk", 0, 0.0),
    ("risk", 1, 2.5),
    ("risk", 127, -0.125),
    ("risk", 128, 1e-30),
    ("risk", 2**40 + 7, 3.0e38),
    ("‖θ‖ " + 130 * "x", 3, 1.0 / 3.0),
]


def written(wall_time):
    """The bytes of a file of SCALARS."""
    file = io.BytesIO()
    writer = RecordWriter(file)
    writer.write(Event(wall_time=wall_time, file_version="brain.Event:2").SerializeToString())
    for tag, step, value in SCALARS:
        summary = Summary(value=[Summary.Value(tag=tag, simple_value=value)])
        writer.write(Event(wall_time=wall_time, step=step, summary=summary).SerializeToString())
    return file.getvalue()


def read(folder):
    """The scalars of the files in a folder: for each tag, steps and values."""
    events = EventAccumulator(str(folder), size_guidance={"scalars": 0}).Reload()
    return {
        tag: [[event.step, event.value] for event in events.Scalars(tag)]
        for tag in events.Tags()["scalars"]
    }


def reference():
    cases = []
    for wall_time in [0.0, 1234.5]:
        data = written(wall_time)
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "events.out.tfevents.0.icl").write_bytes(data)
            found = read(folder)
        assert sum(map(len, found.values())) == len(SCALARS), found
        cases.append({"wall_time": wall_time, "hex": data.hex()})
    return {
        "tensorboard": tensorboard.__version__,
        "scalars": [{"tag": tag, "step": step, "value": value} for tag, step, value in SCALARS],
        "cases": cases,
    }


if __name__ == "__main__":
    result = read(sys.argv[1]) if len(sys.argv) > 1 else reference()
    print(json.dumps(result, indent=1, ensure_ascii=False))
