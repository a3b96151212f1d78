"""Counts of a log by Spark: spark-submit --master URL spark_counts.py 'log/*.csv' counts.csv

The columns are case, t, state, action, reward, done; rewards are in cents (docs/counts.md has the definition of every column).
"""

import sys

from pyspark.sql import SparkSession, Window
from pyspark.sql import functions as F

KEYS = ["state", "action", "next", "fold"]
SCHEMA = "`case` string, t int, state string, action string, reward decimal(18,2), done int"


def count(spark: SparkSession, log: str, out: str) -> None:
    if log.endswith(".parquet"):
        rows = spark.read.parquet(log)
    else:
        rows = spark.read.schema(SCHEMA).option("header", True).csv(log)
    cases = Window.partitionBy("case").orderBy("t")
    steps = rows.select(
        "state",
        "action",
        F.lead("state").over(cases).alias("next"),
        F.conv(F.substring(F.md5(F.col("case").cast("string")), 1, 1), 16, 10).cast("int").alias("fold"),
        (F.row_number().over(cases) == 1).alias("is_first"),
        F.round(F.col("reward") * 100).cast("long").alias("cents"),
        "done",
    ).where("next is not null or done = 1")
    counts = steps.groupBy(*KEYS).agg(F.count("*").alias("n"), F.sum("cents").alias("reward_sum"))
    starts = steps.where("is_first").groupBy("state", "fold").agg(F.count("*").alias("n"))
    starts = starts.selectExpr("state", "cast(null as string) action", "cast(null as string) next", "fold", "n", "0L reward_sum")
    # The counts are small: they fit on the driver, in one file.
    table = counts.unionByName(starts).toPandas()
    with open(out, "w") as file:
        file.write("# reward_unit: 0.01\n")
        table.to_csv(file, index=False)


if __name__ == "__main__":
    count(SparkSession.builder.appName("counts").getOrCreate(), *sys.argv[1:])
