"""Hashes of the content of samples by Python's hashlib and struct, for the tests of crates/icl-data/src/content.rs.

    python3 scripts/reference/content_hash.py
"""

import hashlib
import struct

RULE = b"content-hash-1"


def count(n):
    return struct.pack("<q", n)


def number(x):
    return struct.pack("<d", x + 0.0)


def text(b):
    return count(len(b)) + b


def content(*parts):
    return int.from_bytes(hashlib.md5(RULE + b"".join(parts)).digest()[:8], "big")


def row(**values):
    parts = []
    for name in sorted(values):
        value = values[name]
        parts.append(text(name.encode()))
        parts.append(b"t" + text(value.encode()) if isinstance(value, str) else b"n" + number(value))
    return content(*parts)


def graph(neighbours, labels, attributes):
    parts = [count(len(neighbours))]
    for of_node in neighbours:
        parts += [count(len(of_node)), *map(count, of_node)]
    for label, of_node in zip(labels, attributes):
        parts += [count(1), count(label), count(len(of_node)), *map(number, of_node)]
    return content(*parts)


def show(name, values):
    print(name, ", ".join(f"0x{value:016x}" for value in values))


show("EMPTY", [content()])
show("ROWS", [row(size=1.5, colour="red"), row(size=-0.0, colour="blue"), row(size=2000.0, colour=7.0, note="x y")])
show(
    "GRAPHS",
    [
        graph([[1], [0, 2], [1]], [-3, 8, 8], [[0.5], [1.0], [-0.0]]),
        graph([[1], [0]], [0, 8], [[2.0], [1e-3]]),
    ],
)
show("IMAGE", [content(count(3), count(2), count(1), text(bytes([0, 1, 2, 253, 254, 255])))])
show("PAIR", [content(text(b"user 1"), text("über".encode()))])
