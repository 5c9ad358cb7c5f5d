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
from numpy.typing import NDArray

from whynear.utils.arrays import Indices
from whynear.utils.compiling import njit

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
def sq_distance(lam: Floats, own: int, x: Floats, anchors: Floats, c: int) -> float:  # pragma: no cover - compiled
    """Squared distance of x to anchor c by the metric of this number; whole arrays, since views of rows take time."""
    total = 0.0
    if lam.ndim == 2:
        for f in range(len(x)):
            part = lam[own, f] * (x[f] - anchors[c, f])
            total += part * part
    else:
        for row in range(lam.shape[1]):
            z = 0.0
            for f in range(len(x)):
                z += lam[own, row, f] * (x[f] - anchors[c, f])
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
    apart: Floats,
) -> int:  # pragma: no cover - compiled
    """Fill the numbers and squared distances of the nearest active candidates, rising; return how many there are.

    Equally near ones come in the order of their numbers, and a case is never its own neighbour. ``apart`` is a work
    array as long as the candidates.
    """
    k, count, last = len(found), 0, len(candidates)
    while last > 0 and candidates[last - 1] < 0:
        last -= 1
    # All distances first: without branches between them, reading one anchor does not wait for another.
    for place in range(last):
        c = max(candidates[place], 0)
        apart[place] = sq_distance(lam, own[c], x, anchors, c)
    for place in range(last):
        c, d = candidates[place], apart[place]
        if count == k and (d > sq[k - 1] or (d == sq[k - 1] and c > found[k - 1])):
            continue
        if c < 0 or c == itself or not active[c]:
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
    flat: Floats, own: int, home: Floats, constraint: int, low: float, high: float
) -> None:  # pragma: no cover - compiled
    """Bring the metric of this number back to its constraint, which ``home`` meets, in place."""
    size = flat.shape[1]
    if constraint == 0:
        for f in range(size):
            flat[own, f] = min(max(flat[own, f], low), high)
        return
    total, target = 0.0, 0.0
    for f in range(size):
        if constraint == 1:
            total += flat[own, f] * flat[own, f]
            target += home[f] * home[f]
        else:
            flat[own, f] = max(flat[own, f], low)
            total += np.log(flat[own, f])
    factor = np.sqrt(target / total) if constraint == 1 else np.exp(-total / size)
    for f in range(size):
        flat[own, f] *= factor


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def gradient(
    lam: Floats, own: int, X: Floats, i: int, j: int, slope: float, out: Floats
) -> float:  # pragma: no cover - compiled
    """Fill slope times the derivative of the squared distance; return the factor that cuts it to LONGEST_GRADIENT."""
    length = 0.0
    if lam.ndim == 2:
        for f in range(X.shape[1]):
            difference = X[i, f] - X[j, f]
            part = slope * 2.0 * lam[own, f] * difference * difference
            out[f] = part
            length += part * part
    else:
        for row in range(lam.shape[1]):
            z = 0.0
            for f in range(X.shape[1]):
                z += lam[own, row, f] * (X[i, f] - X[j, f])
            for f in range(X.shape[1]):
                part = slope * 2.0 * z * (X[i, f] - X[j, f])
                out[row * X.shape[1] + f] = part
                length += part * part
    return LONGEST_GRADIENT / np.sqrt(length) if length > LONGEST_GRADIENT**2 else 1.0


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
    apart: Floats,
) -> float:  # pragma: no cover - compiled
    """Take the step of case i: move the metrics of its neighbours among the candidates, and return its weighted loss.

    ``decay`` draws a metric that moves back to ``start`` by that share of the way. The last five are work arrays.
    """
    n_classes, beta, step, decay, constraint, low, high = rule
    count = nearest(X[i], candidates, i, X, own, lam, active, found, sq, apart)
    class_support(found, sq, count, codes, support)
    log_total = log_normalizer(found, support, count, codes, n_classes, beta)
    mine = 0.0
    for a in range(count):
        if codes[found[a]] == codes[i]:
            mine = support[a]
    log_p = mine / beta - log_total
    doubt = 1.0 - np.exp(log_p)
    flat, home = lam.reshape(len(lam), -1), start.reshape(-1)
    least = low if lam.ndim == 2 else -high  # entries of a low-rank map have either sign
    for a in range(count):
        j, metric = found[a], own[found[a]]
        squared = max(sq[a], SQ_DISTANCE_FLOOR) ** 2
        if codes[j] == codes[i]:
            by_distance = doubt / (beta * squared)
        else:
            by_distance = -np.exp(support[a] / beta - log_total) / (beta * squared)
        factor = step * gradient(lam, metric, X, i, j, weights[i] * by_distance, slope)
        for f in range(len(home)):
            flat[metric, f] -= factor * slope[f] + decay * (flat[metric, f] - home[f])
        constrain(flat, metric, home, constraint, least, high)
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
    slope, apart, total = np.empty(start.size), np.empty(lists.shape[1]), 0.0
    for place in range(len(cases)):
        i = cases[place]
        total += learn_case(
            i, lists[i], X, codes, weights, own, lam, start, active, rule, found, sq, support, slope, apart
        )
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
    slope, everything, active = np.empty(start.size), np.arange(last), np.ones(last, np.bool_)
    apart, total = np.empty(last), 0.0
    for i in range(first, last):
        before = everything[max(0, i - window) : i]
        total += learn_case(
            i, before, X, codes, weights, everything, lam, start, active, rule, found, sq, support, slope, apart
        )
        lam[i] = start
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
    found, sq, support, apart = np.empty(k, np.intp), np.empty(k), np.empty(k), np.empty(lists.shape[1])
    for place in range(len(cases)):
        i = cases[place]
        count = nearest(X[i], lists[i], i, X, own, lam, active, found, sq, apart)
        class_support(found, sq, count, codes, support)
        best = 0
        for a in range(count):
            if support[a] > support[best]:
                best = a
        correct[place] = count > 0 and codes[found[best]] == codes[i]
