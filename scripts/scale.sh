#!/usr/bin/env bash
# Times one epoch of icl train on made-up data of growing size, with its peak memory: tables of 32 columns, images of 28 x 28 pixels,
# and rings of 20 to 40 nodes as a TU data set; then icl diagnose on made-up embeddings. docs/benchmarks/scale.md shows what it prints.
#
# Usage: scripts/scale.sh ICL FOLDER
#   ICL     the program
#   FOLDER  a new folder for data and runs: 2 GB
# Needs python3, and GNU time (apt-get install time).
set -euo pipefail

icl=$(realpath "$1")
mkdir "$2"
cd "$2"

# timed NAME N DATA COMMAND...: a row of the table: seconds, peak memory, size of the data's file or folder.
timed() {
  local name=$1 n=$2 data=$3
  shift 3
  /usr/bin/time -o time.txt -f "%e %M" "$icl" "$@" >out.txt 2>messages.txt || { cat messages.txt >&2; exit 1; }
  awk -v name="$name" -v n="$n" -v bytes="$(du -sb "$data" | cut -f1)" \
    '{ printf "| %s | %d | %.1f | %.0f | %.0f |\n", name, n, $1, $2 / 1024, bytes / 1048576 }' time.txt
  rm -rf out
}

# made KIND N TO: data of n samples at a path, the same at each call.
made() {
  python3 - "$@" <<'PYTHON'
import os, random, struct, sys

kind, n, to = sys.argv[1], int(sys.argv[2]), sys.argv[3]
draw = random.Random(to)
if kind == "table":
    rows = [",".join(f"{draw.gauss(0, 1):.6f}" for _ in range(32)) for _ in range(1000)]
    with open(to, "w") as file:
        file.write(",".join(f"x{at}" for at in range(32)) + "\n")
        for at in range(n):
            file.write(f"{draw.gauss(0, 1):.6f}," + rows[at % 1000].split(",", 1)[1] + "\n")
elif kind == "embeddings":
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({n}, 64), }}".ljust(117) + "\n"
    with open(to, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + header.encode())
        for _ in range(n):
            file.write(struct.pack("<64f", *(draw.gauss(0, 1) for _ in range(64))))
elif kind == "images":
    with open(to, "wb") as file:
        file.write(struct.pack(">4I", 2051, n, 28, 28))
        for _ in range(n):
            file.write(draw.randbytes(784))
    with open(to.replace("images-idx3", "labels-idx1"), "wb") as file:
        file.write(struct.pack(">2I", 2049, n) + bytes(at % 10 for at in range(n)))
else:
    os.mkdir(to)
    with open(f"{to}/rings_A.txt", "w") as edges, open(f"{to}/rings_graph_indicator.txt", "w") as indicator, \
            open(f"{to}/rings_node_labels.txt", "w") as labels, open(f"{to}/rings_graph_labels.txt", "w") as classes:
        first = 1
        for graph in range(n):
            nodes = draw.randrange(20, 41)
            for at in range(nodes):
                edges.write(f"{first + at}, {first + (at + 1) % nodes}\n{first + (at + 1) % nodes}, {first + at}\n")
                indicator.write(f"{graph + 1}\n")
                labels.write(f"{draw.randrange(3)}\n")
            classes.write(f"{graph % 2}\n")
            first += nodes
PYTHON
}

echo "| data | n | seconds | peak MiB | MiB of the file |"
echo "|---|--:|--:|--:|--:|"
epoch=(--epochs 1 --stop never --evaluate-every 1000 --batch-size 256 --out out)
for n in 10000 100000 1000000; do
  made table $n "table-$n.csv"
  timed "table, 32 columns" $n "table-$n.csv" train --data "table-$n.csv" "${epoch[@]}"
done
for n in 10000 100000 400000; do
  made images $n "$n-images-idx3-ubyte"
  timed "images, 28 x 28, perceptron" $n "$n-images-idx3-ubyte" train --data "$n-images-idx3-ubyte" --encoder mlp --width 256 "${epoch[@]}"
done
for n in 1000 10000 100000; do
  made graphs $n "graphs-$n"
  timed "graphs, 30 nodes" $n "graphs-$n" train --data "graphs-$n" "${epoch[@]}"
done
made embeddings 10000 anchors.npy
made embeddings 10000 positives.npy
for n in 10000 100000; do
  made embeddings $n "old-$n.npy"
  made embeddings $n "new-$n.npy"
  timed "icl diagnose, 64 columns" $n "old-$n.npy" diagnose --anchors anchors.npy --positives positives.npy --old "old-$n.npy" \
    --new "new-$n.npy"
done
