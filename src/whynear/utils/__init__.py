"""What every other part builds on: arrays, checks, files, text; one job a file."""
