"""Strickert, Hammer, Villmann and Biehl: null-space regularization."""
