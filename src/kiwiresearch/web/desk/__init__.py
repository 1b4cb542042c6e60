"""The desk in a browser: pages for people, drawn on the server, which a little script makes livelier."""
