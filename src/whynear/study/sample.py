"""Random samples of the rows that contain every class."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from whynear.tables.problem import Problem, kind_of_target


def at_most(problem: Problem, most: int, seed: int) -> Problem:
    """Return the problem, or a random sample of ``most`` of its rows, stratified if the target has classes."""
    return problem if len(problem.y) <= most else problem.rows(sampled_rows(problem, most, seed))


def sampled_rows(problem: Problem, most: int, seed: int) -> NDArray[np.intp]:
    """Return the positions of these rows, in their order."""
    if len(problem.y) <= most:
        return np.arange(len(problem.y))
    rng = np.random.default_rng(seed)
    if kind_of_target(problem.y) == "numbers":
        return np.sort(rng.permutation(len(problem.y))[:most])
    return stratified_rows(problem.y, most, rng)


def stratified_rows(y: NDArray[Any], most: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw ``most`` rows in their order: at least two of each class, and otherwise each class in its share.

    Every class must have two rows, and ``2 * n_classes <= most <= len(y)``.
    """
    _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    shuffled = rng.permutation(len(y))
    by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
    place_in_class = np.arange(len(y)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.sort(by_class[place_in_class < np.repeat(_quotas(counts, most), counts)])


def _quotas(counts: NDArray[np.intp], most: int) -> NDArray[np.intp]:
    """Return the number of rows of each class: near its share of ``most``, at least two, with sum ``most``."""
    shares = counts * (most / counts.sum())
    quotas = np.maximum(2, np.floor(shares)).astype(np.intp)
    while quotas.sum() > most:
        quotas[np.argmax(np.where(quotas > 2, quotas - shares, -np.inf))] -= 1
    while quotas.sum() < most:
        quotas[np.argmax(np.where(quotas < counts, shares - quotas, -np.inf))] += 1
    return quotas
