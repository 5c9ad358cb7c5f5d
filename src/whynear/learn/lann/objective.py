r"""Locally adaptive nearest neighbours (Goepfert, Wersing & Hammer): loss and online rule, one case at a time.

The k nearest anchors of a case x, each by its own metric, support their classes: with d_i the squared distance
:math:`\sum_l \lambda_{il}^2 (x_l - x_{il})^2` (or :math:`||\Omega_i (x - x_i)||^2` in the low-rank form)

.. math:: S(y|x) = \sum_{i \in N_k(x),\, y_i = y} 1 / d_i, \quad P = \mathrm{softmax}(S / \beta), \quad E = -\log P(y)

For a neighbour j, :math:`\partial E / \partial d_j` is :math:`(1 - P(y)) / (\beta d_j^2)` where it has the class of x,
else :math:`-P(y_j) / (\beta d_j^2)`. A step moves the metrics of the neighbours against their gradients. The weight of
x multiplies its loss and so these gradients, before they are capped.

Metrics are an array ``lam`` of shape (n_metrics, d), or (n_metrics, c, d); ``own[i]`` is the number of anchor i's
metric, so that anchors may share one.
"""

from enum import IntEnum

import numpy as np
from numba import njit
from numpy.typing import NDArray

from whynear.utils.arrays import Indices

Floats = NDArray[np.floating]
Rule = tuple[int, float, float, float, int, float, float]  # n_classes, beta, step, decay, constraint, low, high

SQ_DISTANCE_FLOOR = 1e-4  # where the median to the k-th neighbour is about one
LONGEST_GRADIENT = 1.0  # of one metric at one case


class Constraint(IntEnum):
    """What keeps a metric from growing or vanishing, after each step."""

    BOX = 0  # every entry of lambda stays between two bounds
    TRACE = 1  # the squares of lambda have the sum they start with
    DETERMINANT = 2  # the product of the lambdas stays one


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def sq_distance(metric: Floats, x: Floats, anchor: Floats) -> float:  # pragma: no cover - compiled
    """Squared distance of x to an anchor by the anchor's metric, of shape (d,) or (c, d)."""
    total = 0.0
    if metric.ndim == 1:
        for f in range(len(x)):
            part = metric[f] * (x[f] - anchor[f])
            total += part * part
    else:
        for row in range(metric.shape[0]):
            z = 0.0
            for f in range(len(x)):
                z += metric[row, f] * (x[f] - anchor[f])
            total += z * z
    return total


@njit(cache=True, nogil=True)
def nearest(
    x: Floats,
    candidates: Indices,
    itself: int,
    anchors: Floats,
    own: Indices,
    lam: Floats,
    active: NDArray[np.bool_],
    found: Indices,
    sq: Floats,
) -> int:  # pragma: no cover - compiled
    """Fill the numbers and squared distances of the nearest active candidates, rising; return how many there are.

    Equally near ones come in the order of their numbers, and a case is never its own neighbour.
    """
    k, count = len(found), 0
    for place in range(len(candidates)):
        c = candidates[place]
        if c < 0 or c == itself or not active[c]:
            continue
        d = sq_distance(lam[own[c]], x, anchors[c])
        if count == k and (d > sq[k - 1] or (d == sq[k - 1] and c > found[k - 1])):
            continue
        count = min(count + 1, k)
        at = count - 1
        while at > 0 and (sq[at - 1] > d or (sq[at - 1] == d and found[at - 1] > c)):
            sq[at], found[at] = sq[at - 1], found[at - 1]
            at -= 1
        sq[at], found[at] = d, c
    return count


@njit(cache=True, nogil=True)
def class_support(
    found: Indices, sq: Floats, count: int, codes: Indices, support: Floats
) -> None:  # pragma: no cover - compiled
    """Fill the support of each neighbour's own class, neighbour by neighbour."""
    for a in range(count):
        total = 0.0
        for b in range(count):
            if codes[found[b]] == codes[found[a]]:
                total += 1.0 / max(sq[b], SQ_DISTANCE_FLOOR)
        support[a] = total


@njit(cache=True, nogil=True)
def log_normalizer(
    found: Indices, support: Floats, count: int, codes: Indices, n_classes: int, beta: float
) -> float:  # pragma: no cover - compiled
    """The log of the sum of exp(S / beta) over all classes; those of no neighbour have no support."""
    largest = 0.0
    for a in range(count):
        largest = max(largest, support[a] / beta)
    total, distinct = 0.0, 0
    for a in range(count):
        first = True
        for b in range(a):
            if codes[found[b]] == codes[found[a]]:
                first = False
        if first:
            distinct += 1
            total += np.exp(support[a] / beta - largest)
    total += (n_classes - distinct) * np.exp(-largest)
    return largest + np.log(total)


@njit(cache=True, nogil=True)
def constrain(
    metric: Floats, start: Floats, constraint: int, low: float, high: float
) -> None:  # pragma: no cover - compiled
    """Bring a metric back to its constraint, which ``start`` meets, in place."""
    flat, home = metric.reshape(-1), start.reshape(-1)
    if constraint == 0:
        least = low if metric.ndim == 1 else -high  # entries of a low-rank map have either sign
        for i in range(len(flat)):
            flat[i] = min(max(flat[i], least), high)
        return
    total, size = 0.0, 0.0
    for i in range(len(flat)):
        if constraint == 1:
            total += flat[i] * flat[i]
            size += home[i] * home[i]
        else:
            flat[i] = max(flat[i], low)
            total += np.log(flat[i])
    factor = np.sqrt(size / total) if constraint == 1 else np.exp(-total / len(flat))
    for i in range(len(flat)):
        flat[i] *= factor


