"""Cases as points on a plane."""
