"""What only a complete book can show, computed from the tables that bulk wrote."""
