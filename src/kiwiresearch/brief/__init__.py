"""What a run writes for its reader."""
