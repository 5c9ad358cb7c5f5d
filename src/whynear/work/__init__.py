"""Independent pieces of work, in processes or on a Dask cluster."""
