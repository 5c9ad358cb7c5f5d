"""The self-adjusting memory, compiled: one case after the other (Losing, Hammer and Wersing 2016).

Cases have numbers, counted from 0 in the stream; the short-term memory holds those from START to END - 1, at the places
``number - BASE``. All distances are sums of w_f (x_f - y_f)^2, over features in their order. Of cases at the same
distance the newer one is nearer.

The error of a window of the latest cases, each predicted by the earlier ones in it, is exact, and never computed anew.
When a case comes, the earlier ones are looked through from the newest to the oldest. Its k nearest among those looked
through are its k nearest in the window that starts there. Whenever they change (about k ln(n / k) times of n), they
vote; where their vote becomes right or wrong, that change is listed under the case that was looked at. When a window
loses that case, it goes back over the changes listed there.
"""

from typing import NamedTuple

import numpy as np

from whynear.utils.arrays import Array, Flags, Indices
from whynear.utils.compiling import njit

BASE, START, END, LONG_SIZE, N_LEVELS, FIRST_SLOT, N_CHANGES, PENDING = range(8)  # places in ``Memory.state``
N_STATE = 8
SHORT, LONG, BOTH = range(3)  # the memories that predict
PLAIN, RAW, STANDARD = range(3)  # kinds of metrics
BLOCK = 256  # cases whose distances are computed together
GLANCE = 16  # distances that are compared with a limit together
CHECKED_FEATURES = 8  # after so many, a block of too distant cases is left
RECENT_LIMIT = 3.0  # of (gains - losses) / sqrt(gains + losses)
LARGEST_LOG = 6.0  # of a weight


class Memory(NamedTuple):
    """The state for one metric; arrays that the kernels change."""

    state: Indices
    cases: Array  # (n_features, room): short-term memory; with weights of each case (2 n_features, room)
    codes: Indices
    right: Indices  # (n_slots, room): whether the case is predicted rightly within the window of the slot
    listed: Indices  # (room,): the latest change listed under the case, -1 for none
    changes: Indices  # (n, 2): the place of the case that becomes right or wrong, and the next change in the same list
    starts: Indices  # (n_slots,)
    n_right: Indices  # (n_slots,)
    memory_right: Indices  # (3, room): whether the short, the long or both memories were right
    memory_n_right: Indices  # (3,)
    long_cases: Array  # as ``cases``
    long_codes: Indices
    long_numbers: Indices
    weights: Array  # (n_features,): the metric of now
    weights_before: Array  # the metric that the latest case was compared by
    log_weights: Array
    moments: Array  # (2, n_features): running means, and sums of squared differences from them


class Rule(NamedTuple):
    """The settings that the kernels need."""

    n_neighbors: int
    min_size: int
    max_size: int
    max_long: int
    squared_votes: bool
    recent_rule: bool
    kind: int
    step: float
    decay: float
    case_weights: bool = False


class Work(NamedTuple):
    """Arrays for one case."""

    sq: Array  # of the k nearest in the short-term memory
    at: Indices
    near: Indices  # their classes
    long_sq: Array
    long_at: Indices
    both_sq: Array
    both_at: Indices
    voters: Indices  # classes
    votes: Array  # (n_classes,)
    changed: Indices  # (room,): places where the prediction changes
    block: Array


@njit(nogil=True, cache=True)
def _work(k: int, n_classes: int, room: int) -> Work:
    sq, long_sq, both_sq = np.empty(k), np.empty(k), np.empty(k)
    at, near, voters = np.empty(k, dtype=np.int64), np.empty(k, dtype=np.int64), np.empty(k, dtype=np.int64)
    long_at, both_at = np.empty(k, dtype=np.int64), np.empty(k, dtype=np.int64)
    votes, changed, block = np.zeros(n_classes), np.empty(room, dtype=np.int64), np.empty(BLOCK)
    return Work(sq, at, near, long_sq, long_at, both_sq, both_at, voters, votes, changed, block)


