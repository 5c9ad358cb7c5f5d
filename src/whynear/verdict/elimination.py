"""Features put in the order in which models need them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from whynear.utils.arrays import Array, Indices
from whynear.utils.threads import run_in_chunks
from whynear.verdict.feature_columns import FeatureColumns
from whynear.verdict.information import Information
from whynear.verdict.kernel_ridge import KERNELS
from whynear.verdict.models import KernelModels
from whynear.verdict.targets import Target

MOST_CANDIDATES = 40
FEWEST_CANDIDATES = 20
ONE_AT_A_TIME = 10  # features left, from which they are removed one by one
MOST_ADDED = 8  # features, one by one
UNLIKE = 0.3  # correlation up to which features may be removed together


def candidates_of(columns: FeatureColumns, target: Target, information: Information) -> Indices:
    """Return the features worth choosing from: the informative ones, thinned out where they are many.

    Features of one value are not among them, unless there are no others.
    """
    order = np.argsort(information.p_values, kind="stable")
    varying = order[np.isin(order, columns.owners)]
    order = varying if len(varying) else order
    found = order[: max(FEWEST_CANDIDATES, np.count_nonzero(information.found))]
    return np.sort(found if len(found) <= MOST_CANDIDATES else _thinned(columns, target, found)).astype(np.intp)


def _thinned(columns: FeatureColumns, target: Target, found: Indices) -> Indices:
    """Take turns: the feature that explains most of what is left of the target, then take its part away."""
    centred = target.Y - target.Y.mean(axis=0)
    values = columns.values[:, np.isin(columns.owners, found)].copy()
    owners = columns.owners[np.isin(columns.owners, found)]
    lengths = np.linalg.norm(values, axis=0)
    chosen: list[int] = []
    while len(chosen) < min(MOST_CANDIDATES, len(values) // 2):
        norms = np.linalg.norm(values, axis=0)
        usable = (norms > 0.1 * lengths) & ~np.isin(owners, chosen)
        if not usable.any():
            break
        explained = np.square(centred.T @ values).sum(axis=0) / np.maximum(np.square(norms), 1e-300)
        best = int(owners[np.where(usable, explained, -1.0).argmax()])
        chosen.append(best)
        q = np.linalg.qr(values[:, owners == best])[0]
        values -= q @ (q.T @ values)
        centred = centred - q @ (q.T @ centred)
    rest = [int(j) for j in found if j not in set(chosen)]
    return np.array([*chosen, *rest[: MOST_CANDIDATES - len(chosen)]], dtype=np.intp)


def removal_order(
    columns: FeatureColumns,
    target: Target,
    candidates: Indices,
    prices: Array,
    n_jobs: int | None = None,
    models: KernelModels | None = None,
) -> list[int]:
    """Return the candidates in the order in which they are removed, the one kept longest last.

    In each step the feature goes whose absence increases the loss of held-out rows least, for its price. While many are
    left, several unlike ones go together. It keeps features that are of use only together. ``models`` are those of all
    candidates, if they are known.
    """
    left, removed = [int(j) for j in candidates], list[int]()
    names: Sequence[str] = KERNELS
    while len(left) > 1:
        own = columns.only(left)
        models = KernelModels(own, target, names=names) if removed or models is None else models
        names = models.two_best
        losses = _losses_without(models, n_jobs) - float(models.answers.loss.mean())
        # What a feature saves per unit of its price; those that help by their absence go first, dear ones before cheap.
        order = np.argsort(np.where(losses > 0, losses / prices[left], losses * prices[left]), kind="stable")
        most = 1 if len(left) <= ONE_AT_A_TIME else len(left) // 5
        gone = _unlike(own, order, most)
        removed += [left[place] for place in gone]
        left = [j for place, j in enumerate(left) if place not in gone]
    return removed + left


def addition_order(
    columns: FeatureColumns,
    target: Target,
    candidates: Indices,
    prices: Array,
    n_jobs: int | None = None,
    models: KernelModels | None = None,
) -> list[int]:
    """Return candidates in the reverse of the order in which they are added, the first one last.

    In each step the feature is added that lowers the loss of held-out rows most, for its price. It finds small sets
    among many features that say nearly the same. ``models`` are those of all candidates, if they are known.
    """
    own = columns.only(candidates)
    models = KernelModels(own, target) if models is None else models
    names = models.two_best
    ridges = {name: models.ridges[name] for name in names}
    chosen: list[int] = []
    before = float(target.guessed().loss.mean())
    while len(chosen) < min(MOST_ADDED, own.n_features):
        gains = before - _losses_with(models, chosen, ridges, n_jobs)
        best = int(np.where(gains > 0, gains / prices[candidates], gains).argmax())
        chosen.append(best)
        again = KernelModels(own.only(chosen), target, names=names)
        ridges, before = again.ridges, float(again.answers.loss.mean())
    return [int(candidates[j]) for j in chosen[::-1]]


def _losses_with(models: KernelModels, chosen: Sequence[int], ridges: Mapping[str, float], n_jobs: int | None) -> Array:
    """Return the loss with each further feature; infinite for those already chosen."""
    rest = [j for j in range(models.columns.n_features) if j not in chosen]
    losses = np.full(models.columns.n_features, np.inf)

    def work(first: int, last: int) -> None:
        for j in rest[first:last]:
            losses[j] = models.with_only([*chosen, j], ridges).loss.mean()

    run_in_chunks(work, len(rest), 1, n_jobs)
    return losses


def _losses_without(models: KernelModels, n_jobs: int | None) -> Array:
    d = models.columns.n_features
    losses = np.empty(d)

    def work(first: int, last: int) -> None:
        for j in range(first, last):
            losses[j] = models.without([j]).loss.mean()

    run_in_chunks(work, d, 1, n_jobs)
    return losses


def _unlike(columns: FeatureColumns, order: Sequence[int] | Indices, most: int) -> list[int]:
    """Return the first of an order, and others that are unlike those before them."""
    taken: list[int] = []
    for place in order[: 2 * most]:
        mine = columns.of([int(place)])
        others = columns.of(taken) if taken else np.empty((len(mine), 0))
        lengths = np.outer(np.linalg.norm(mine, axis=0), np.linalg.norm(others, axis=0))
        if not taken or (np.abs(mine.T @ others) <= UNLIKE * lengths).all():
            taken.append(int(place))
        if len(taken) == most:
            break
    return taken
