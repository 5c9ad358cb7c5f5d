"""Files of case bases: a changed byte is refused, or nothing that was stored is another."""

import numpy as np
import pandas as pd

from tests.fuzz.mutators import mutated
from tests.helpers.case_bases import METRIC
from whynear.cases.case_base import CaseBase


def content(path):
    """Everything that a base answers with."""
    with CaseBase(path, timeout=0.1) as base:
        n_cases = base.check()
        blocks = list(base.blocks())
        cases = [(block.X.to_numpy().tolist(), block.ids.tolist(), block.payloads, block.rows) for block in blocks]
        found = base.retrieve([0.5, -0.5], k=9, explain=True).frame().to_dict("list")
        return n_cases, cases, base.columns, base.metric.fingerprint, found, base.id_of("row 9"), base.generation


def case_base(folder):
    """Changed files of case bases, whose log is empty."""
    path, rng = folder / "good", np.random.default_rng(3)
    with CaseBase(path, METRIC) as base:
        X = pd.DataFrame(rng.standard_normal((120, 2)), columns=["a", "b"], index=[f"row {n}" for n in range(120)])
        base.add(X, [{"text": "payload of a case " * (n % 5), "n": n} for n in range(120)])
        base.add(rng.standard_normal((30, 2)))
        base.remove([7, 131])
    expected = content(path)
    good = path.read_bytes()

    def trial(rng):
        for old in folder.glob("mutant*"):
            old.unlink()
        mutant = folder / "mutant"
        mutant.write_bytes(mutated(good, rng))
        assert content(mutant) == expected, "other content"
        return "accepted"

    return trial


READERS = {"case-base": case_base}
