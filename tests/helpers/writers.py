"""What other processes do to a case base while a test looks on. Imported by a fork server, so kept small."""

import itertools
import time

import numpy as np

from whynear.cases import index
from whynear.cases.case_base import CaseBase
from whynear.metric import DiagonalMetric

METRIC = DiagonalMetric([1.0, 2.0, 3.0], ["round", "batch", "row"])


def batch(number, turn, size):
    """Cases and payloads with the number and the size of their batch."""
    X = np.column_stack([np.full(size, number), np.full(size, turn), np.arange(size)]).astype(float)
    return X, [{"batch": [number, turn], "size": size} for _ in range(size)]


def add_until_killed(path, number, acknowledged, metric=METRIC):
    """Add batch after batch and report each one that was acknowledged; the index file is written often."""
    index.FEWEST_CASES_KEPT = 200
    rng = np.random.default_rng(number)
    base = CaseBase(path, metric)
    for turn in itertools.count():
        X, payloads = batch(number, turn, int(rng.integers(1, 300)))
        ids = base.add(X, payloads)
        acknowledged.send((turn, ids.tolist()))
        if turn % 3 == 0:
            base.retrieve(X[0], k=5)


def add_batches(path, n_batches, size):
    with CaseBase(path) as base:
        for turn in range(n_batches):
            base.add(*batch(0, turn, size))
            time.sleep(0.01)


def hold_the_lock(path, seconds, ready):
    """Begin a change and dawdle."""
    base = CaseBase(path)
    with base._store.writing() as before:
        X, _ = batch(9, 9, 4)
        base._store.insert(before, X.astype(np.float32), [None] * 4)
        ready.send("holding")
        time.sleep(seconds)


def read_until_there(path, n_cases, size, answers):
    """Read every state until all cases are there; report the states and their faults."""
    seen, faults = set(), []
    with CaseBase(path) as base:
        answers.send("ready")
        while (n := len(base)) < n_cases:
            found = base.retrieve([0.0, 0.0, 0.0], k=10**6)
            seen.add(len(found))
            if len(found) % size or len(found) < n:
                faults.append(f"{len(found)} cases after {n}")
            counts = {}
            for payload in found.payloads:
                counts[payload["batch"][1]] = counts.get(payload["batch"][1], 0) + 1
            if set(counts.values()) - {size}:
                faults.append(f"half a batch: {counts}")
    answers.send((len(seen), faults))
