"""What a family researcher reads: the report, its pictures and its summary."""
