"""Tables beyond the memory, and Dask collections."""
