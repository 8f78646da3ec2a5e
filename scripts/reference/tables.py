"""Tables as pandas and pyarrow write them, and the statistics of their columns by pandas.

Writes one table of 60 rows as text (quoted and with missing values, by pandas) and as Parquet files of all
supported codecs and of one that is not (by pyarrow), and a JSON file of the statistics of the first 40 rows:
mean, population standard deviation, smallest, largest and smallest positive value, population skewness.

    python3 scripts/reference/tables.py crates/icl-data/tests/reference/tables
"""

import json
import pathlib
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

SEED = 20261122
N, N_OLD = 60, 40


def table():
    rng = np.random.default_rng(SEED)
    colours = np.array(["red", 'dark "navy" blue', "green, light", "grün"])
    gaps = rng.normal(size=N).astype(np.float32)
    gaps[rng.random(N) < 0.2] = np.nan
    days = pd.date_range("2025-12-20", periods=N)
    return pd.DataFrame(
        {
            "number": rng.normal(3, 100, size=N).astype(np.float32),
            "amount": np.round(np.exp(rng.normal(0, 2, size=N)) - 0.3).clip(0).astype(np.int64),
            "flag": rng.random(N) < 0.3,
            "colour": colours[rng.integers(0, 4, size=N)],
            "gaps": gaps,
            "day": rng.permutation(days.date),
            "class": rng.integers(8, 12, size=N),
        }
    )


def statistics(values):
    values = values.dropna().astype(np.float64)
    mean, sd = values.mean(), values.std(ddof=0)
    return {
        "mean": mean,
        "sd": sd,
        "min": values.min(),
        "max": values.max(),
        "min_positive": values[values > 0].min(),
        "skewness": ((values - mean) ** 3).mean() / sd**3,
    }


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    data = table()
    text = data.assign(flag=data["flag"].astype(int))
    text.to_csv(folder / "table.csv", index=False)
    packed = pa.Table.from_pandas(data, preserve_index=False)
    for codec in ["none", "snappy", "gzip", "zstd"]:
        pq.write_table(packed, folder / f"{codec}.parquet", compression=codec, row_group_size=25)
    nested = pa.table({"number": [1.5, 2.5], "list": [[1], [2, 3]]})
    pq.write_table(nested, folder / "nested.parquet", compression="snappy")
    old = text[:N_OLD]
    record = {
        "versions": {"numpy": np.__version__, "pandas": pd.__version__, "pyarrow": pa.__version__},
        "seed": SEED,
        "n_old": N_OLD,
        "statistics": {name: statistics(old[name]) for name in ["number", "amount", "flag", "gaps"]},
        "colours": sorted(old["colour"].unique().tolist(), key=lambda name: name.encode()),
        "classes": [str(name) for name in sorted(data["class"].unique())],
        "labels": data["class"].tolist(),
        "latest_third": sorted(data["day"].sort_values().index[-20:].tolist()),
    }
    (folder / "tables.json").write_text(json.dumps(record, indent=1) + "\n")


main(pathlib.Path(sys.argv[1]))
