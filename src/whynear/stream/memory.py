"""The memories of a stream, and how the long one is compressed."""

from typing import Any, Literal, NamedTuple

import numpy as np

from whynear.stream import kernels
from whynear.stream.kernels import BASE, END, LONG_SIZE, N_CHANGES, N_LEVELS, PENDING, START, Memory, Rule
from whynear.utils.arrays import Array, Flags, Indices
from whynear.utils.compiling import njit


@njit(nogil=True, cache=True)
def pairs_joined(cases: Array, weights: Array, n_left: int) -> Flags:
    """Join cases of one class to their nearest neighbours, the nearest pairs first, until ``n_left`` remain.

    Each pass finds the nearest neighbour of every case and joins the pairs of which neither was joined in this pass. A
    pair becomes its mean, at the place of the later case. Changes ``cases``, of shape (n_features, n); returns which
    places remain. Time O(n^2 d) for a pass, few passes.
    """
    d, n = cases.shape
    remains = np.ones(n, dtype=np.bool_)
    count = n
    while count > n_left:
        at = np.flatnonzero(remains)
        sq, neighbour = np.full(len(at), np.inf), np.zeros(len(at), dtype=np.int64)
        row = np.empty(len(at))
        left = np.empty((d, len(at)))
        for f in range(d):
            for i in range(len(at)):
                left[f, i] = cases[f, at[i]]
        for i in range(1, len(at)):
            row[:i] = 0.0
            for f in range(d):
                weight, value = weights[f], left[f, i]
                for j in range(i):
                    difference = left[f, j] - value
                    row[j] += weight * difference * difference
            for j in range(i):
                if row[j] < sq[i]:
                    sq[i], neighbour[i] = row[j], j
                if row[j] < sq[j]:
                    sq[j], neighbour[j] = row[j], i
        joined = np.zeros(len(at), dtype=np.bool_)
        for i in np.argsort(sq, kind="mergesort"):
            j = neighbour[i]
            if joined[i] or joined[j]:
                continue
            joined[i] = joined[j] = True
            later, earlier = max(i, j), min(i, j)
            cases[:, at[later]] = (cases[:, at[later]] + cases[:, at[earlier]]) / 2
            remains[at[earlier]] = False
            count -= 1
            if count == n_left:
                break
    return remains


@njit(nogil=True, cache=True)
def k_means(cases: Array, weights: Array, centres: Array, most_passes: int) -> None:
    """Move centres, of shape (n_features, n_centres), to the means of the cases nearest to them, until none moves.

    Time O(n n_centres d) for a pass. A centre to which no case is nearest stays.
    """
    d, n = cases.shape
    m = centres.shape[1]
    row, nearest = np.empty(m), np.full(n, -1)
    for _ in range(most_passes):
        moved = False
        for i in range(n):
            row[:] = 0.0
            for f in range(d):
                weight, value = weights[f], cases[f, i]
                for j in range(m):
                    difference = centres[f, j] - value
                    row[j] += weight * difference * difference
            best = np.argmin(row)
            if best != nearest[i]:
                nearest[i], moved = best, True
        if not moved:
            return
        counts = np.zeros(m)
        sums = np.zeros((d, m))
        for i in range(n):
            counts[nearest[i]] += 1.0
            for f in range(d):
                sums[f, nearest[i]] += cases[f, i]
        for j in range(m):
            if counts[j] > 0.0:
                for f in range(d):
                    centres[f, j] = sums[f, j] / counts[j]


LEAST_ROOM = 512  # cases
CHANGES_PER_CASE = 4  # room for changes at first
MOST_PASSES = 100  # of k-means
# Of `Memory`: arrays whose last axis is one of cases, in the short-term and in the long-term memory.
SHORT_ARRAYS = ("cases", "codes", "right", "listed", "memory_right")
LONG_ARRAYS = ("long_cases", "long_codes", "long_numbers")


