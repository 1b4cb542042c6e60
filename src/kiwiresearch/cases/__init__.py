"""Cases of family research: where they are kept, opening, changing, exporting and proving them."""
