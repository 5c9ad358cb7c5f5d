import numpy as np
import pandas as pd
import pytest

from whynear.data.encoder import informative_gaps

RNG = np.random.default_rng(0)
ROWS = np.arange(120)


def table(gone):
    values = pd.DataFrame(RNG.random((120, 3)), columns=["told", "random", "whole"])
    values.loc[gone, "told"] = np.nan
    values.loc[RNG.choice(120, 40, replace=False), "random"] = np.nan
    return values


@pytest.mark.parametrize("n_classes", [2, 3])
def test_gaps_of_one_class_are_informative_and_random_ones_are_not(n_classes):
    y = np.array(["u", "v", "w"])[ROWS % n_classes]
    gone = (y == "u") & (ROWS % 4 != 3)
    assert informative_gaps(table(gone), y) == ["told"]


def test_gaps_of_large_numbers_are_informative():
    y = RNG.random(120)
    assert informative_gaps(table(y > 0.8), y) == ["told"]


def test_few_gaps_and_one_class_say_nothing():
    y = np.where(ROWS < 4, "u", "v")
    assert informative_gaps(table(ROWS < 4), y) == []
    assert informative_gaps(table(ROWS < 60), np.array(["u"] * 120)) == []


def test_chance_rarely_finds_one_among_many_columns():
    gone = RNG.random((120, 300)) < 0.3
    X = pd.DataFrame(np.where(gone, np.nan, 1.0)).add_prefix("x")
    assert informative_gaps(X, np.where(ROWS % 2, "u", "v")) == []
