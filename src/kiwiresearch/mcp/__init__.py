"""Tools for language models: the Model Context Protocol, over standard input and output or over HTTP."""
