"""How a case of each version becomes one of the next."""
