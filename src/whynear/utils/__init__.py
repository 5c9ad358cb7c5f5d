"""Arrays, checks, files and text, which every other package uses; one job per file."""
