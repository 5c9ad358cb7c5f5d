"""Independent pieces of work: in this process, in others on this machine, or on the workers of a Dask cluster."""
