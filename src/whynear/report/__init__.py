"""A study as files: the page, its figures, tables and the model."""