@njit(nogil=True, cache=True)
def add_weighted(
    cases: Array, first: int, last: int, x: Array, weights: Array, begin: int, end: int, out: Array
) -> None:
    """Add the features from ``begin`` to the squared distances of the cases at first to last - 1, by their weights."""
    d = len(x)
    for f in range(begin, end):
        values, own = cases[f, first:last], cases[d + f, first:last]
        for i in range(last - first):
            out[i] += weights[f] * own[i] * (values[i] - x[f]) * (values[i] - x[f])


@njit(nogil=True, cache=True)
def move_case_weights(cases: Array, place: int, x: Array, weights: Array, pull: float, kept: float) -> None:
    """Move the weights v of one case: log v_f <- kept log v_f - pull s_f, centred over f and clipped.

    s_f is the share of feature f in the squared distance from x to the case.
    """
    d = len(x)
    logs, parts = np.empty(d), np.empty(d)
    for f in range(d):
        parts[f] = weights[f] * cases[d + f, place] * (x[f] - cases[f, place]) ** 2
    total = parts.sum()
    for f in range(d):
        logs[f] = kept * np.log(cases[d + f, place]) - pull * parts[f] / total
    mean = logs.sum() / d
    for f in range(d):
        cases[d + f, place] = np.exp(min(max(logs[f] - mean, -LARGEST_LOG), LARGEST_LOG))


@njit(nogil=True, cache=True)
def _add_features(
    cases: Array, first: int, last: int, x: Array, weights: Array, begin: int, end: int, out: Array
) -> None:
    """Add the features from ``begin`` to the squared distances of the cases at first to last - 1, in their order."""
    if len(cases) > len(x):
        add_weighted(cases, first, last, x, weights, begin, end, out)
        return
    n, f = last - first, begin
    if (end - f) % 2:
        a, x_a, w_a = cases[f, first:last], x[f], weights[f]
        for i in range(n):
            out[i] += w_a * (a[i] - x_a) * (a[i] - x_a)
        f += 1
    if (end - f) % 4:  # several at a time, because that takes fewer passes over ``out``
        a, x_a, w_a = cases[f, first:last], x[f], weights[f]
        b, x_b, w_b = cases[f + 1, first:last], x[f + 1], weights[f + 1]
        for i in range(n):
            out[i] = out[i] + w_a * (a[i] - x_a) * (a[i] - x_a) + w_b * (b[i] - x_b) * (b[i] - x_b)
        f += 2
    while f < end:
        a, x_a, w_a = cases[f, first:last], x[f], weights[f]
        b, x_b, w_b = cases[f + 1, first:last], x[f + 1], weights[f + 1]
        c, x_c, w_c = cases[f + 2, first:last], x[f + 2], weights[f + 2]
        d, x_d, w_d = cases[f + 3, first:last], x[f + 3], weights[f + 3]
        for i in range(n):
            half = out[i] + w_a * (a[i] - x_a) * (a[i] - x_a) + w_b * (b[i] - x_b) * (b[i] - x_b)
            out[i] = half + w_c * (c[i] - x_c) * (c[i] - x_c) + w_d * (d[i] - x_d) * (d[i] - x_d)
        f += 4


@njit(nogil=True, cache=True)
def _distances_below(cases: Array, first: int, last: int, x: Array, weights: Array, limit: float, out: Array) -> bool:
    """Set ``out`` to the squared distances of the cases at first to last - 1; False if all reach the limit early."""
    n = last - first
    out[:n] = 0.0
    for f in range(0, len(x), CHECKED_FEATURES):
        _add_features(cases, first, last, x, weights, f, min(f + CHECKED_FEATURES, len(x)), out)
        if f + CHECKED_FEATURES < len(x):
            below = 0
            for i in range(n):
                below += out[i] < limit
            if below == 0:
                return False
    return True


