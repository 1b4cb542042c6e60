"""Reading by meaning: which sentence answers a question, with which words, and whether any does."""
