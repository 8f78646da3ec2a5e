#!/usr/bin/env bash
# Keeps an encoder up to date over ten days, in which all goes wrong that can: a new column, a missing value, an outlier, a file that
# is none, a kill, the way back, another temperature, old data that are gone. Each step ends as the book says, or the script fails.
# A table is updated day by day with icl update; images and graphs arrive in a folder that icl stream watches.
#
# Usage: scripts/ten-days.sh ICL FOLDER
#   ICL     the program
#   FOLDER  a new folder for everything
set -euo pipefail

icl=$(realpath "$1")
mkdir "$2"
cd "$2"
small=(--epochs 2 --stop never --batch-size 32)

fail() {
  echo "day $day: $*" >&2
  exit 1
}

# says CODE TEXT COMMAND...: the command ends with this code, and its messages hold this text.
says() {
  local code=$1 text=$2 found=0
  shift 2
  "$icl" "$@" >out.txt 2>messages.txt || found=$?
  [ "$found" = "$code" ] || fail "icl $*: found exit code $found, expected $code: $(cat messages.txt)"
  grep -qF -- "$text" out.txt messages.txt || fail "icl $*: found no \"$text\" in $(cat out.txt messages.txt)"
}

digest() {
  "$icl" show "$1" --json | sed -n 's/^  "digest": "\(.*\)",$/\1/p'
}

# rows FIRST: 60 rows of a table with ids, a date, numbers and a class. Awk's doubles are the same everywhere.
rows() {
  awk -v first="$1" -v day="$day" 'BEGIN {
    x = first + 1
    for (row = first; row < first + 60; row++) {
      line = sprintf("m-%d,2026-11-%02d", row, day + 1)
      for (column = 0; column < 5; column++) { x = (x * 16807) % 2147483647; line = line "," x % 1000 / 100 }
      print line "," (x % 3 ? "ham" : "spam")
    }
  }'
}
header=id,date,a,b,c,d,e,kind
table=(--target kind --exclude id,date)

# embedded DAY: the embeddings of the day name its encoder.
embedded() {
  says 0 "" embed --from "tables/day-$1/encoder.safetensors" --data "days/$1.csv" --target kind --id id --keep date --out "tables/$1.csv"
  local named
  named=$(tail -n +2 "tables/$1.csv" | cut -d, -f4 | sort -u)
  [ "$named" = "$(digest "tables/day-$1")" ] || fail "embeddings by $named"
}

# updated CODE TEXT OPTION...: the update of the day, with all days before as old data.
updated() {
  local code=$1 text=$2
  shift 2
  says "$code" "$text" update --from "tables/day-$((day - 1))/encoder.safetensors" --new "days/$day.csv" --out "tables/day-$day" "${table[@]}" \
    "${small[@]}" --budget none --accept "$@"
}

mkdir days tables
day=0
{ echo "$header"; rows 0; } >days/0.csv
says 0 "written to" train --data days/0.csv "${table[@]}" "${small[@]}" --width 8 --temperature 0.2 --out tables/day-0
embedded 0

day=1
{ echo "$header"; rows 60; } >days/1.csv
updated 0 "note: temperature 0.2, as in the encoder's training" --old days/0.csv
embedded 1

day=2 # a new column
{ echo "$header,f"; rows 120 | sed 's/$/,1/'; } >days/2.csv
updated 0 "written to" --old 'days/[01].csv'
embedded 2

day=3 # a missing value, which is repaired
{ echo "$header"; rows 180 | sed '7s/,[^,]*,\([a-z]*\)$/,,\1/'; } >days/3.csv
updated 2 "line 8, column \"e\"" --old 'days/[0-2].csv'
[ ! -e tables/day-3 ] || fail "something was written"
{ echo "$header"; rows 180; } >days/3.csv
updated 0 "written to" --old 'days/[0-2].csv'
embedded 3

day=4 # an outlier
{ echo "$header"; rows 240 | sed '7s/,[^,]*,\([a-z]*\)$/,1e30,\1/'; } >days/4.csv
updated 0 "clipped" --old 'days/[0-3].csv'
embedded 4

day=5 # no table
head -c 4096 "$icl" >days/5.csv
updated 2 "days/5.csv" --old 'days/[0-4].csv'
[ ! -e tables/day-5 ] || fail "something was written"
{ echo "$header"; rows 300; } >days/5.csv
updated 0 "written to" --old 'days/[0-4].csv'
embedded 5

day=6 # a kill, at whichever moment
{ echo "$header"; rows 360; } >days/6.csv
# --old is what the encoder's file names.
updated 0 "note: old: the data of the encoder's training: "
whole=$(digest tables/day-6)
mv tables/day-6 tables/whole
"$icl" update --from tables/day-5/encoder.safetensors --new days/6.csv --out tables/day-6 "${table[@]}" "${small[@]}" --budget none --accept \
  >out.txt 2>messages.txt &
