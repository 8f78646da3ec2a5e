#!/usr/bin/env bash
# Runs the streams of docs/results/streams.md for one data set and one seed: icl next to its controls, each method at the
# cost of icl and without evaluations, and the rules for the moment of an update. A run that was interrupted continues,
# and one that is complete is not made again.
#
# Usage: scripts/streams.sh ICL FOLDER NAME SEED BUFFER EPOCHS [OPTION...]
#   ICL     the program
#   FOLDER  where the runs go: FOLDER/NAME-METHOD-STOP-SEED
#   SEED    root seed, also of the division
#   BUFFER  number of samples that replay keeps
#   EPOCHS  maximum number of epochs of an update that its own rule ends
#   OPTION  data set, division and settings, the same for all runs
# SCHEDULES=no leaves out the rules for the moment of an update.
set -euo pipefail

icl=$1 folder=$2 name=$3 seed=$4 buffer=$5 epochs=$6
shift 6
mkdir -p "$folder"

# run NAME OPTION...: one stream; it continues where it was interrupted.
run() {
  local out="$folder/$name-$1-$seed"
  shift
  if [ -e "$out/.icl-work" ] || [ -e "$(dirname "$out")/.icl-$(basename "$out").partial" ]; then
    "$icl" stream --resume "$out" >"$out.txt" 2>&1
  elif [ ! -e "$out/matrix.json" ]; then
    # Methods are compared as they are: no update is held back.
    "$icl" stream "$@" --accept --out "$out" >"$out.txt" 2>&1
  fi
}

common=("$@" --seed "$seed")
run icl-own "${common[@]}" --epochs "$epochs" --control retraining --control warm --control never
of_icl="$folder/$name-icl-own-$seed"
# The same first encoder, the mean cost of an update of icl, and the mean number of new samples that it trains on.
same=("${common[@]}" --from "$of_icl/000-1/encoder.safetensors")
{ read -r budget; read -r samples; } < <(python3 -c '
import json, sys
record = json.load(open(sys.argv[1]))
mean = lambda values: sum(values) / len(values)
print(mean([step["charged_passes"] for step in record["experiences"][1:]]))
print(mean([decision["n_samples"] for decision in record["decisions"]]))
' "$of_icl/matrix.json")
# The budget alone ends an update, so that no method pays for evaluations.
equal=("${same[@]}" --budget-per-update "$budget" --stop never --epochs 100000)
run icl-equal "${equal[@]}"
run retraining-equal "${equal[@]}" --method retraining
run warm-equal "${equal[@]}" --method warm
run fine-tuning-equal "${equal[@]}" --method fine-tuning
run replay-equal "${equal[@]}" --method warm --keep "reservoir:$buffer"
[ "${SCHEDULES:-yes}" != no ] || exit 0
for when in every:2 every:3 drift drift:0.2; do
  run "icl-when${when/:/}" "${same[@]}" --epochs "$epochs" --when $when
done
# Prices of an update in nats for each sample of a mean experience, as icl-lab tables schedules has them.
for price in 0.03 0.1 0.3; do
  nats=$(python3 -c "print($price * $samples / $budget)")
  run "icl-regret$price" "${equal[@]}" --when "regret:$nats"
done
# The encoder after each experience without further updates: its risk on all later ones.
for encoder in "$folder/$name-icl-equal-$seed"/[0-9]*/encoder.safetensors; do
  number=$(basename "$(dirname "$encoder")")
  run "icl-kept${number%%-*}" "${common[@]}" --from "$encoder" --when never
done
