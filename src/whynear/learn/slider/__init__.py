"""Feature weights that rank matches before mismatches, and the rivals of that method."""