@njit(nogil=True, cache=True)
def _distances_of_use(
    cases: Array,
    first: int,
    last: int,
    x: Array,
    weights: Array,
    codes: Indices,
    code: int,
    own: float,
    other: float,
    out: Array,
) -> bool:
    """The same, with a limit for cases of the own class and one for those of other classes."""
    n, codes = last - first, codes[first:last]
    out[:n] = 0.0
    for f in range(0, len(x), CHECKED_FEATURES):
        _add_features(cases, first, last, x, weights, f, min(f + CHECKED_FEATURES, len(x)), out)
        if f + CHECKED_FEATURES < len(x):
            below = 0
            for i in range(n):
                below += out[i] < (own if codes[i] == code else other)
            if below == 0:
                return False
    return True


@njit(nogil=True, cache=True)
def _insert(sq: Array, at: Indices, n: int, k: int, new_sq: float, new_at: int) -> int:
    """Insert into the k nearest, which are sorted; return their number. The new one is behind equal ones."""
    place = min(n, k - 1)
    while place > 0 and sq[place - 1] > new_sq:
        sq[place], at[place] = sq[place - 1], at[place - 1]
        place -= 1
    sq[place], at[place] = new_sq, new_at
    return min(n + 1, k)


@njit(nogil=True, cache=True)
def _last_below(values: Array, n: int, limit: float) -> int:
    """The last of the first n values that is below the limit; -1 if none is."""
    while n >= GLANCE:
        some = values[n - GLANCE : n]
        below = 0
        for i in range(GLANCE):
            below += some[i] < limit
        if below > 0:
            break
        n -= GLANCE
    while n > 0 and values[n - 1] >= limit:
        n -= 1
    return n - 1


@njit(nogil=True, cache=True)
def _last_of_use(values: Array, n: int, codes: Indices, code: int, own: float, other: float) -> int:
    """The same, with a limit for cases of the own class and one for those of other classes."""
    while n >= GLANCE:
        some, their = values[n - GLANCE : n], codes[n - GLANCE : n]
        below = 0
        for i in range(GLANCE):
            below += some[i] < (own if their[i] == code else other)
        if below > 0:
            break
        n -= GLANCE
    while n > 0 and values[n - 1] >= (own if codes[n - 1] == code else other):
        n -= 1
    return n - 1


@njit(nogil=True, cache=True)
def nearest(
    cases: Array, first: int, last: int, x: Array, weights: Array, k: int, sq: Array, at: Indices, block: Array
) -> int:
    """Find the k nearest of the cases at first to last - 1, the later of equal ones first; return their number."""
    n = 0
    limit = np.inf
    stop = last
    while stop > first:
        begin = max(first, stop - BLOCK)
        if _distances_below(cases, begin, stop, x, weights, limit, block):
            i = _last_below(block, stop - begin, limit)
            while i >= 0:
                n = _insert(sq, at, n, k, block[i], begin + i)
                if n == k:
                    limit = sq[k - 1]
                i = _last_below(block, i, limit)
        stop = begin
    return n


@njit(nogil=True, cache=True)
def vote(sq: Array, codes: Indices, n: int, squared: bool, votes: Array) -> int:
    """The class of largest support among n neighbours, nearest first; the first of equal ones.

    Votes are 1 / d^2 (or 1 / d), times that of the nearest; if some are at distance zero, only these vote, one each.
    """
    if n == 0:
        return -1
    best = codes[0]
    same = 1
    while same < n and codes[same] == best:
        same += 1
    if same == n:
        return best
    for i in range(n):
        votes[codes[i]] += vote_weight(sq[0], sq[i], squared)
    for i in range(1, n):
        code = codes[i]
        if votes[code] > votes[best] or (votes[code] == votes[best] and code < best):
            best = code
    for i in range(n):
        votes[codes[i]] = 0.0
    return best


@njit(nogil=True, cache=True)
def vote_weight(nearest_sq: float, sq: float, squared: bool) -> float:
    """The weight of a neighbour, one for the nearest."""
    if nearest_sq == 0.0:
        return 1.0 if sq == 0.0 else 0.0
    return nearest_sq / sq if squared else np.sqrt(nearest_sq / sq)


