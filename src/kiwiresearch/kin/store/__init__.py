"""The case database: what was found, where, who said so, and everything that was decided about it."""
