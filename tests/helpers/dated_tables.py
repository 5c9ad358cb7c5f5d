"""A table with dates as people write them: the day of a visit, and the moment of a measurement."""

import re
from functools import cache

import numpy as np
import pandas as pd

import whynear as wn

FIRST, LAST = 18_628, 19_357  # the days of 2021 and 2022, since 1970-01-01
DATES = ("visit", "taken")
_DAYS = re.compile(r"(?<![\d.])1(?:8[6-9]|9[0-3])\d\d(?!\d)|1\.[89]\d*e\+04")


def visits(n: int = 60, seed: int = 0) -> pd.DataFrame:
    """Texts of dates, a number, a class that the date of the visit tells in part, and a value that it tells too."""
    rng = np.random.default_rng(seed)
    days = np.sort(rng.integers(FIRST, LAST, n))
    seconds = 86_400 * days + 60 * rng.integers(0, 24 * 60, n)
    visit = pd.Series(np.datetime64(0, "D") + days).dt.strftime("%d.%m.%Y")
    taken = pd.Series(np.datetime64(0, "s") + seconds).dt.strftime("%Y-%m-%d %H:%M")
    size = rng.standard_normal(n)
    late = (days - (FIRST + LAST) / 2) / 200 + 0.5 * size + 0.3 * rng.standard_normal(n)
    kind = np.where(late > 0, "late", "early")
    return pd.DataFrame({"visit": visit, "taken": taken, "size": size.round(3), "kind": kind, "dose": late.round(3)})


@cache
def visits_model(target: str = "kind") -> object:
    """The model of the classes by GRLVQ, or of the measured doses."""
    other = "dose" if target == "kind" else "kind"
    learner = {"learner": "grlvq"} if target == "kind" else {}
    return wn.learn_table(visits(), target, reading=wn.Reading(drop=other, date=DATES), **learner).model


def numbers_like_days(text: str) -> list[str]:
    """Return the numbers in a text that look like days of 2021 and 2022."""
    return _DAYS.findall(text)