@njit(nogil=True, cache=True)
def merged(
    short_sq: Array,
    short_at: Indices,
    n_short: int,
    long_sq: Array,
    long_at: Indices,
    n_long: int,
    k: int,
    sq: Array,
    at: Indices,
) -> int:
    """The k nearest of two sorted lists, of equal ones the short memory's first; places of the long are -1 - place."""
    i = j = n = 0
    while n < k and (i < n_short or j < n_long):
        if j == n_long or (i < n_short and short_sq[i] <= long_sq[j]):
            sq[n], at[n] = short_sq[i], short_at[i]
            i += 1
        else:
            sq[n], at[n] = long_sq[j], -1 - long_at[j]
            j += 1
        n += 1
    return n


@njit(nogil=True, cache=True)
def chosen_memory(memory: Memory) -> int:
    """The memory that was right most often over the short-term memory; the short one if the long one is empty."""
    best = SHORT
    if memory.state[LONG_SIZE] > 0:
        for kind in (LONG, BOTH):
            if memory.memory_n_right[kind] > memory.memory_n_right[best]:
                best = kind
    return best


@njit(nogil=True, cache=True)
def _look_through(memory: Memory, rule: Rule, x: Array, code: int, work: Work) -> tuple[int, int, bool, int, int, int]:
    """Find the k nearest in the short-term memory, and where their vote changes between right and wrong.

    Sets these in ``work``. Returns their number, the class that they vote for, whether the k newest are right, the
    number of changes, and the places of the nearest hit and miss (-1: none), if the metric learns.
    """
    k, learning, state, codes, sq = rule.n_neighbors, rule.kind != PLAIN, memory.state, memory.codes, work.sq
    first, last = state[START] - state[BASE], state[END] - state[BASE]
    n = n_changes = 0
    label = hit = miss = -1
    newest_right = right = False
    hit_sq = miss_sq = own = other = np.inf
    stop = last
    while stop > first:
        begin = max(first, stop - BLOCK)
        if _distances_of_use(memory.cases, begin, stop, x, memory.weights, codes, code, own, other, work.block):
            i = _last_of_use(work.block, stop - begin, codes[begin:stop], code, own, other)
            while i >= 0:
                place, new, same = begin + i, work.block[i], codes[begin + i] == code
                if n < k or new < sq[k - 1]:
                    n = _insert(sq, work.at, n, k, new, place)
                    if n == k:
                        for j in range(k):
                            work.near[j] = codes[work.at[j]]
                        label = vote(sq, work.near, k, rule.squared_votes, work.votes)
                        if place == last - k:
                            newest_right = label == code
                        elif right != (label == code):
                            work.changed[n_changes] = place
                            n_changes += 1
                        right = label == code
                        own = other = sq[k - 1]
                if learning:
                    if same and new < hit_sq:
                        hit, hit_sq = place, new
                    elif not same and new < miss_sq:
                        miss, miss_sq = place, new
                    if n == k:
                        own, other = max(sq[k - 1], hit_sq), max(sq[k - 1], miss_sq)
                i = _last_of_use(work.block, i, codes[begin:stop], code, own, other)
        stop = begin
    if n < k:
        for j in range(n):
            work.near[j] = codes[work.at[j]]
        label = vote(sq, work.near, n, rule.squared_votes, work.votes)
    return n, label, newest_right, n_changes, hit, miss


@njit(nogil=True, cache=True)
def _append(memory: Memory, k: int, x: Array, code: int, newest_right: bool, n_changes: int, changed: Indices) -> None:
    """Put a case into the short-term memory, and list where its prediction changes."""
    state = memory.state
    place = state[END] - state[BASE]
    memory.cases[: len(x), place] = x
    memory.cases[len(x) :, place] = 1.0
    memory.codes[place] = code
    memory.listed[place] = -1
    memory.right[:, place] = 0
    for level in range(state[N_LEVELS]):
        slot = (state[FIRST_SLOT] + level) % len(memory.starts)
        start = memory.starts[slot] - state[BASE]
        if start <= place - k:
            right = newest_right
            for j in range(n_changes):
                if changed[j] < start:
                    break
                right = not right
            memory.right[slot, place] = right
            memory.n_right[slot] += right
    for j in range(n_changes):
        change = state[N_CHANGES]
        memory.changes[change, 0], memory.changes[change, 1] = place, memory.listed[changed[j]]
        memory.listed[changed[j]] = change
        state[N_CHANGES] += 1
    state[END] += 1


