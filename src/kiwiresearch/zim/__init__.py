"""Books: in ZIM files, on a kiwix-serve or on other hosts, and the shelf of a user."""
