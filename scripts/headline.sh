#!/usr/bin/env bash
# Runs the cells of the headline page: every method within a twentieth, a tenth, a quarter and half of retraining's cost, retraining by
# Adam, and retraining four times as long, all evaluated on 1,000 old and 1,000 new samples that were held out, on graphs on three tenths of
# the data. A run that was interrupted continues, and one that is complete is not made again. `icl-lab tables headline FOLDER/CELL…` prints the tables.
#
# Usage: scripts/headline.sh ICL DATA FOLDER CELL...
#   ICL     the program
#   DATA    the folder of the data sets, as icl fetch fills it; Letter is expected as tabular/LetterRecognition.csv.gz in it
#   FOLDER  where the runs go: FOLDER/CELL/SEED/{muon,between,adam,long}
#   CELL    mnist-mlp-ALPHA, mnist-convnet-ALPHA, letter-ALPHA, proteins-ALPHA or imdb-binary-ALPHA, ALPHA one of 0.02, 0.05, 0.1, 0.3, 0.5
# SEEDS (default "0 1 2 3 4") are the seeds, METHODS (default all seven) the methods, BACKEND (default flex) computes, LONG=no leaves out the
# retraining that is four times as long.
# Several copies of the script may run at once, with other seeds or cells.
# The rates were the best for retraining with the seeds 100 and 101: 0.006 for Muon and 0.01 for Adam on MNIST and Letter at alpha = 0.1,
# 0.001 for Muon and 0.003 for Adam on PROTEINS and IMDB-BINARY together at alpha = 0.3.
set -euo pipefail

icl=$(realpath "$1")
data=$(realpath "$2")
folder=$3
shift 3

# run OUT OPTION...: one comparison; it continues where it was interrupted.
run() {
  local out=$1
  shift
  if [ -e "$out/.icl-work" ] || [ -e "$(dirname "$out")/.icl-$(basename "$out").partial" ]; then
    "$icl" run --resume "$out"
  elif [ ! -e "$out/record.jsonl" ]; then
    "$icl" run "$@" --out "$out"
  fi
}

for cell in "$@"; do
  alpha=${cell##*-}
  common=(--alpha "$alpha" --stop never --protocol none --backend "${BACKEND:-flex}")
  classes=
  muon=0.006 adam=0.01
  case $cell in
    mnist-*)
      # The samples of the training are about 16,000 at every alpha.
      case $alpha in
        0.02 | 0.05) classes=0,1,2,3,4,5,6,7,8 limit=18000 ;;
        0.1) classes=0,1,2,3,4,5,6,7,8 limit=26000 ;;
        0.3) classes=0,1,2,3,4,5,6 limit=20000 ;;
        0.5) classes=0,1,2,3,4 limit=18000 ;;
        *) echo "error: found the growth ratio $alpha in $cell, expected 0.02, 0.05, 0.1, 0.3 or 0.5" >&2; exit 2 ;;
      esac
      common+=(--data "$data/mnist/train-images-idx3-ubyte.gz" --limit "$limit")
      encoder=${cell#mnist-}
      encoder=${encoder%-*}
      common+=(--encoder "$encoder")
      [ "$encoder" != mlp ] || common+=(--width 256 --projection 128)
      ;;
    letter-*)
      case $alpha in
        0.02 | 0.05 | 0.1) classes=A,B,C,D,E,F,G,H,I,J,K,L,M,N,O,P,Q,R,S,T,U,V ;;
        0.3) classes=A,B,C,D,E,F,G,H,I,J,K,L,M,N,O,P,Q,R ;;
        0.5) classes=A,B,C,D,E,F,G,H,I,J,K,L,M ;;
        *) echo "error: found the growth ratio $alpha in $cell, expected 0.02, 0.05, 0.1, 0.3 or 0.5" >&2; exit 2 ;;
      esac
      common+=(--data "$data/tabular/LetterRecognition.csv.gz" --target class)
      ;;
    proteins-* | imdb-binary-*)
      name=${cell%-*}
      common+=(--data "$data/graphs/${name^^}.zip" --split size --hold-out 0.3 --batch-size 128 --epochs 100)
      muon=0.001 adam=0.003
      ;;
    *) echo "error: found the cell $cell, expected mnist-mlp-ALPHA, mnist-convnet-ALPHA, letter-ALPHA, proteins-ALPHA or imdb-binary-ALPHA" >&2; exit 2 ;;
  esac
  # New classes; at each growth ratio 1,000 samples of them are held out.
  [ -z "$classes" ] || common+=(--split "class:$classes" --hold-out-samples 1000 --temperature 0.2 --batch-size 256 --epochs 30)
  methods=()
  for method in ${METHODS:-inference fine-tuning replay distillation warm icl retraining}; do methods+=(--method "$method"); done
  for seed in ${SEEDS:-0 1 2 3 4}; do
    at=$folder/$cell/$seed
    mkdir -p "$at"
    seeded=("${common[@]}" --seed "$seed")
    by_muon=("${seeded[@]}" --learning-rate "$muon")
    run "$at/muon" "${by_muon[@]}" --budget 5%,10%,25%,50% "${methods[@]}"
    # Budgets between those of the table, for the cost at parity.
    run "$at/between" "${by_muon[@]}" --budget 16%,20%,33% --method icl
    run "$at/adam" "${seeded[@]}" --optimizer adam --learning-rate "$adam" --method retraining
    [ "${LONG:-yes}" = no ] || run "$at/long" "${by_muon[@]}" --budget 400% --method retraining
  done
done
