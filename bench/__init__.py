"""Speed, as ratios within one run: machines differ, ratios less so."""