@njit(nogil=True, cache=True)
def _advance(memory: Memory, k: int, slot: int, start: int) -> None:
    """Start a window later. Its first k cases are not predicted."""
    base, right = memory.state[BASE], memory.right[slot]
    n_places = memory.state[END] - base
    n_right = memory.n_right[slot]
    for place in range(memory.starts[slot] - base, start - base):
        if place + k < n_places:
            n_right -= right[place + k]
            right[place + k] = 0
        change = memory.listed[place]
        while change >= 0:
            at = memory.changes[change, 0]
            n_right += 1 - 2 * np.int64(right[at])
            right[at] = 1 - right[at]
            change = memory.changes[change, 1]
    memory.starts[slot], memory.n_right[slot] = start, n_right


@njit(nogil=True, cache=True)
def move_windows(memory: Memory, rule: Rule) -> None:
    """Start all windows anew, by the size of the short-term memory: the whole, the latest half, a quarter, ..."""
    state, n_slots = memory.state, len(memory.starts)
    first, last, size = state[START] - state[BASE], state[END] - state[BASE], state[END] - state[START]
    n_levels = 1
    while size >> n_levels >= rule.min_size:
        n_levels += 1
    for level in range(n_levels):
        slot = (state[FIRST_SLOT] + level) % n_slots
        if level >= state[N_LEVELS]:  # goes on from the next longer window
            longer = (slot - 1) % n_slots
            memory.starts[slot], memory.n_right[slot] = memory.starts[longer], memory.n_right[longer]
            memory.right[slot, first:last] = memory.right[longer, first:last]
        _advance(memory, rule.n_neighbors, slot, state[END] - (size >> level))
    state[N_LEVELS] = n_levels


@njit(nogil=True, cache=True)
def better_window(memory: Memory, rule: Rule) -> int:
    """The window to which the short-term memory shrinks: 0 for the whole, 1 for its latest half, 2 for a quarter, ...

    The window of the smallest error, the longest of equal ones. Else, with ``recent_rule``, the one that beats the
    whole most clearly on its own latest half: by (gains - losses) / sqrt(gains + losses) > 3.
    """
    state, k = memory.state, rule.n_neighbors
    size, n_slots, n_levels = state[END] - state[START], len(memory.starts), state[N_LEVELS]
    whole = state[FIRST_SLOT]
    best, best_right, best_tried = 0, memory.n_right[whole], size - k
    for level in range(1, n_levels):
        right, tried = memory.n_right[(whole + level) % n_slots], (size >> level) - k
        if right * best_tried > best_right * tried:
            best, best_right, best_tried = level, right, tried
    if best > 0 or not rule.recent_rule:
        return best
    clearest = RECENT_LIMIT
    for level in range(1, n_levels):
        slot, last = (whole + level) % n_slots, state[END] - state[BASE]
        first = last - (size >> level) // 2
        short, long = memory.right[slot, first:last], memory.right[whole, first:last]
        gains = losses = 0
        for i in range(len(short)):
            gains += short[i] > long[i]
            losses += short[i] < long[i]
        if gains > losses and (gains - losses) / np.sqrt(gains + losses) > clearest:
            best, clearest = level, (gains - losses) / np.sqrt(gains + losses)
    return best


