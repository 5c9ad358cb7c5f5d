"""Files of case bases: a changed byte is refused, or nothing that was stored is another."""

import numpy as np
import pandas as pd

from tests.endurance.fuzz.mutators import mutated
from tests.helpers.case_bases import METRIC
from tests.helpers.mixed_tables import model_of_patients, patients
from whynear.cases.case_base import CaseBase


def content(path, query):
    """Everything that a base answers with."""
    with CaseBase(path, timeout=0.1) as base:
        n_cases = base.check()
        blocks = list(base.blocks())
        cases = [(block.X.to_numpy().tolist(), block.ids.tolist(), block.payloads, block.rows) for block in blocks]
        found = base.retrieve(query, k=9, explain=True)
        found = found.frame().to_dict("list"), found.contributions.to_dict()
        return n_cases, cases, base.columns, base.metric.fingerprint, found, base.id_of("row 9"), base.generation


def case_base(folder):
    """Changed files of case bases, whose log is empty."""
    path, rng = folder / "good", np.random.default_rng(3)
    with CaseBase(path, METRIC) as base:
        X = pd.DataFrame(rng.standard_normal((120, 2)), columns=["a", "b"], index=[f"row {n}" for n in range(120)])
        base.add(X, [{"text": "payload of a case " * (n % 5), "n": n} for n in range(120)])
        base.add(rng.standard_normal((30, 2)))
        base.remove([7, 131])
    return trial_of(folder, path, [0.5, -0.5])


def encoded_case_base(folder):
    """The same with an encoder of categories, dates and missing values."""
    path, X = folder / "good", patients()[0]
    with CaseBase(path, model_of_patients()) as base:
        base.add(X.set_axis([f"row {n}" for n in range(len(X))]), [{"n": n} for n in range(len(X))])
    return trial_of(folder, path, X.iloc[[3]])


def trial_of(folder, path, query):
    """Changed files are refused, or answer as the good one."""
    expected = content(path, query)
    good = path.read_bytes()

    def trial(rng):
        for old in folder.glob("mutant*"):
            old.unlink()
        mutant = folder / "mutant"
        mutant.write_bytes(mutated(good, rng))
        assert content(mutant, query) == expected, "other content"
        return "accepted"

    return trial


READERS = {"case-base": case_base, "encoded-case-base": encoded_case_base}
