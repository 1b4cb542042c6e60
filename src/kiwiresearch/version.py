"""The version of the program, in a separate module so that every layer can import it."""

__version__ = "0.1.0"
