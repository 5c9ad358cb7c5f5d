"""Evidence that a feature carries information about the target, alone or together with another one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import f as f_distribution
from scipy.stats import rankdata

from whynear.utils.arrays import Array, Indices
from whynear.verdict.rules import FALSE_DISCOVERIES, Information, adjusted, deviations_of
from whynear.verdict.table import FeatureColumns, Target

UNLIKE = 0.3  # correlation up to which a found column may be accounted for
MOST_MULTIPLIED = 300  # columns whose products with each other are tried
ROWS_PER_COMPONENT = 6  # for columns that are tested together


def information(columns: FeatureColumns, target: Target) -> Information:
    """Test every feature: its ranks, its squares, its products with others, and its part beside unlike found ones.

    Columns of the table that were joined to a feature are also tested together.
    """
    values, aim = _independent_rows(columns.values, target)
    tests = [_explained(rankdata(values, axis=0), aim), _explained(rankdata(np.square(values), axis=0), aim)]
    tests.append(_products(values, aim, columns.owners, tests[0][0]))
    p_tests, shares = [p_values for p_values, _ in tests], np.maximum.reduce([own for _, own in tests])
    first = _combined(np.array(p_tests))
    p_columns = _combined(np.array([*p_tests, _beside_found(values, aim, columns.owners, first)]))
    best = np.zeros(columns.n_features)
    np.maximum.at(best, columns.owners, shares)
    p_values, p_alone = _of_features(p_columns, columns), _of_features(first, columns)
    if columns.joined:
        together, shares = _together(values, aim, columns)
        best = np.maximum(best, shares)
        p_values, p_alone = (np.minimum(1.0, 2 * np.minimum(one, together)) for one in (p_values, p_alone))
    return Information(p_values, adjusted(p_values), deviations_of(p_values), best, p_alone)


def _of_features(p_columns: Array, columns: FeatureColumns) -> Array:
    """Return for each feature the smallest p-value of its columns, for their number; one without columns."""
    p_values = np.full(columns.n_features, np.inf)
    np.minimum.at(p_values, columns.owners, p_columns)
    counts = np.bincount(columns.owners, minlength=columns.n_features)
    return np.minimum(1.0, p_values * np.maximum(counts, 1))


def _together(values: Array, aim: _Aim, columns: FeatureColumns) -> tuple[Array, Array]:
    """Return p-value and share of the target that the columns of each feature explain together, by an F-test.

    Of many columns the first principal components are taken, one for every six rows.
    """
    p_values, shares = np.ones(columns.n_features), np.zeros(columns.n_features)
    n, k = aim.n_independent, aim.basis.shape[1]
    for feature in range(columns.n_features):
        own = values[:, columns.owners == feature]
        if own.shape[1] < 2:
            continue
        left, singular, _ = np.linalg.svd(own - own.mean(axis=0), full_matrices=False)
        r = min(int(np.count_nonzero(singular > 1e-9 * singular.max(initial=0.0))), n // ROWS_PER_COMPONENT)
        if r == 0:
            continue
        explained = np.square(left[:, :r].T @ aim.basis).sum(axis=0)
        found, _ = _f_test(explained, np.ones(k), r, n - r - 1)
        p_values[feature], shares[feature] = min(1.0, k * float(found.min())), explained.max()
    return p_values, shares


@dataclass(frozen=True, eq=False)
class _Aim:
    """An orthonormal basis of the centred target, and the groups of rows that are not independent, if there are any."""

    basis: Array
    groups: Indices | None

    @property
    def n_independent(self) -> int:
        return len(self.basis) if self.groups is None else int(self.groups.max()) + 1

    def between(self, made: Array) -> Array:
        """Return the part of centred columns that the target explains, less where rows of a group move together."""
        plain = np.square(self.basis.T @ made).sum(axis=0)
        if self.groups is None:
            return np.asarray(plain)
        order = np.argsort(self.groups, kind="stable")
        starts = np.unique(self.groups[order], return_index=True)[1]
        together, apart = np.zeros(made.shape[1]), np.full(made.shape[1], 1e-300)
        for direction in self.basis.T:
            parts = (direction[:, None] * made)[order]
            parts -= parts.mean(axis=0)  # what all rows have in common is the effect itself
            together += np.square(np.add.reduceat(parts, starts, axis=0)).sum(axis=0)
            apart += np.square(parts).sum(axis=0)
        return np.asarray(plain / np.maximum(1.0, together / apart))


def _independent_rows(values: Array, target: Target) -> tuple[Array, _Aim]:
    """Return the columns and the target; means of groups with one target each."""
    Y, groups = target.Y, target.groups if target.grouped else None
    if groups is not None:
        counts = np.bincount(groups)
        means = np.column_stack([np.bincount(groups, column) / counts for column in Y.T])
        if np.allclose(means[groups], Y):
            values = np.column_stack([np.bincount(groups, column) / counts for column in values.T])
            Y, groups = means, None
    if target.measured:
        Y = rankdata(Y, axis=0)
    centred = Y - Y.mean(axis=0)
    left, singular, _ = np.linalg.svd(centred, full_matrices=False)
    return values, _Aim(left[:, singular > 1e-9 * singular.max(initial=0.0)], groups)


def _explained(made: Array, aim: _Aim) -> tuple[Array, Array]:
    """Return p-value and share of the variance of each column that the target explains, by an F-test."""
    k = aim.basis.shape[1]
    centred = made - made.mean(axis=0)
    return _f_test(aim.between(centred), np.square(centred).sum(axis=0), k, aim.n_independent - k - 1)


def _f_test(between: Array, total: Array, k: int, left: int) -> tuple[Array, Array]:
    shares = np.divide(between, total, out=np.zeros_like(between), where=total > 1e-300).clip(0, 1)
    if left < 1:
        return np.ones_like(shares), shares
    ratio = (shares / k) / np.maximum((1 - shares) / left, 1e-300)
    return np.asarray(f_distribution.sf(ratio, k, left)), shares


def _products(values: Array, aim: _Aim, owners: Indices, alone: Array) -> tuple[Array, Array]:
    """Return for each column the smallest p-value of its products with other features, for their number."""
    p_values, best = np.ones(values.shape[1]), np.zeros(values.shape[1])
    tried = np.sort(np.argsort(alone, kind="stable")[:MOST_MULTIPLIED])
    few, n = values[:, tried], len(values)
    squares = np.square(few)
    for place, column in enumerate(tried):
        others = owners[tried] != owners[column]
        if not others.any():
            continue
        one = few[:, place]
        if aim.groups is None:  # without forming the products
            total = np.square(one) @ squares[:, others] - n * np.square(one @ few[:, others] / n)
            between = np.square((aim.basis * one[:, None]).T @ few[:, others]).sum(axis=0)  # the basis is centred
            found, shares = _f_test(between, total, aim.basis.shape[1], n - aim.basis.shape[1] - 1)
        else:
            found, shares = _explained(one[:, None] * few[:, others], aim)
        p_values[column] = min(1.0, float(found.min()) * len(found))
        best[column] = shares.max()
    return p_values, best


def _beside_found(values: Array, aim: _Aim, owners: Indices, alone: Array) -> Array:
    """Return p-values of each column once found columns unlike it are accounted for."""
    found = np.flatnonzero(adjusted(alone) < FALSE_DISCOVERIES)
    if not len(found):
        return alone
    n = len(values)
    found = found[np.argsort(alone[found], kind="stable")]
    p_values = np.ones(values.shape[1])
    lengths = np.maximum(np.linalg.norm(values, axis=0), 1e-300)
    alike = np.abs((values[:, found].T @ values) / lengths[found][:, None] / lengths)
    for j in range(values.shape[1]):
        others = found[(alike[:, j] < UNLIKE) & (owners[found] != owners[j])][: max(1, n // 5)]
        q = np.linalg.qr(np.column_stack([np.ones(n), values[:, others]]))[0]
        own = values[:, j] - q @ (q.T @ values[:, j])
        left, singular, _ = np.linalg.svd(aim.basis - q @ (q.T @ aim.basis), full_matrices=False)
        beside = _Aim(left[:, singular > 1e-9], aim.groups)
        k = beside.basis.shape[1]
        free = aim.n_independent - q.shape[1] - k
        p_values[j] = _f_test(beside.between(own[:, None]), np.square(own).sum(keepdims=True), max(1, k), free)[0][0]
    return p_values


def _combined(p_values: Array) -> Array:
    """Combine dependent tests of the same column by Cauchy's distribution."""
    clipped = np.clip(p_values, 1e-300, 0.95)
    small = clipped < 1e-15
    parts = np.where(small, 1 / (np.pi * clipped), np.tan((0.5 - np.where(small, 0.5, clipped)) * np.pi))
    mean = parts.mean(axis=0)
    return np.where(mean > 1e10, 1 / (np.pi * np.maximum(mean, 1.0)), 0.5 - np.arctan(mean) / np.pi)
