"""Fuzzing: altered pages, book files, family trees, catalogues, requests and replies, with a budget of time."""
