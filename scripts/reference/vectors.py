"""Parquet files of vectors as pyarrow writes them.

    python3 scripts/reference/vectors.py crates/icl-data/tests/reference/vectors

`list.parquet` and `fixed.parquet` hold the same vectors, of single and of double precision, next to an index and a name; `several.parquet`
has two columns of lists, `ragged.parquet` rows of two lengths, `whole.parquet` lists of integers, and `missing.parquet` a row that
is null.
"""

import json
import pathlib
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

SEED = 20261123
N, D = 7, 3


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    values = np.random.default_rng(SEED).standard_normal((N, D)).astype("f4")
    names = pa.array([f"row {i}" for i in range(N)])
    index = pa.array(range(N))
    lists = pa.array([row.tolist() for row in values], pa.list_(pa.float32()))
    fixed = pa.FixedSizeListArray.from_arrays(pa.array(values.astype("f8").ravel()), D)
    write = lambda name, columns, **options: pq.write_table(pa.table(columns), folder / f"{name}.parquet", **options)
    write("list", {"index": index, "vector": lists, "name": names}, compression="snappy", row_group_size=3)
    write("fixed", {"index": index, "other": lists, "embedding": fixed}, compression="gzip")
    write("several", {"a": lists, "b": lists})
    write("ragged", {"vector": pa.array([[1.0, 2.0], [3.0]])})
    write("whole", {"vector": pa.array([[1, 2], [3, 4]])})
    write("missing", {"vector": pa.array([[1.0, 2.0], None])})
    stamp = {"versions": f"NumPy {np.__version__}, pyarrow {pa.__version__}", "seed": SEED}
    text = json.dumps(stamp | {"values": values.astype("f8").tolist()}, indent=1)
    (folder / "vectors.json").write_text(text + "\n")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
