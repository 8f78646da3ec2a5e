#!/usr/bin/env bash
# Runs the streams of docs/results/streams for one data set: each method at its own stop and at the cost of icl, and the rules for
# the moment of an update, for three seeds. A run that is there is not made again.
#
# Usage: scripts/streams.sh ICL FOLDER NAME BUFFER [OPTION...]
#   ICL     the program
#   FOLDER  folder of the runs
#   NAME    name of the stream, and of its page
#   BUFFER  number of samples of the replay buffer
#   OPTION  options of `icl stream`: --data DATA --split SPLIT, and what else all runs share
set -euo pipefail
icl=$1 folder=$2 name=$3 buffer=$4
shift 4
mkdir -p "$folder"

# run NAME OPTION...: one stream, unless it is there.
run() {
  local out="$folder/$name-$1"
  shift
  [ -e "$out/matrix.json" ] && return
  rm -rf "$out"
  "$icl" stream "${@}" --out "$out" >"$out.txt" 2>&1
}

for seed in 0 1 2; do
  run "icl-own-$seed" "$@" --seed $seed --control retraining --control warm --control never
  first="$folder/$name-icl-own-$seed/000-1/encoder.safetensors"
  # The mean charged cost of an update of icl.
  budget=$(python3 -c '
import json, sys
steps = json.load(open(sys.argv[1]))["experiences"][1:]
print(sum(step["charged_passes"] for step in steps) / len(steps))' "$folder/$name-icl-own-$seed/matrix.json")
  same=("$@" --seed $seed --from "$first")
  for method in fine-tuning retraining warm; do
    run "$method-equal-$seed" "${same[@]}" --method $method --budget-per-update "$budget" --stop never
  done
  run "icl-equal-$seed" "${same[@]}" --method icl --budget-per-update "$budget" --stop never
  run "replay-equal-$seed" "${same[@]}" --method warm --keep "reservoir:$buffer" --budget-per-update "$budget" --stop never
  run "fifo-equal-$seed" "${same[@]}" --method warm --keep "fifo:$buffer" --budget-per-update "$budget" --stop never
  run "fine-tuning-own-$seed" "${same[@]}" --method fine-tuning
  run "replay-own-$seed" "${same[@]}" --method warm --keep "reservoir:$buffer"
  for when in every:2 every:3 drift drift:0.2 regret:0.02; do
    run "icl-when-${when/:/}-$seed" "${same[@]}" --when $when
  done
done