class Compression(NamedTuple):
    """How the long-term memory is halved: by pairs, or by k-means from centres drawn with a seed."""

    method: Literal["pairs", "k-means"]
    seed: int


def new_memory(n_features: int, rule: Rule) -> Memory:
    """Return a memory without cases."""
    n_rows = 2 * n_features if rule.case_weights else n_features
    n_slots = 1 + max(0, int(np.log2(rule.max_size / rule.min_size))) + 1
    weights = np.ones(n_features) if rule.kind != kernels.STANDARD else np.zeros(n_features)
    state = np.zeros(kernels.N_STATE, dtype=np.int64)
    state[N_LEVELS] = 1
    return Memory(
        state=state,
        cases=np.zeros((n_rows, 0)),
        codes=np.zeros(0, dtype=np.int32),
        right=np.zeros((n_slots, 0), dtype=np.uint8),
        listed=np.zeros(0, dtype=np.int32),
        changes=np.zeros((0, 2), dtype=np.int32),
        starts=np.zeros(n_slots, dtype=np.int64),
        n_right=np.zeros(n_slots, dtype=np.int64),
        memory_right=np.zeros((3, 0), dtype=np.uint8),
        memory_n_right=np.zeros(3, dtype=np.int64),
        long_cases=np.zeros((n_rows, 0)),
        long_codes=np.zeros(0, dtype=np.int32),
        long_numbers=np.zeros(0, dtype=np.int64),
        weights=weights,
        weights_before=weights.copy(),
        log_weights=np.zeros(n_features),
        moments=np.zeros((2, n_features)),
    )


def with_room(memory: Memory, rule: Rule) -> Memory:
    """Return the memory with room for more cases and changes, at least as many as it holds; takes over its arrays."""
    state = memory.state
    first, last = (int(state[name] - state[BASE]) for name in (START, END))
    short, long, old = last - first, int(state[LONG_SIZE]), _changes_before(memory, first)
    room = max(len(memory.codes), _room(max(LEAST_ROOM, 2 * short)))
    new = {name: _moved(getattr(memory, name), first, last, room) for name in SHORT_ARRAYS}
    changes = _moved_changes(memory, first, old)
    new["listed"][:short] = np.maximum(new["listed"][:short] - old, -1)
    change_room = max(len(memory.changes), 2 * len(changes) + short, CHANGES_PER_CASE * room)
    new["changes"] = np.empty((change_room, 2), dtype=np.int32)
    new["changes"][: len(changes)] = changes
    if memory.long_cases.shape[1] < (needed := min(rule.max_size + 1, long + room)):  # they grow together
        long_room = min(rule.max_size + 1, _room(2 * needed))
        new |= {name: _moved(getattr(memory, name), 0, long, long_room) for name in LONG_ARRAYS}
    state[BASE], state[N_CHANGES] = state[START], len(changes)
    return memory._replace(**new)


def tight(memory: Memory) -> Memory:
    """Return a copy of the memory without room for more."""
    state = memory.state.copy()
    first, last, long = int(state[START] - state[BASE]), int(state[END] - state[BASE]), int(state[LONG_SIZE])
    old = _changes_before(memory, first)
    new: dict[str, Any] = {name: getattr(memory, name)[..., first:last].copy() for name in SHORT_ARRAYS}
    new |= {name: getattr(memory, name)[..., :long].copy() for name in LONG_ARRAYS}
    new["listed"] = np.maximum(new["listed"] - old, -1).astype(np.int32)
    new["changes"] = _moved_changes(memory, first, old)
    state[BASE], state[N_CHANGES] = state[START], len(new["changes"])
    return memory._replace(state=state, **new)


def _room(n: int) -> int:
    """Return at least n places, an odd number of cache lines, so that rows of a feature do not share their places."""
    return n // 16 * 16 + 24


