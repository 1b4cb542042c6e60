"""Sentences for readers: what is said as a kind and its values, and the words for it in each language."""
