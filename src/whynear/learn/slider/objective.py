"""Ranking by a weighted distance: crossovers of one feature against the rest, mean ranks, and the climb over both.

The gap of a comparison (instance x, match y, mismatch z) in feature l is |x_l - z_l|^p - |x_l - y_l|^p. Under weights w
its margin is sum_l w_l gap_l, and the match is the nearer one where that is positive. Equal cases have a gap of exactly
zero in every feature, so that ties between copies stay ties whatever the weights.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from whynear.utils.compiling import njit

NEARLY_WHOLE_SHARE = 0.999  # of one feature, beyond which the rest is summed anew, because a difference would lose it


@njit(cache=True, nogil=True, inline="always")
def power(difference: float, p: int) -> float:  # pragma: no cover
    """Return |difference|^p for p = 1, 2, 3."""
    size = abs(difference)
    if p == 1:
        return size
    if p == 2:
        return size * size
    return size * size * size


@njit(cache=True, nogil=True)
def gaps(
    column: NDArray[Any],
    instances: NDArray[Any],
    matches: NDArray[Any],
    mismatches: NDArray[Any],
    p: int,
    out: NDArray[Any],
) -> None:  # pragma: no cover
    """Fill out[v, m] with the gap of instance v, its match and its m-th mismatch in one feature."""
    for v in range(len(instances)):
        x = column[instances[v]]
        to_match = power(x - column[matches[v]], p)
        for m in range(mismatches.shape[1]):
            out[v, m] = power(x - column[mismatches[v, m]], p) - to_match


@njit(cache=True, nogil=True)
def margins(
    columns: NDArray[Any],
    instances: NDArray[Any],
    matches: NDArray[Any],
    mismatches: NDArray[Any],
    p: int,
    weights: NDArray[Any],
    out: NDArray[Any],
) -> None:  # pragma: no cover
    """Fill out[v, m] with the margin sum_l weights[l] gap_l. Time O(d v m), no memory."""
    out[:] = 0.0
    for feature in range(len(weights)):
        if weights[feature] == 0.0:
            continue
        column, weight = columns[feature], weights[feature]
        for v in range(len(instances)):
            x = column[instances[v]]
            to_match = power(x - column[matches[v]], p)
            for m in range(mismatches.shape[1]):
                out[v, m] += weight * (power(x - column[mismatches[v, m]], p) - to_match)


@njit(cache=True, nogil=True)
def nearer_share(margin: NDArray[Any], kept: float, gap: NDArray[Any], added: float) -> float:  # pragma: no cover
    """The share of mismatches nearer than the match, equally near ones counted half, at kept margin + added gap."""
    total = 0.0
    for v in range(margin.shape[0]):
        count = 0
        for m in range(margin.shape[1]):
            value = kept * margin[v, m] + added * gap[v, m]
            count += 2 * (value < 0.0) + (value == 0.0)
        total += count
    return total / (2.0 * margin.size)


@njit(cache=True, nogil=True)
def best_share(
    feature: NDArray[Any], rest: NDArray[Any], rising: NDArray[Any], falling: NDArray[Any]
) -> tuple[float, int]:  # pragma: no cover
    r"""The share w in [0, 1] at which most comparisons hold, w feature[t] + (1 - w) rest[t] > 0, and their number.

    Gopal & Ioerger, eq. 5 with its missing square: a comparison changes at the crossover
    w_c = rest / (rest - feature), to its better where feature > 0 >= rest, to its worse where rest > 0 >= feature;
    all others hold always or never. Equality does not hold, so the best shares are open intervals between neighbouring
    crossovers (0 and 1 may belong to them); the middle of the widest is returned. Time O(t log t) for the two sorts;
    ``rising`` and ``falling`` are work arrays for the crossovers.
    """
    n_rising = n_falling = always = 0
    for t in range(len(feature)):
        a, b = feature[t], rest[t]
        if a > 0.0:
            if b > 0.0:
                always += 1
            else:
                rising[n_rising] = b / (b - a)
                n_rising += 1
        elif b > 0.0:
            falling[n_falling] = b / (b - a)
            n_falling += 1
    up, down = np.sort(rising[:n_rising]), np.sort(falling[:n_falling])
    i = j = 0
    left, holding = 0.0, always + n_falling
    best, most, widest = 0.0, -1, 0.0
    while True:
        right = 1.0
        if i < n_rising:
            right = min(right, up[i])
        if j < n_falling:
            right = min(right, down[j])
        width = right - left
        if width > 0.0 and (holding > most or (holding == most and width > widest)):
            best, most, widest = left + 0.5 * width, holding, width
        if i == n_rising and j == n_falling:
            return best, most
        while i < n_rising and up[i] <= right:
            holding += 1
            i += 1
        while j < n_falling and down[j] <= right:
            holding -= 1
            j += 1
        left = right


@njit(cache=True, nogil=True)
def climb(
    columns: NDArray[Any],
    instances: NDArray[Any],
    matches: NDArray[Any],
    mismatches: NDArray[Any],
    judges: NDArray[Any],
    judge_matches: NDArray[Any],
    judge_mismatches: NDArray[Any],
    p: int,
    order: NDArray[Any],
    tol: float,
    shares: NDArray[Any],
    margin: NDArray[Any],
    judged: NDArray[Any],
    nearer: float,
    curve: NDArray[Any],
) -> None:  # pragma: no cover
    """Slide each feature of ``order`` against all others, and keep its new share where the judges rank better.

    The triples (with one mismatch each) propose: the share of the feature that satisfies most of them. Zero is proposed
    besides. The judges decide: the better proposal is kept if the share of their mismatches nearer than the match falls
    by more than ``tol`` times it, else taken back. ``shares``, ``margin`` (of the triples) and ``judged`` (margins of
    the judges) are brought up to date, ``curve`` receives the share of nearer mismatches after each step that is kept
    and NaN after all others. Time O(t log t + v m) a step.
    """
    n_triples = len(instances)
    gap, judge_gap = np.empty((n_triples, 1)), np.empty(judged.shape)
    rest, judge_rest = np.empty((n_triples, 1)), np.empty(judged.shape)
    rising, falling = np.empty(n_triples), np.empty(n_triples)
    curve[:] = np.nan
    for place, feature in enumerate(order):
        gaps(columns[feature], instances, matches, mismatches, p, gap)
        gaps(columns[feature], judges, judge_matches, judge_mismatches, p, judge_gap)
        old = shares[feature]
        shares[feature] = 0.0
        total = shares.sum()
        # The margins without the feature are scale (start - removed gap).
        if total > 1.0 - NEARLY_WHOLE_SHARE:
            start, judge_start, scale, removed = margin, judged, 1.0 / total, old
        elif total > 0.0:
            others = shares / total
            margins(columns, instances, matches, mismatches, p, others, rest)
            margins(columns, judges, judge_matches, judge_mismatches, p, others, judge_rest)
            start, judge_start, scale, removed = rest, judge_rest, 1.0, 0.0
        else:  # nothing to slide against
            shares[feature] = old
            continue
        for t in range(n_triples):
            rest[t, 0] = scale * (start[t, 0] - removed * gap[t, 0])
        share, _ = best_share(gap[:, 0], rest[:, 0], rising, falling)
        kept = (1.0 - share) * scale
        tried = nearer_share(judge_start, kept, judge_gap, share - kept * removed)
        without = nearer_share(judge_start, scale, judge_gap, -scale * removed)
        if without <= tried:
            share, kept, tried = 0.0, scale, without
        if tried < nearer - tol * nearer:
            nearer = tried
            shares *= (1.0 - share) / total
            shares[feature] = share
            for t in range(n_triples):
                margin[t, 0] = (1.0 - share) * rest[t, 0] + share * gap[t, 0]
            added = share - kept * removed
            for v in range(judged.shape[0]):
                for m in range(judged.shape[1]):
                    judged[v, m] = kept * judge_start[v, m] + added * judge_gap[v, m]
            curve[place] = nearer
        else:
            shares[feature] = old


@njit(cache=True, nogil=True)
def judge_changes(
    columns: NDArray[Any],
    judges: NDArray[Any],
    judge_matches: NDArray[Any],
    judge_mismatches: NDArray[Any],
    p: int,
    judged: NDArray[Any],
    features: NDArray[Any],
    changes: NDArray[Any],
    out: NDArray[Any],
) -> None:  # pragma: no cover
    """Fill out[k] with the share of nearer mismatches if the weight of features[k] were to change by changes[k]."""
    gap = np.empty(judged.shape)
    for k in range(len(features)):
        gaps(columns[features[k]], judges, judge_matches, judge_mismatches, p, gap)
        out[k] = nearer_share(judged, 1.0, gap, changes[k])
