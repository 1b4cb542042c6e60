"""Comparing runs, books and snapshots of books claim by claim."""
