"""Research runs: making one, its folder and journal, reading it back, and notes on it."""
