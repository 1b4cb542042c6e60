"""Answers questions from the books, with citations, or says honestly that the answer is "not here" (`refusal.py`)."""
