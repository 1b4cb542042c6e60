"""Vectors of texts: the default model, optional ones, and a cache."""
