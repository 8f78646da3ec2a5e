#!/usr/bin/env bash
# Times training steps of one process with two threads next to two processes with one thread each, and the memory of chunks.
#
# Usage: scripts/devices.sh ICL
#   ICL  the program, built with the feature mpi
set -euo pipefail

icl=$1
data=${ICL_DATA_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/icl}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# ms NAME: milliseconds of a step, from the record.
ms() {
  python3 -c '
import json, sys
record = json.load(open(sys.argv[1]))
steps = record["sample_passes"] / 2 / int(sys.argv[2])
print("%.1f" % (1000 * record["train_s"] / steps))' "$folder/$1/record.json" "$2"
}

# times NAME BATCH OPTION...: three pairs of runs, alternating.
times() {
  local name=$1 batch=$2
  shift 2
  for at in 1 2 3; do
    RAYON_NUM_THREADS=2 "$icl" train "$@" --batch-size "$batch" --stop never --evaluate-every 1000 --out "$folder/one" >/dev/null 2>&1
    RAYON_NUM_THREADS=1 mpirun --allow-run-as-root --oversubscribe --bind-to none -n 2 "$icl" train "$@" --batch-size "$batch" \
      --stop never --evaluate-every 1000 --devices mpi --out "$folder/two" >/dev/null 2>&1
    echo "$name batch $batch: one process $(ms one "$batch") ms, two $(ms two "$batch") ms"
    rm -rf "$folder/one" "$folder/two"
  done
}

# memory NAME OPTION...: the peak of one run.
memory() {
  local name=$1
  shift
  /usr/bin/time -f "$name: %M kB" "$icl" train "$@" --stop never --evaluate-every 1000 --out "$folder/memory" 2>&1 >/dev/null |
    grep " kB"
  rm -rf "$folder/memory"
}

images=$data/mnist/train-images-idx3-ubyte.gz
times "ResNet-18, 28 px" 128 --data "$images" --limit 512 --epochs 2
times "MLP" 128 --data digits-table --epochs 20
times "GCN" 128 --data "$data/graphs/PROTEINS.zip" --epochs 40
memory "ResNet-18, 28 px, batch 64" --data "$images" --limit 4096 --epochs 1 --batch-size 64 --evaluation-samples 64 --monitor-samples 64
memory "ResNet-18, 28 px, batch 4096, chunk 64" --data "$images" --limit 4096 --epochs 1 --batch-size 4096 --chunk 64 --evaluation-samples 64 \
  --monitor-samples 64
