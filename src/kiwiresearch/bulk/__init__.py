"""Whole books at once: every article into rows of Parquet, the same rows on one core or on a cluster."""
