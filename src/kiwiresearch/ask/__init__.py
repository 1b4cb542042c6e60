"""Questions answered from the books: citations first, then words that stand in them, or an honest "not here"."""
