import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

import whynear as wn
from tests.helpers.measured_tables import houses, model_of_houses
from whynear.explain.picture import write_picture

mpl.use("agg")

FORMULA = "price $\\frac{$"  # no formula: reading it as one fails


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def wide(n_features=30):
    X = pd.DataFrame(np.random.default_rng(0).standard_normal((60, n_features)))
    X.columns = [FORMULA, *(f"f{j}" for j in range(1, n_features))]
    x = X.iloc[[0]].assign(**{FORMULA: 3.0})
    return wn.explain(wn.MinimumNormRegressor().fit(X, X @ np.linspace(-2, 1, n_features)), x)


def test_bars_are_signed_named_with_their_values_and_sum_to_the_prediction():
    why = wn.explain(model_of_houses(), houses()[0].iloc[[3]])
    ax = why.plot()
    assert sum(bar.get_width() for bar in ax.patches) == pytest.approx(why.contributions.sum())
    labels = [tick.get_text() for tick in ax.get_yticklabels()]
    assert any(label.startswith("size = ") and "(mean " in label for label in labels)
    assert any(label.startswith("age = missing (mean ") for label in labels)
    assert f"town = {why.values['town']}" in labels  # categories have no mean
    assert ax.get_title(loc="left").startswith(f"predicted {why.prediction:.4g}: the mean")
    for bar in ax.patches:  # in grey print too
        assert (bar.get_hatch() is not None) == (bar.get_width() < 0)


def test_small_contributions_are_summed():
    why = wide()
    ax = why.plot(most=5)
    assert [tick.get_text() for tick in ax.get_yticklabels()][-1] == "25 other features"
    assert sum(bar.get_width() for bar in ax.patches) == pytest.approx(why.contributions.sum())


def test_the_heat_map_shows_this_case_and_its_rows():
    why = wn.explain(model_of_houses(), houses()[0].iloc[[5]])
    ax = why.plot_neighbors()
    names = [tick.get_text() for tick in ax.get_xticklabels()]
    first = why.neighbors.iloc[0]
    assert names[:2] == ["this case", f"{first['row']}\n{first['measured']:.4g}"]
    assert len(names) == 6


@pytest.mark.parametrize("draw", ["plot", "plot_neighbors"])
def test_names_are_no_formulas(draw, tmp_path):
    ax = getattr(wide(), draw)()
    ax.figure.savefig(tmp_path / "a.png")
    assert any(FORMULA in tick.get_text() for tick in ax.get_yticklabels())


def test_it_is_written_as_a_file(tmp_path):
    write_picture(wide(), tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
