"""A finished run in the formats of readers and other programs."""
