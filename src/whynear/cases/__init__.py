"""A case base in a file, searched with a learned metric."""
