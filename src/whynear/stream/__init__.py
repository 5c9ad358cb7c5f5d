"""Streams: a memory that predicts each case before it learns it, and adjusts itself when the concept drifts."""
