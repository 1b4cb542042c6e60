"""What pages say, as claims that can be proved."""
