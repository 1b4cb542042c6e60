"""Proving a finished run again: its files, its pages, its claims and its brief, from the books it was made of."""
