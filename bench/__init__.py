"""Benchmarks of speed. They compare times within one run, because machines differ and ratios differ less."""
