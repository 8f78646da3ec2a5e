#!/bin/sh
# Gets MovieLens 100K as RecBole's file of interactions, and prints where it lies.
#
#     scripts/data/ml-100k.sh
#
# The data may not be redistributed by this project. RecBole's package on the Python package index holds them; pip gets the
# package into a temporary folder, its checksum is compared, and one file is unpacked: into $ICL_DATA_DIR/ml-100k if the
# variable is set, else into icl/ml-100k of the cache folder. Needs pip and python3; PYTHON names another interpreter.
set -eu

WHEEL=recbole-1.2.1-py3-none-any.whl
WHEEL_SHA256=9c9948202011f37eb0a7c6768129313f00d6403ad221ec940d5e2d5d5f33a407
MEMBER=recbole/dataset_example/ml-100k/ml-100k.inter
MEMBER_SHA256=4edb74e2a81178c2ba9ff381495f754f996c4aea351b1272ca36b43da0935eff

python=${PYTHON:-python3}
folder=${ICL_DATA_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/icl}/ml-100k
file=$folder/ml-100k.inter

# Usage: is_intact FILE SHA256
is_intact() {
    printf '%s  %s\n' "$2" "$1" | sha256sum --check --status
}

if [ -f "$file" ] && is_intact "$file" "$MEMBER_SHA256"; then
    echo "$file"
    exit 0
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

"$python" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
    --dest "$scratch" recbole==1.2.1 >&2
if ! is_intact "$scratch/$WHEEL" "$WHEEL_SHA256"; then
    echo "ml-100k: found $WHEEL of another SHA-256 sum, expected $WHEEL_SHA256" >&2
    exit 2
fi
"$python" -c 'import sys, zipfile; open(sys.argv[3], "wb").write(zipfile.ZipFile(sys.argv[1]).read(sys.argv[2]))' \
    "$scratch/$WHEEL" "$MEMBER" "$scratch/ml-100k.inter"
if ! is_intact "$scratch/ml-100k.inter" "$MEMBER_SHA256"; then
    echo "ml-100k: found $MEMBER of another SHA-256 sum, expected $MEMBER_SHA256" >&2
    exit 2
fi
mkdir -p "$folder"
# Moved in one step within the folder, so that an interrupted copy is not taken for the data.
cp "$scratch/ml-100k.inter" "$file.partial"
mv "$file.partial" "$file"
echo "$file"
