import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose
from sklearn.decomposition import PCA

import whynear as wn
from whynear.reproduce import EXPERIMENTS
from whynear.reproduce.cells import Cell, run_cell
from whynear.reproduce.data import Split
from whynear.reproduce.outcome import outcome
from whynear.reproduce.strickert.cells import alignment, descriptors, error, squared_error, swept
from whynear.reproduce.strickert.drawing import Sweep
from whynear.reproduce.strickert.figures import peaks, roughness

NAMES = [f"strickert-fig{number}" for number in range(1, 9)]


@pytest.fixture(scope="module")
def found(real_data):
    """Results of cells, each made once; two starts or splits of one set stand for all."""
    known = {}

    def of(cell: Cell):
        first = (
            Cell(cell.work, {**cell.arguments, "seed": cell.arguments["seed"] % 2})
            if "seed" in cell.arguments
            else cell
        )
        if first.arguments["dataset"] == "hia_hou_mordred":  # which takes longer
            first = Cell(first.work, {**first.arguments, "dataset": "pac_retention"})
        if first not in known:
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("WHYNEAR_DATA", str(real_data))
                known[first] = run_cell(first).result
        return known[first]

    return of


def of(name, found):
    experiment = EXPERIMENTS[name]()
    lines = outcome(experiment.plan, experiment.measure(found), 0.0).lines
    return {line.row: line for line in lines}


@pytest.mark.parametrize("name", NAMES)
def test_what_is_published_is_measured_and_nothing_else(name, found):
    experiment = EXPERIMENTS[name]()
    assert experiment.measure(found).keys() == {(known.row, known.column) for known in experiment.plan.published}


@pytest.mark.parametrize("name", NAMES)
def test_figures_are_drawn(name, found, real_data, monkeypatch):
    monkeypatch.setenv("WHYNEAR_DATA", str(real_data))
    experiment, figure = EXPERIMENTS[name](), Figure(layout="constrained")
    experiment.draw(figure, found)
    figure.draw_without_rendering()
    assert figure.axes
    assert all(ax.has_data() for ax in figure.axes)


def test_spectra_are_drawn_as_pixels(found, real_data, monkeypatch):
    monkeypatch.setenv("WHYNEAR_DATA", str(real_data))
    figure = Figure()
    EXPERIMENTS["strickert-fig1"]().draw(figure, found)
    ax = figure.axes[0]
    assert ax.collections
    assert ax.lines
    assert all(drawn.get_rasterized() for drawn in (*ax.collections, *ax.lines))


def test_cells_hold_no_spectra(found, real_data):
    spectrum = wn.datasets.load("wine_spectra", real_data).X.to_numpy()[:, 100]
    for cell in (EXPERIMENTS[name]().cells[0] for name in NAMES[:3] + NAMES[4:7]):
        numbers = np.array(list(_numbers(found(cell))))
        assert np.isin(spectrum, numbers).mean() < 0.05


def _numbers(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from _numbers(each)
    elif value is not None:
        yield float(value)


@pytest.mark.parametrize("name", ["strickert-fig1", "strickert-fig2", "strickert-fig3"])
def test_the_papers_numbers_hold(name, found):
    judged = [line for line in of(name, found).values() if line.met is not None]
    assert len(judged) >= 2
    assert all(line.met for line in judged)


def test_best_correlation_is_the_papers(found):
    lines = of("strickert-fig2", found)
    assert lines["K with the highest test correlation"].ours == 12
    assert round(lines["test correlation at this K"].ours, 4) == 0.9954
    assert lines["first K from which the test correlation stays above 0.95"].ours == 5
    whole, inside = (
        lines[f"test correlation{row}"].ours for row in (", not regularized", " with all directions of the data")
    )
    assert 0.95 < whole < inside


def test_norms_are_the_papers(found):
    lines = of("strickert-fig3", found)
    assert [round(line.ours, 1) for line in lines.values()] == [7132.8, 758.0]


def test_figures_of_one_model_share_its_cells():
    cells = [set(EXPERIMENTS[name]().cells) for name in NAMES[4:7]]
    assert cells[0] == cells[1] == cells[2]
    assert len(cells[0]) == EXPERIMENTS["strickert-fig6"]().plan.settings["n_starts"]


def test_ranks_are_split_as_asked(real_data, monkeypatch):
    monkeypatch.setenv("WHYNEAR_DATA", str(real_data))
    data = descriptors("pac_retention", seed=3, share=0.75, n_bins=2)
    assert (len(data.X), len(data.X_test)) == (156, 53)
    assert_allclose(data.X.mean(axis=0), 0, atol=1e-9)
    together = np.concatenate([data.y, data.y_test])
    assert np.bincount(together).tolist() == [104, 105]
    whole = np.vstack([data.X, data.X_test])
    doubled = 2 * (whole - whole.min(axis=0))  # equal values share a rank that may be a half
    assert_allclose(doubled, doubled.round(), atol=1e-9)
    other = descriptors("pac_retention", seed=4, share=0.75, n_bins=None)
    assert np.unique(other.y).size > 2


def test_a_sweep_is_prediction_from_principal_components():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 6)), rng.standard_normal(20)
    data = Split(X[:12], y[:12], X[12:], y[12:])
    curve = swept(wn.MinimumNormRegressor().fit(data.X, data.y), data, squared_error)
    assert len(curve["test"]) == 7
    for kept in (1, 3):
        pca = PCA(kept).fit(data.X)
        model = wn.MinimumNormRegressor().fit(pca.transform(data.X), data.y)
        assert curve["test"][kept - 1] == pytest.approx(
            squared_error(model.predict(pca.transform(data.X_test)), data.y_test)
        )
    assert curve["train"][-2] == pytest.approx(curve["train"][-1])


def test_means_go_as_far_as_all_runs_do():
    curve = Sweep.of([{"train": [1, 2, 3], "test": [4, 2, 6]}, {"train": [3, 4, 5, 7], "test": [2, 0, 9, 8]}])
    assert curve.most == 2
    assert curve.test.tolist() == [3, 1]
    assert curve.train.tolist() == [2, 3]
    assert (curve.train_whole, curve.test_whole) == (5, 7)
    assert (curve.best(lowest=True), curve.best(lowest=False)) == (2, 1)
    assert (curve.test_at(1), curve.spread_at(1), curve.spread_whole) == (3, 1, 1)


def test_measures_of_maps():
    assert alignment(np.array([[0.0, 0], [1, 1], [2, 2]])) == pytest.approx(1)
    assert alignment(np.array([[1.0, 0], [0, 1], [-1, 0], [0, -1]])) == pytest.approx(0.5)
    assert roughness(np.ones(5)) == 0
    assert roughness(np.array([1.0, 0, 1, 0])) == pytest.approx(1.5)
    assert peaks(np.array([0.0, 2, 1, 5, 0, 3, 4, 1])) == [4, 7]
    assert error(np.array([1, 2]), np.array([1, 1])) == 0.5
