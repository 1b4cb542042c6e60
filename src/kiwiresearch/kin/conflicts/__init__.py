"""Values that cannot both be right: found, ranked by their evidence, and all of them kept."""