@njit(nogil=True, cache=True)
def _contradicted(memory: Memory, rule: Rule, cases: Array, codes: Indices, removed: Flags) -> None:
    """Mark the cases that contradict the short-term memory (clean, eqs. 4 and 5 of the paper).

    For each of its cases, in order: of the k nearest of ``cases`` that are not yet removed, those of another class that
    are not beyond the most distant case of the same class among its k nearest in the short-term memory.
    """
    k, state = rule.n_neighbors, memory.state
    first, last = state[START] - state[BASE], state[END] - state[BASE]
    if last - first <= k:
        return
    sq, at, block = np.empty(k + 1), np.empty(k + 1, dtype=np.int64), np.empty(BLOCK)
    own_sq, own_at = np.empty(k + 1), np.empty(k + 1, dtype=np.int64)
    left, n_left = np.arange(len(codes)), len(codes)
    kept = cases.copy()
    for place in range(first, last):
        x = memory.cases[: len(memory.weights), place].copy()
        n = nearest(kept, 0, n_left, x, memory.weights, k, sq, at, block)
        wrong = 0
        for j in range(n):
            wrong += codes[left[at[j]]] != memory.codes[place]
        if wrong == 0:
            continue
        reach = -1.0
        n_own = nearest(memory.cases, first, last, x, memory.weights, k + 1, own_sq, own_at, block)
        counted = 0
        for j in range(n_own):
            if own_at[j] != place and counted < k:
                counted += 1
                if memory.codes[own_at[j]] == memory.codes[place]:
                    reach = own_sq[j]
        for j in range(n):
            if codes[left[at[j]]] != memory.codes[place] and sq[j] <= reach:
                removed[left[at[j]]] = True
                _close_gap(kept, at[j], n_left)
                for i in range(at[j], n_left - 1):
                    left[i] = left[i + 1]
                n_left -= 1
                _note_gap(at, j, n)


@njit(nogil=True, cache=True)
def _shrink(memory: Memory, rule: Rule, level: int) -> None:
    """Shorten the short-term memory to a window; what does not contradict it moves to the long-term memory."""
    state = memory.state
    slot = (state[FIRST_SLOT] + level) % len(memory.starts)
    first, last = state[START] - state[BASE], memory.starts[slot] - state[BASE]
    forget_oldest(memory, last - first)
    state[FIRST_SLOT], state[N_LEVELS] = slot, state[N_LEVELS] - level
    removed = np.zeros(last - first, dtype=np.bool_)
    _contradicted(memory, rule, memory.cases[:, first:last], memory.codes[first:last], removed)
    for place in range(first, last):
        if not removed[place - first]:
            long = state[LONG_SIZE]
            memory.long_cases[:, long] = memory.cases[:, place]
            memory.long_codes[long], memory.long_numbers[long] = memory.codes[place], place + state[BASE]
            state[LONG_SIZE] += 1


@njit(nogil=True, cache=True)
def forget_oldest(memory: Memory, n: int) -> None:
    """Start the short-term memory n cases later; the windows stay."""
    first = memory.state[START] - memory.state[BASE]
    for kind in range(3):
        for place in range(first, first + n):
            memory.memory_n_right[kind] -= memory.memory_right[kind, place]
    memory.state[START] += n


@njit(nogil=True, cache=True)
def _close_gap(cases: Array, place: int, n: int) -> None:
    """Remove the case at a place; the later ones move up."""
    for f in range(len(cases)):
        row = cases[f, place:n]
        for i in range(len(row) - 1):
            row[i] = row[i + 1]


@njit(nogil=True, cache=True)
def _note_gap(at: Indices, j: int, n: int) -> None:
    """Let the places after j in a list be those after the case at place j is removed."""
    for i in range(j + 1, n):
        at[i] -= at[i] > at[j]


