"""From words to ranked pages."""
