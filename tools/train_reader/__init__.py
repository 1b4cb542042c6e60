"""Trains the reading model that ships in `kiwiresearch.reader`; docs/design/reader.md is its model card."""
