"""Where evidence comes from: the local books first, then what the user switched on, each asked as it wants to be."""
