"""Counts of a log by Dask: python dask_counts.py 'log/*.csv' counts.csv

The columns are case, t, state, action, reward, done; rewards are in cents (docs/counts.md has the definition of every column). A shuffle brings the rows of a case
together; each partition is then counted alone, and the counts of partitions add up.
"""

import hashlib
import sys

import dask.dataframe as dd
import pandas as pd

KEYS = ["state", "action", "next", "fold"]
META = {"state": "string", "action": "string", "next": "string", "fold": "int64", "n": "int64", "reward_sum": "int64"}


def fold_of(case) -> int:
    return int(hashlib.md5(str(case).encode()).hexdigest()[0], 16)


def count_partition(rows: pd.DataFrame) -> pd.DataFrame:
    rows = rows.sort_values(["case", "t"])
    cases = rows.groupby("case", sort=False)
    rows = rows.assign(
        next=cases["state"].shift(-1),
        is_first=cases.cumcount() == 0,
        reward_sum=(rows["reward"] * 100).round().astype("int64"),
        fold=rows["case"].map({case: fold_of(case) for case in rows["case"].unique()}),
        n=1,
    )
    rows = rows[rows["next"].notna() | (rows["done"] == 1)]
    starts = rows[rows["is_first"]].assign(action=None, next=None, reward_sum=0)
    lines = pd.concat([rows[list(META)], starts[list(META)]]).astype(META)
    return lines.groupby(KEYS, dropna=False, as_index=False).sum()[list(META)]


def count(log: str, out: str) -> None:
    rows = dd.read_parquet(log) if log.endswith(".parquet") else dd.read_csv(log, blocksize="16MB")
    parts = rows.shuffle("case").map_partitions(count_partition, meta=META)
    table = parts.compute().groupby(KEYS, dropna=False, as_index=False).sum()
    with open(out, "w") as file:
        file.write("# reward_unit: 0.01\n")
        table.to_csv(file, index=False)


if __name__ == "__main__":
    count(*sys.argv[1:])
