"""Pure functions on strings, and what is known about languages."""
