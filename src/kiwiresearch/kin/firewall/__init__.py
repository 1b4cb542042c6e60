"""Nothing becomes a fact that its own quote does not say."""
