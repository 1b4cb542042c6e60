"""Family trees in the shapes that people know: one input, several layouts, one renderer."""