@njit(nogil=True, cache=True)
def _clean_long(memory: Memory, rule: Rule, n: int, n_long: int, work: Work) -> None:
    """Remove from the long-term memory what contradicts the newest case, whose nearest are in ``work``."""
    state = memory.state
    code = memory.codes[state[END] - 1 - state[BASE]]
    if state[END] - state[START] <= rule.n_neighbors:
        return
    reach = -1.0
    for j in range(n):
        if memory.codes[work.at[j]] == code:
            reach = work.sq[j]
    for j in range(n_long):
        place = work.long_at[j]
        if memory.long_codes[place] != code and work.long_sq[j] <= reach:
            _close_gap(memory.long_cases, place, state[LONG_SIZE])
            for i in range(place, state[LONG_SIZE] - 1):
                memory.long_codes[i], memory.long_numbers[i] = memory.long_codes[i + 1], memory.long_numbers[i + 1]
            state[LONG_SIZE] -= 1
            _note_gap(work.long_at, j, n_long)


@njit(nogil=True, cache=True)
def _part(memory: Memory, x: Array, f: int, place: int) -> float:
    """What feature f adds to the squared distance from x to a case of the short-term memory."""
    weight = memory.weights[f]
    if len(memory.cases) > len(x):
        weight *= memory.cases[len(x) + f, place]
    return weight * (x[f] - memory.cases[f, place]) ** 2


@njit(nogil=True, cache=True)
def _learn_weights(memory: Memory, rule: Rule, x: Array, hit: int, miss: int) -> None:
    """Move the weights by the margin rule, after a case came.

    With d+ and d- the squared distances to the nearest hit and miss, s+_f and s-_f the shares of feature f in them,
    mu = (d+ - d-) / (d+ + d-) and sigma the logistic function,
    log w_f <- (1 - decay [mu > 0]) log w_f
               - step 4 sigma(2 mu) (1 - sigma(2 mu)) 2 d+ d- / (d+ + d-)^2 (s+_f - s-_f),
    centred over f and clipped. Weights go back to equal ones only by cases with a nearer miss, which are frequent after
    a drift; without that a feature of small weight, hence of small share, would hardly move again.

    If cases have weights, those of the hit move by s+_f in the place of s+_f - s-_f, and those of the miss by -s-_f.
    """
    d, logs = len(x), memory.log_weights
    if hit >= 0 and miss >= 0:
        plus = minus = 0.0
        for f in range(d):
            plus += _part(memory, x, f, hit)
            minus += _part(memory, x, f, miss)
        if plus > 0.0 and minus > 0.0:
            logistic = 1.0 / (1.0 + np.exp(-2.0 * (plus - minus) / (plus + minus)))
            pull = rule.step * 8.0 * logistic * (1.0 - logistic) * (plus / (plus + minus)) * (minus / (plus + minus))
            kept = 1.0 - rule.decay if plus > minus else 1.0
            mean = 0.0
            for f in range(d):
                own = _part(memory, x, f, hit) / plus
                other = _part(memory, x, f, miss) / minus
                logs[f] = kept * logs[f] - pull * (own - other)
                mean += logs[f] / d
            for f in range(d):
                logs[f] = min(max(logs[f] - mean, -LARGEST_LOG), LARGEST_LOG)
            if rule.case_weights:
                move_case_weights(memory.cases, hit, x, memory.weights, pull, kept)
                move_case_weights(memory.cases, miss, x, memory.weights, -pull, kept)


@njit(nogil=True, cache=True)
def _set_metric(memory: Memory, rule: Rule, x: Array) -> None:
    """Move the running moments of the features by Welford's rule, and set the metric of now."""
    n = memory.state[END]
    for f in range(len(x)):
        before = x[f] - memory.moments[0, f]
        memory.moments[0, f] += before / n
        memory.moments[1, f] += before * (x[f] - memory.moments[0, f])
        if rule.kind == RAW:
            memory.weights[f] = np.exp(memory.log_weights[f])
        elif rule.kind == STANDARD:
            spread = memory.moments[1, f]
            memory.weights[f] = np.exp(memory.log_weights[f]) * n / spread if spread > 0.0 else 0.0


