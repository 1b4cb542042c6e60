"""Fuzzing with altered pages, book files, family trees, catalogues, requests and replies, for a limited time."""
