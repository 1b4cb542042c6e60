"""A soak: hours of mixed load on a server whose processes are killed, and every result verified at the end."""
