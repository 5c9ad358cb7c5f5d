"""Schulz, Mokbel, Biehl and Hammer: relevance intervals."""