sleep 0.3
kill -9 $! 2>/dev/null || true
wait $! 2>/dev/null || true
if [ ! -e tables/day-6/encoder.safetensors ]; then
  # Before anything has begun there is nothing to continue.
  "$icl" update --resume tables/day-6 >out.txt 2>messages.txt || updated 0 "written to"
fi
[ "$(digest tables/day-6)" = "$whole" ] || fail "another encoder than without the kill"
cmp tables/day-6/encoder.safetensors tables/whole/encoder.safetensors
embedded 6

day=7 # another temperature
{ echo "$header"; rows 420; } >days/7.csv
updated 0 "warning: temperature: found 0.1, and the encoder was trained with 0.2" --temperature 0.1
embedded 7

# The way back, and a second run of the day.
mv tables/day-7 tables/undone
updated 0 "warning: temperature: found 0.1" --temperature 0.1
cmp tables/day-7/encoder.safetensors tables/undone/encoder.safetensors

says 0 "120 samples, which stand for 480" keep --data 'days/[0-7].csv' --size 120 --out kept-7

day=8 # old data that have changed, and are gone
{ echo "$header"; rows 480; } >days/8.csv
mkdir gone
mv days/0.csv gone/0.csv
updated 2 "days/0.csv: found no such file or folder"
{ echo "$header"; rows 999; } >days/0.csv
updated 2 "old: found 480 samples with the digest"
rm days/0.csv
# What was kept of them stands for all.
updated 0 "written to" --old-sample kept-7
embedded 8

day=9
{ echo "$header"; rows 540; } >days/9.csv
updated 2 "expected --old-sample"
says 0 "120 samples, which stand for 540" keep --from kept-7 --data days/8.csv --out kept-8
updated 0 "written to" --old-sample kept-8
embedded 9
says 0 "parent 9 " show tables/day-9
for parent in 0 1 2 3 4 5 6 7 8; do
  grep -q "^parent $((parent + 1)) .*$(digest "tables/day-$parent")" out.txt || fail "parent $parent is not named"
done

# streamed NAME OPTION...: ten days of images or of graphs, of which one is none, with a kill, a rollback and a second run.
streamed() {
  local name=$1
  shift
  for day in 0 1 2 3 4 5 6 7 8 9; do
    [ "$day" = 4 ] && echo nothing >"$name/in/4-broken.csv"
    mv "$name/later/$day" "$name/in/day-$day"
    if [ "$day" = 0 ]; then
      says 0 "written to" stream --watch "$name/in" --once --settle 0 --out "$name/out" --hold-out 0.2 "${small[@]}" --accept "$@"
    elif [ "$day" = 6 ]; then
      "$icl" stream --resume "$name/out" >out.txt 2>messages.txt &
      sleep 0.2
      kill -9 $! 2>/dev/null || true
      wait $! 2>/dev/null || true
      says 0 "written to" stream --resume "$name/out"
    else
      says 0 "written to" stream --resume "$name/out"
    fi
    says 0 "" embed --from "$name/out/current/encoder.safetensors" --data "$name/in/day-$day" --out "$name/$day.csv"
    grep -q "$(sed -n 's/.*"digest":"\([0-9a-f]*\)".*/\1/p' "$name/out/current.json")" "$name/$day.csv" || fail "embeddings by another encoder"
  done
  local last
  last=$(digest "$name/out/current")
  says 0 "2 experiences were moved" stream --rollback 7 --out "$name/out"
  [ "$(digest "$name/out/current")" != "$last" ] || fail "the encoder to serve is still the last one"
  says 0 "written to" stream --resume "$name/out"
  [ "$(digest "$name/out/current")" = "$last" ] || fail "another encoder after the second run"
  says 0 "parent 9 " show "$name/out/current"
}

# Ten parts of the embedded digits, one for each day.
mkdir -p images/in images/later
rest=digits
for day in 9 8 7 6 5 4 3 2 1; do
  says 0 "written to" split --data "$rest" --alpha "$(awk -v n="$day" 'BEGIN { print 1 / (n + 1) }')" --out "images/cut-$day"
  mv "images/cut-$day/new" "images/later/$day"
  rest=images/cut-$day/old
done
mv "$rest" images/later/0
streamed images --encoder mlp --width 8

# Ten folders of graphs as TU data sets: rings of 3 to 8 nodes with labels that turn.
for day in 0 1 2 3 4 5 6 7 8 9; do
  mkdir -p graphs/in "graphs/later/$day"
  awk -v day="$day" -v to="graphs/later/$day/rings_" 'BEGIN {
    for (graph = 1; graph <= 30; graph++) {
      n = 3 + (graph * (day + 3)) % 6
      print graph % 2 > (to "graph_labels.txt")
      for (node = 0; node < n; node++) {
        print graph > (to "graph_indicator.txt")
        print (node * graph + day) % 3 > (to "node_labels.txt")
        print first + node + 1 ", " first + (node + 1) % n + 1 > (to "A.txt")
      }
      first += n
    }
  }'
done
streamed graphs --width 8

echo "ten days of a table, of images and of graphs: every step ended as it should"
