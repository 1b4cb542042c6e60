"""Words tied to their place in a page."""
