"""What stands between the network and the routes, each wall a small piece of ASGI of its own."""
