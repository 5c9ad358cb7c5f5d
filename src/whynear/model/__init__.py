"""Fitted models: taken apart, stated in the columns of a table, kept in files."""
