"""Counts of a log by DuckDB: python duckdb_counts.py 'log/*.csv' counts.parquet

The columns are case, t, state, action, reward, done; rewards are in cents (docs/counts.md has the definition of every column).
"""

import sys

import duckdb

QUERY = """
with steps as (
    select state, action, cast(round(reward * 100) as bigint) as cents, done,
        lead(state) over cases as following,
        row_number() over cases as position,
        instr('0123456789abcdef', md5(cast("case" as varchar))[1]) - 1 as fold
    from {log}
    window cases as (partition by "case" order by t)
)
select state, action, following as next, fold, count(*)::bigint as n, sum(cents)::bigint as reward_sum
from steps where following is not null or done = 1
group by all
union all
select state, null, null, fold, count(*)::bigint, 0
from steps where position = 1 and (following is not null or done = 1)
group by all
"""


def count(log: str, out: str) -> None:
    reader = "read_parquet" if log.endswith(".parquet") else "read_csv"
    query = QUERY.format(log=f"{reader}('{log}')")
    duckdb.sql(f"copy ({query}) to '{out}' (format parquet, kv_metadata {{reward_unit: '0.01'}})")


if __name__ == "__main__":
    count(*sys.argv[1:])
