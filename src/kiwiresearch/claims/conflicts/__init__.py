"""Whether two sentences contradict each other, and of what kind a disagreement is."""
