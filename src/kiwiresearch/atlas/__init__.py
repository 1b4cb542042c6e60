"""What only a whole book can tell, from the rows that bulk wrote."""
