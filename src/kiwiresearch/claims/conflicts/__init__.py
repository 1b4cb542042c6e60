"""Whether two sentences contradict each other, and what kind of disagreement it is."""
