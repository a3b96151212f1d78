"""Counts of a log by Polars: python polars_counts.py 'log/*.csv' counts.csv

The columns are case, t, state, action, reward, done; rewards are in cents (docs/counts.md has the definition of every column).
"""

import hashlib
import sys

import polars as pl

KEYS = ["state", "action", "next", "fold"]


def fold_of(cases: pl.Series) -> pl.Series:
    """The first hexadecimal digit of the md5 of each case. Called once per distinct case."""
    return pl.Series([int(hashlib.md5(case.encode()).hexdigest()[0], 16) for case in cases], dtype=pl.Int64)


def count(log: str, out: str) -> None:
    rows = (pl.scan_parquet if log.endswith(".parquet") else pl.scan_csv)(log)
    rows = rows.with_columns(pl.col("case", "state", "action").cast(pl.String))  # names, even if they look like numbers
    folds = rows.select("case").unique().collect()
    folds = folds.with_columns(fold=fold_of(folds["case"])).lazy()
    steps = (
        rows.sort("case", "t")
        .with_columns(
            next=pl.col("state").shift(-1).over("case"),
            is_first=pl.int_range(pl.len()).over("case") == 0,
            cents=(pl.col("reward") * 100).round().cast(pl.Int64),
        )
        .filter(pl.col("next").is_not_null() | (pl.col("done") == 1))
        .join(folds, on="case")
    )
    counts = steps.group_by(KEYS).agg(n=pl.len().cast(pl.Int64), reward_sum=pl.col("cents").sum())
    starts = steps.filter("is_first").group_by("state", "fold").agg(n=pl.len().cast(pl.Int64))
    starts = starts.with_columns(
        action=pl.lit(None, pl.String), next=pl.lit(None, pl.String), reward_sum=pl.lit(0, pl.Int64)
    )
    columns = [*KEYS, "n", "reward_sum"]
    table = pl.concat([counts.select(columns), starts.select(columns)]).collect()
    with open(out, "w") as file:
        file.write("# reward_unit: 0.01\n")
        table.write_csv(file)


if __name__ == "__main__":
    count(*sys.argv[1:])
