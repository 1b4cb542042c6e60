"""The loop of family research: fetch, read, verify, keep, resolve, decide, and follow what was found."""
