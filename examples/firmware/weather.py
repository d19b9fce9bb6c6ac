# SQL over the file of the image `weather`, by DuckDB and by Polars: docs/firmware-vortex.md.
import sys

import duckdb
import polars
import vortex

weather = vortex.open(sys.argv[1]).to_arrow().read_all()
query = """
    SELECT date_trunc('minute', time) AS minute, count(*) AS readings, round(avg(celsius), 3) AS celsius
    FROM weather WHERE humidity IS NOT NULL GROUP BY minute ORDER BY minute LIMIT 5
"""
duckdb.sql("SET TimeZone = 'UTC'")
print(duckdb.sql(query))
extremes = 'SELECT min(celsius) AS coldest, max(celsius) AS warmest FROM weather'
print(polars.SQLContext(weather=weather).execute(extremes, eager=True))
