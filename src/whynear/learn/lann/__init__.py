"""Locally adaptive nearest neighbours."""
