"""Complete books as tables: every article as rows of Parquet, the same rows on one core or on a cluster."""
