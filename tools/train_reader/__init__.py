"""Training of the reading model that `kiwiresearch.reader` ships; docs/design/reader.md is its model card."""
