"""Gopal and Ioerger: Slider."""
