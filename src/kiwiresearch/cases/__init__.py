"""Family cases: locating, opening, editing, exporting and verifying them."""
