"""How pages are gathered: from a topic to a corpus, with a reason for every page."""
