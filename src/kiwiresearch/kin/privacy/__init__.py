"""Privacy: who may be living, and what is withheld about them."""
