"""Kills of a process that adds cases to a case base, and keeps its index in a file.

The processes are forked from this one, which has searched before, so that nothing is imported or compiled again.
"""

import multiprocessing
import random
import time
from collections import Counter

import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline

from tests.endurance.kills.processes import Victim, kill_at_operation
from tests.helpers.writers import METRIC, add_until_killed, batch
from whynear import GRLVQ, TableEncoder
from whynear.cases.case_base import CaseBase

KILLS_PER_BASE = 25  # then a new one, so that reading all of it stays short
MOST_OPERATIONS = 40  # on files before a kill
MOST_BATCHES = 6
LONGEST_WAIT = 0.05  # seconds after the last batch that was waited for


def run(folder, count, seed):
    """Kill writers at random moments; after each kill every acknowledged batch is there, and whole.

    A third of the kills are aimed at an operation on a file, most of which write the index. Every other base has an
    encoder.
    """
    model = encoding_model()
    with CaseBase(folder / "other base", model) as base:
        X, payloads = batch(0, 0, 300)
        base.add(X, payloads)
        base.retrieve(X[0], k=5)
    context, rng = multiprocessing.get_context("fork"), random.Random(seed)
    acknowledged, promised = 0, {}
    for number in range(count):
        if number % KILLS_PER_BASE == 0:
            promised = {}
        path = folder / f"base {number // KILLS_PER_BASE}"
        metric = model if number // KILLS_PER_BASE % 2 else METRIC
        for turn, ids in killed(context, path, number, rng, metric):
            promised |= {case: [number, turn] for case in ids}
            acknowledged += 1
        if path.exists() and promised:
            check(path, promised)
    return f"{count} kills, {acknowledged} acknowledged batches: all there, none halved"


def encoding_model():
    """A model whose encoder fills in missing values."""
    X = pd.DataFrame(np.random.default_rng(0).standard_normal((20, 3)), columns=METRIC.feature_names)
    return make_pipeline(TableEncoder(impute="median"), GRLVQ(random_state=0)).fit(X, X["row"] > 0)


def killed(context, path, number, rng, metric):
    """Kill a writer; return what it acknowledged."""
    operation = rng.randint(1, MOST_OPERATIONS) if rng.random() < 1 / 3 else None
    victim = Victim(context, add_and_be_killed, path, number, operation, metric)
    heard = []
    for _ in range(rng.randint(0, MOST_BATCHES) if operation is None else 10**6):
        if (report := victim.heard()) is None:
            break
        heard.append(report)
    if operation is None:
        time.sleep(rng.uniform(0, LONGEST_WAIT))
    return heard + victim.kill()


def add_and_be_killed(path, number, operation, metric, acknowledged):
    kill_at_operation(path.parent, operation)
    add_until_killed(path, number, acknowledged, metric)


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
