"""Family research: people of the books and other sources, with evidence for every fact, undo, and privacy."""
