"""The tables and figures of the papers: the published values as data, and the code that computes ours."""
