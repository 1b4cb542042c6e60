"""Family trees in and out: GEDCOM 5.5, 5.5.1 and 7, GEDCOM X, and JSON."""
