"""Kills of a process that adds cases to a case base."""

import time
from collections import Counter

import numpy as np

from tests.kills import work
from tests.kills.processes import Victim, fork_server
from whynear.cases.case_base import CaseBase

KILLS_PER_BASE = 25  # then a new one, so that reading all of it stays short


def run(folder, count, seed):
    """Kill writers at random moments; after each kill every acknowledged batch is there, and whole."""
    context, rng = fork_server(), np.random.default_rng(seed)
    acknowledged, promised = 0, {}
    for number in range(count):
        if number % KILLS_PER_BASE == 0:
            promised = {}
        path = folder / f"base {number // KILLS_PER_BASE}"
        victim = Victim(context, work.add_until_killed, path, number)
        first = victim.heard() if rng.random() < 0.8 else None  # the others may be killed while they open the file
        time.sleep(rng.uniform(0, 0.1))
        for turn, ids in [*([first] if first else []), *victim.kill()]:
            promised |= {case: [number, turn] for case in ids}
            acknowledged += 1
        if path.exists() and promised:
            check(path, promised)
    return f"{count} kills, {acknowledged} acknowledged batches: all there, none halved"


def check(path, promised):
    """Everything that was acknowledged is there, no batch is halved, and every checksum is right."""
    with CaseBase(path) as base:
        assert base.check() == len(base)
        blocks = list(base.blocks())
        kept = {
            case: payload["batch"] for block in blocks for case, payload in zip(block.ids, block.payloads, strict=True)
        }
        assert promised.items() <= kept.items(), "an acknowledged case is lost"
        sizes = Counter(tuple(payload["batch"]) for block in blocks for payload in block.payloads)
        for block in blocks:
            assert all(sizes[tuple(payload["batch"])] == payload["size"] for payload in block.payloads), "half a batch"
