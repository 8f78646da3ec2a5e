#!/usr/bin/env bash
# Measures what an update loses when a uniform sample stands for the old data (docs/results/old-sample.md): the exact risk over test samples
# that no training has seen, after updates at the same cost with all old data and with samples of 20, 5 and 1 % of them, with and without the
# number for which they stand.
#
# Usage: scripts/old-sample.sh ICL FOLDER DATA CLASSES SEEDS OPTION... -- FIRST...
#   ICL       the program
#   FOLDER    a new folder for everything; FOLDER/risks.txt has the numbers
#   DATA      a data set with classes
#   CLASSES   the classes that are old, such as 0,1,2,3,4,5,6,7,8
#   SEEDS     the number of seeds, from 0
#   OPTION    options of icl train and icl update, such as --epochs 30; FIRST those of icl train alone, such as --encoder mlp
set -euo pipefail

icl=$(realpath "$1")
mkdir "$2"
folder=$(realpath "$2")
data=$3 classes=$4 seeds=$5
shift 5
training=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do training+=("$1"); shift; done
shift
first=("$@")
target=()
for at in "${!training[@]}"; do
  [ "${training[$at]}" = --target ] && target=(--target "${training[$((at + 1))]}")
done

quiet() {
  "$icl" "$@" >"$folder/out.txt" 2>"$folder/messages.txt" || { echo "icl $*" >&2; cat "$folder/messages.txt" >&2; exit 1; }
}

# measured SEED NAME ENCODER [ANSWER]: the exact risk of an encoder, as it is, over the test samples, and what the update itself answered on
# its held-out old samples.
measured() {
  rm -rf "$folder/measured"
  quiet update --method inference --from "$3" --old test/old --new test/new "${target[@]}" --hold-out 0 --evaluation-samples 6000 \
    --budget none --accept --out "$folder/measured"
  awk -v seed="$1" -v name="$2" -v answer="${4:-none}" '{
    match($0, /"before":{"all":[^,]*,"old":[^,]*,"new":[^,]*/)
    split(substr($0, RSTART, RLENGTH), part, /[:,]/)
    print seed, name, part[3], part[5], part[7], answer
  }' "$folder/measured/record.json" | tee -a "$folder/risks.txt"
}

# updated SEED NAME OPTION...: an update, and its risk.
updated() {
  local seed=$1 name=$2
  shift 2
  rm -rf "$folder/updated"
  quiet update --from first/encoder.safetensors --new train/new "${training[@]}" --seed "$seed" --accept --out "$folder/updated" "$@"
  local answer
  answer=$(grep -o '"answer":"[a-z_]*"' "$folder/updated/record.json" | head -1 | cut -d: -f2 | tr -d '"') || true
  measured "$seed" "$name" "$folder/updated/encoder.safetensors" "$answer"
}

[ -e "$data" ] && data=$(realpath "$data")
cd "$folder"
quiet split --data "$data" --split random --alpha 0.3 "${target[@]}" --out whole
for part in old:train new:test; do
  path=whole/${part%:*}
  quiet split --data "$path" --split "class:$classes" "${target[@]}" --out "${part#*:}"
done
for seed in $(seq 0 $((seeds - 1))); do
  rm -rf first kept-*
  quiet train --data train/old "${training[@]}" "${first[@]}" --seed "$seed" --out first
  n=$("$icl" show first/encoder.safetensors --json | sed -n 's/.*"n_samples": \([0-9]*\).*/\1/p' | head -1)
  measured "$seed" before first/encoder.safetensors
  updated "$seed" all --old train/old
  for percent in 20 5 1; do
    quiet keep --data train/old "${target[@]}" --size $((n * percent / 100)) --seed "$seed" --out "kept-$percent"
    updated "$seed" "$percent%" --old-sample "kept-$percent"
    updated "$seed" "$percent%-unweighted" --old "kept-$percent/data"
  done
done

# Mean and standard deviation over the seeds of the difference to all old data, in nats.
awk '
  { for (part = 3; part <= 5; part++) risk[$1, $2, part] = $part; worse[$2] += $6 == "worse"; if (!($2 in place)) { place[$2] = ++n; name[n] = $2 } seeds[$1] }
  END {
    print "update: mean difference to all old data, and its standard deviation over the seeds: all, old, new; worse on old data by its own verdict"
    for (at = 1; at <= n; at++) {
      line = name[at]
      for (part = 3; part <= 5; part++) {
        sum = squares = count = 0
        for (seed in seeds) { d = risk[seed, name[at], part] - risk[seed, "all", part]; sum += d; squares += d * d; count++ }
        mean = sum / count
        line = line sprintf("  %+.3f (%.3f)", mean, count > 1 ? sqrt((squares - count * mean * mean) / (count - 1) + 1e-18) : 0)
      }
      print line "  " worse[name[at]] " of " count
    }
  }' risks.txt
