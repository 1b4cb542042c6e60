"""kiwiresearch: an offline research desk over Kiwix ZIM files."""

__version__ = "0.1.0"
