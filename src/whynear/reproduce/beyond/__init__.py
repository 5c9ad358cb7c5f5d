"""Comparisons that go beyond the papers."""
