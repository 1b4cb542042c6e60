"""The desk as tools for a model: the Model Context Protocol, over standard input and output or over HTTP."""
