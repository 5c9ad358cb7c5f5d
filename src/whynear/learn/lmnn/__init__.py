"""Large margin nearest neighbours."""