@njit(cache=True, nogil=True)
def gradient(
    metric: Floats, x: Floats, anchor: Floats, slope: float, out: Floats
) -> None:  # pragma: no cover - compiled
    """Fill slope times the derivative of the squared distance by the metric, no longer than LONGEST_GRADIENT."""
    length = 0.0
    if metric.ndim == 1:
        for f in range(len(x)):
            out[f] = slope * 2.0 * metric[f] * (x[f] - anchor[f]) ** 2
            length += out[f] ** 2
    else:
        for row in range(metric.shape[0]):
            z = 0.0
            for f in range(len(x)):
                z += metric[row, f] * (x[f] - anchor[f])
            for f in range(len(x)):
                out[row, f] = slope * 2.0 * z * (x[f] - anchor[f])
                length += out[row, f] ** 2
    if length > LONGEST_GRADIENT**2:
        flat, factor = out.reshape(-1), LONGEST_GRADIENT / np.sqrt(length)
        for i in range(len(flat)):
            flat[i] *= factor


@njit(cache=True, nogil=True)
def learn_case(
    i: int,
    candidates: Indices,
    X: Floats,
    codes: Indices,
    weights: Floats,
    own: Indices,
    lam: Floats,
    start: Floats,
    active: NDArray[np.bool_],
    rule: Rule,
    found: Indices,
    sq: Floats,
    support: Floats,
    slope: Floats,
) -> float:  # pragma: no cover - compiled
    """Take the step of case i: move the metrics of its neighbours among the candidates, and return its weighted loss.

    ``decay`` draws a metric that moves back to ``start`` by that share of the way. The last four are work arrays.
    """
    n_classes, beta, step, decay, constraint, low, high = rule
    x = X[i]
    count = nearest(x, candidates, i, X, own, lam, active, found, sq)
    class_support(found, sq, count, codes, support)
    log_total = log_normalizer(found, support, count, codes, n_classes, beta)
    mine = 0.0
    for a in range(count):
        if codes[found[a]] == codes[i]:
            mine = support[a]
    log_p = mine / beta - log_total
    for a in range(count):
        j = found[a]
        squared = max(sq[a], SQ_DISTANCE_FLOOR) ** 2
        if codes[j] == codes[i]:
            by_distance = (1.0 - np.exp(log_p)) / (beta * squared)
        else:
            by_distance = -np.exp(support[a] / beta - log_total) / (beta * squared)
        metric = lam[own[j]]
        gradient(metric, x, X[j], weights[i] * by_distance, slope)
        flat, moved, home = metric.reshape(-1), slope.reshape(-1), start.reshape(-1)
        for f in range(len(flat)):
            flat[f] -= step * moved[f] + decay * (flat[f] - home[f])
        constrain(metric, start, constraint, low, high)
    return -log_p * weights[i]


@njit(cache=True, nogil=True)
def learn_cases(
    cases: Indices,
    X: Floats,
    codes: Indices,
    weights: Floats,
    lists: Indices,
    own: Indices,
    lam: Floats,
    start: Floats,
    active: NDArray[np.bool_],
    k: int,
    rule: Rule,
) -> float:  # pragma: no cover - compiled
    """Take the steps of cases in this order, each with its list; the sum of losses. Time O(n m d) for m candidates."""
    found, sq, support = np.empty(k, np.intp), np.empty(k), np.empty(k)
    slope = np.empty_like(lam[0])
    total = 0.0
    for place in range(len(cases)):
        i = cases[place]
        total += learn_case(i, lists[i], X, codes, weights, own, lam, start, active, rule, found, sq, support, slope)
    return total


@njit(cache=True, nogil=True)
def learn_stream(
    first: int,
    last: int,
    window: int,
    X: Floats,
    codes: Indices,
    weights: Floats,
    lam: Floats,
    start: Floats,
    k: int,
    rule: Rule,
) -> float:  # pragma: no cover - compiled
    """Take the steps of cases in the order of their numbers, each among the ``window`` ones before it, an anchor then.

    Time O(m d) a case, for m anchors.
    """
    found, sq, support = np.empty(k, np.intp), np.empty(k), np.empty(k)
    slope, everything, active = np.empty_like(lam[0]), np.arange(last), np.ones(last, np.bool_)
    total = 0.0
    for i in range(first, last):
        before = everything[max(0, i - window) : i]
        total += learn_case(
            i, before, X, codes, weights, everything, lam, start, active, rule, found, sq, support, slope
        )
        fresh, home = lam[i].reshape(-1), start.reshape(-1)
        for f in range(len(home)):
            fresh[f] = home[f]
    return total


@njit(cache=True, nogil=True)
def predicted_correctly(
    cases: Indices,
    X: Floats,
    codes: Indices,
    lists: Indices,
    own: Indices,
    lam: Floats,
    active: NDArray[np.bool_],
    k: int,
    correct: NDArray[np.bool_],
) -> None:  # pragma: no cover - compiled
    """Fill whether the class of each case has the largest support of its active neighbours."""
    found, sq, support = np.empty(k, np.intp), np.empty(k), np.empty(k)
    for place in range(len(cases)):
        i = cases[place]
        count = nearest(X[i], lists[i], i, X, own, lam, active, found, sq)
        class_support(found, sq, count, codes, support)
        best = 0
        for a in range(count):
            if support[a] > support[best]:
                best = a
        correct[place] = count > 0 and codes[found[best]] == codes[i]
