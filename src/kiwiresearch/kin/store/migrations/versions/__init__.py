"""One module for each version of the tables, frozen once it has been released."""
