"""Kernel regression under a distance that is learned from the gradients of the regression itself."""
