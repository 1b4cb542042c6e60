"""The server: requests of browsers, chat clients and programs turned into calls, errors into words."""
