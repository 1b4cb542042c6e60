"""From a topic to a corpus of pages, with a reason for each."""
