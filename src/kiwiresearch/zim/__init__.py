"""Books: ZIM files, kiwix-serve, and the shelf they stand on."""
