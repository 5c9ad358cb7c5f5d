"""The study: all steps from a table to the relevance of its features."""