@njit(nogil=True, cache=True)
def _predict(memory: Memory, rule: Rule, n: int, label: int, n_long: int, work: Work, found: Indices) -> None:
    """Set what the short-term memory, the long-term memory and both predict; ``work`` holds the nearest."""
    found[SHORT] = found[BOTH] = label
    found[LONG] = -1
    if n_long > 0:
        for j in range(n_long):
            work.voters[j] = memory.long_codes[work.long_at[j]]
        found[LONG] = vote(work.long_sq, work.voters, n_long, rule.squared_votes, work.votes)
        n_both = merged(
            work.sq, work.at, n, work.long_sq, work.long_at, n_long, rule.n_neighbors, work.both_sq, work.both_at
        )
        for j in range(n_both):
            place = work.both_at[j]
            work.voters[j] = memory.codes[place] if place >= 0 else memory.long_codes[-1 - place]
        found[BOTH] = vote(work.both_sq, work.voters, n_both, rule.squared_votes, work.votes)


@njit(nogil=True, cache=True)
def learn_cases(
    memory: Memory, rule: Rule, X: Array, codes: Indices, n_classes: int, begun: int, predictions: Indices
) -> int:
    """Predict and then learn the cases from ``begun`` on; return how many are done.

    Stops where a case needs room, and when the memories hold too much (then the state PENDING is set). Predictions are
    -1 before the first case.
    """
    k, state = rule.n_neighbors, memory.state
    work, found = _work(k, n_classes, len(memory.codes)), np.empty(3, dtype=np.int64)
    for i in range(begun, len(X)):
        x, code = X[i], codes[i]
        if not state[PENDING]:
            if state[END] - state[BASE] == len(memory.codes):
                return i
            n, label, newest_right, n_changes, hit, miss = _look_through(memory, rule, x, code, work)
            if state[N_CHANGES] + n_changes > len(memory.changes):
                return i
            n_long = nearest(
                memory.long_cases, 0, state[LONG_SIZE], x, memory.weights, k, work.long_sq, work.long_at, work.block
            )
            _predict(memory, rule, n, label, n_long, work, found)
            predictions[i] = found[chosen_memory(memory)]
            for kind in range(3):
                memory.memory_right[kind, state[END] - state[BASE]] = found[kind] == code
                memory.memory_n_right[kind] += found[kind] == code
            _append(memory, k, x, code, newest_right, n_changes, work.changed)
            memory.weights_before[:] = memory.weights
            if rule.kind != PLAIN:
                _learn_weights(memory, rule, x, hit, miss)
            _set_metric(memory, rule, x)
            move_windows(memory, rule)
            if state[END] - state[START] + state[LONG_SIZE] > rule.max_size:
                state[PENDING] = 1
                return i
        else:  # the memories are others now, and weights of cases moved already
            state[PENDING] = 0
            weights, first, last = memory.weights_before, state[START] - state[BASE], state[END] - state[BASE]
            n = nearest(memory.cases, first, last - 1, x, weights, k, work.sq, work.at, work.block)
            n_long = nearest(
                memory.long_cases, 0, state[LONG_SIZE], x, weights, k, work.long_sq, work.long_at, work.block
            )
        _clean_long(memory, rule, n, n_long, work)
        level = better_window(memory, rule)
        if level > 0:
            _shrink(memory, rule, level)
    return len(X)


@njit(nogil=True, cache=True)
def voters(memory: Memory, rule: Rule, X: Array, kind: int, first: int, sq: Array, at: Indices) -> None:
    """Find the k nearest cases of each row in a memory; places of the long-term memory are -1 - place."""
    k, state = rule.n_neighbors, memory.state
    begin, end = state[START] - state[BASE], state[END] - state[BASE]
    work = _work(k, 0, 0)
    for i in range(first, min(first + len(sq), len(X))):
        n_short = n_long = 0
        if kind != LONG:
            n_short = nearest(memory.cases, begin, end, X[i], memory.weights, k, work.sq, work.at, work.block)
        if kind != SHORT:
            n_long = nearest(
                memory.long_cases, 0, state[LONG_SIZE], X[i], memory.weights, k, work.long_sq, work.long_at, work.block
            )
        merged(work.sq, work.at - begin, n_short, work.long_sq, work.long_at, n_long, k, sq[i - first], at[i - first])