def _moved(array: Any, first: int, last: int, room: int) -> Any:
    """Return an array with ``room`` places that begins with those from first to last."""
    moved = array if array.shape[-1] == room else np.zeros((*array.shape[:-1], room), dtype=array.dtype)
    moved[..., : last - first] = array[..., first:last]
    return moved


def _changes_before(memory: Memory, first: int) -> int:
    """Return the number of changes of cases before a place; changes are in the order of their cases."""
    return int(np.searchsorted(memory.changes[: memory.state[N_CHANGES], 0], first))


def _moved_changes(memory: Memory, first: int, old: int) -> Indices:
    """Return the changes after the first ``old`` ones, for cases whose places begin at ``first``."""
    changes = memory.changes[old : memory.state[N_CHANGES]] - np.array([first, old], dtype=np.int32)
    return np.maximum(changes, -1)


def learn(
    memory: Memory, rule: Rule, compression: Compression, X: Array, codes: Indices, n_classes: int, predictions: Indices
) -> Memory:
    """Predict and then learn cases, one after the other; sets ``predictions`` to classes, or -1 before the first."""
    done = 0
    while done < len(X):
        done = kernels.learn_cases(memory, rule, X, codes, n_classes, done, predictions)
        if memory.state[PENDING]:
            _make_smaller(memory, rule, compression)
        elif done < len(X):
            memory = with_room(memory, rule)
    return memory


def _make_smaller(memory: Memory, rule: Rule, compression: Compression) -> None:
    """Halve the long-term memory; if it is not full, the oldest cases of the short-term memory move there first."""
    state = memory.state
    if (n_moved := rule.max_long - int(state[LONG_SIZE]) + 1) > 0:
        first = int(state[START] - state[BASE])
        _to_long(memory, np.arange(first, first + n_moved))
        kernels.forget_oldest(memory, n_moved)
        kernels.move_windows(memory, rule)
    _compress(memory, compression)
    surplus = int(state[END] - state[START] + state[LONG_SIZE]) - rule.max_size
    if surplus > 0:  # classes of single cases cannot be halved
        _keep_long(memory, np.arange(surplus, int(state[LONG_SIZE])))


def _to_long(memory: Memory, places: Indices) -> None:
    state, begin = memory.state, int(memory.state[LONG_SIZE])
    end = begin + len(places)
    memory.long_cases[:, begin:end] = memory.cases[:, places]
    memory.long_codes[begin:end] = memory.codes[places]
    memory.long_numbers[begin:end] = places + state[BASE]
    state[LONG_SIZE] = end


def _compress(memory: Memory, compression: Compression) -> None:
    """Halve the cases of each class in the long-term memory, by the shared weights; their order stays.

    Weights of each case are joined as its values are: to their mean.
    """
    size = int(memory.state[LONG_SIZE])
    codes = memory.long_codes[:size]
    remains = np.zeros(size, dtype=np.bool_)
    weights = np.zeros(len(memory.long_cases))
    weights[: len(memory.weights)] = memory.weights
    for code in np.unique(codes):
        places = np.flatnonzero(codes == code)
        cases, n_left = np.ascontiguousarray(memory.long_cases[:, places]), (len(places) + 1) // 2
        if compression.method == "pairs":
            remains[places] = pairs_joined(cases, weights, n_left)
        else:
            rng = np.random.default_rng([compression.seed, int(memory.state[END]), int(code)])
            drawn = np.sort(rng.choice(len(places), n_left, replace=False))
            centres = cases[:, drawn].copy()
            k_means(cases, weights, centres, MOST_PASSES)
            cases[:, drawn] = centres
            remains[places[drawn]] = True
        memory.long_cases[:, places] = cases
    _keep_long(memory, np.flatnonzero(remains))


def _keep_long(memory: Memory, places: Indices) -> None:
    n = len(places)
    memory.long_cases[:, :n] = memory.long_cases[:, places]
    memory.long_codes[:n], memory.long_numbers[:n] = memory.long_codes[places], memory.long_numbers[places]
    memory.state[LONG_SIZE] = n
