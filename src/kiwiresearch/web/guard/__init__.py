"""Checks between the network and the routes, each a small ASGI middleware of its own."""
