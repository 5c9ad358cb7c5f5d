import json
import re

import numpy as np
import pytest
from numpy.testing import assert_allclose

from papers import plans
from papers.catalog import EXPERIMENTS, names_of
from papers.matches import _cached, matches_found, measures, rank_and_matches
from papers.outcome import Line, Measured, Outcome, outcome
from papers.plans import PAPERS, PUBLISHED, Plan, Published, load_plan
from papers.splits import OUTLIERS, Split, fold, load_arrays, spectra
from whynear.datasets import load


def line(ours, published=None, criterion=None, better="higher"):
    return Line("row", "column", published, None, ours, None, criterion, better, digits=3)


@pytest.mark.parametrize(
    ("better", "criterion", "ours", "met"),
    [
        ("higher", 0.90, 0.91, True),
        ("higher", 0.90, 0.90 - 1e-12, True),
        ("higher", 0.90, 0.89, False),
        ("lower", 0.18, 0.17, True),
        ("lower", 0.18, 0.19, False),
        ("higher", None, 0.5, None),
        ("higher", 0.9, None, None),
    ],
)
def test_a_criterion_is_met_if_ours_reaches_it(better, criterion, ours, met):
    assert line(ours, criterion=criterion, better=better).met is met


def test_equal_means_near_on_both_sides():
    assert line(12.0, published=12.0, criterion=0, better="equal").met
    assert not line(11.0, published=12.0, criterion=0.5, better="equal").met
    assert not line(13.0, published=12.0, criterion=0.5, better="equal").met


def plan_of(*published):
    return Plan("lann-table0", "title", "about", "set", 3, {}, published, None, ())


def test_our_values_are_combined_with_the_published_ones():
    known = Published("a", "x", 0.9, 0.01, 0.02, None, "higher", 2)
    absent = Published("b", "x", 0.5, None, 0.1, None, "lower", 2)
    found = outcome(plan_of(known, absent), {("a", "x"): Measured(0.87, 0.1), ("c", "x"): Measured(1.0)}, 3.0)
    assert found.name == "lann-table0"
    assert [(each.row, each.ours, each.published, each.criterion) for each in found.lines] == [
        ("a", 0.87, 0.9, pytest.approx(0.88)),
        ("b", None, 0.5, pytest.approx(0.6)),
        ("c", 1.0, None, None),
    ]
    assert found.lines[0].difference == pytest.approx(-0.03)
    assert [each.row for each in found.missed] == ["a"]


def test_an_outcome_survives_json():
    found = Outcome("lann-table0", (line(0.1, 0.2, 0.3), line(None)), 1.5)
    assert Outcome.from_dict(json.loads(json.dumps(found.to_dict()))) == found


def test_an_experiment_without_a_drawing_has_rows_and_columns_to_draw():
    plain = [name for name, make in EXPERIMENTS.items() if make().draw is None]
    assert plain == ["lann-table1-fifth", "lann-table1-tenfold"]
    assert all(EXPERIMENTS[name]().plan.published for name in plain)


def test_making_an_experiment_twice_gives_the_same_cells():
    for make in EXPERIMENTS.values():
        assert make().cells == make().cells


CASEBASE = {"cases": 300, "columns": 8, "queries": 10, "nearest": 20, "tolerances": [0.05, 0.2]}
LEARNING = {"n_triples": 300, "n_validation": 200, "n_restarts": 1, "max_iter": 20}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_measures_compare_equal_and_learned_weights():
    found = measures("iris", 0, queries=30, neighbors=5, mismatches=20, n_restarts=1, max_iter=20)
    assert all(set(values) == {"Euclidean", "Slider"} for values in found.values())
    assert {"1-NN accuracy, %", "5-NN accuracy, %", "rank among 10", "rank among 20"} <= set(found)
    assert 80 < found["1-NN accuracy, %"]["Euclidean"] <= 100
    assert found["matches in the whole base"]["Euclidean"] == found["matches in the whole base"]["Slider"]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_matches_grow_with_the_tolerance_up_to_the_existing_ones():
    found = matches_found(0, 2, CASEBASE, LEARNING)
    assert set(found) == {"equal weights", "equal weights, z-scores", "Slider", "existing matches"}
    for counts in found.values():
        assert counts[0] <= counts[1]
        assert np.all(counts <= found["existing matches"])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("method", ["equal weights", "Slider"])
def test_columns_can_be_scaled(method):
    learning = {} if method == "equal weights" else LEARNING
    raw, scaled = (rank_and_matches(0, method, columns, CASEBASE, learning) for columns in ("raw columns", "z-scores"))
    assert 1 <= scaled["rank among 100"] <= 101
    assert raw != scaled


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_similarities_of_a_query_are_computed_once():
    calls = []

    def similarity(i, others):
        calls.append(i)
        return np.asarray(others, dtype=float)

    cached = _cached(similarity)
    for _ in range(3):
        assert cached(1, np.array([0, 2])).tolist() == [0, 2]
    assert calls == [1]


@pytest.mark.parametrize(("protocol", "n_folds", "n_train"), [("fifth", 5, 30), ("tenfold", 10, 135)])
def test_folds_cover_all_rows(protocol, n_folds, n_train):
    folds = [fold("iris", protocol, number) for number in range(n_folds)]
    assert {len(data.X) for data in folds} == {n_train}
    assert {len(data.X_test) for data in folds} == {150 - n_train}
    rows = "X" if protocol == "fifth" else "X_test"
    assert sum(len(getattr(data, rows)) for data in folds) == 150


def test_folds_have_all_classes_and_z_scores_of_the_training_rows():
    data = fold("wine", "fifth", 0)
    assert set(data.y) == set(data.y_test) == {0, 1, 2}
    assert_allclose(data.X.mean(axis=0), 0, atol=1e-12)
    assert_allclose(data.X.std(axis=0), 1)
    assert abs(data.X_test.mean(axis=0)).max() > 1e-3


def test_both_parts_are_scaled_by_the_training_rows():
    data = Split(np.array([[0.0], [2.0]]), np.array([0, 1]), np.array([[3.0]]), np.array([1])).scaled()
    assert data.X.tolist() == [[-1.0], [1.0]]
    assert data.X_test.tolist() == [[2.0]]


def test_artificial_data_are_always_the_same():
    X, y = load_arrays("artificial")
    assert X.shape == (2000, 20)
    assert_allclose(X, load_arrays("artificial")[0])
    assert set(y) == {0, 1}


def test_test_spectra_are_used_for_training(real_data, monkeypatch):
    monkeypatch.setenv("WHYNEAR_DATA", str(real_data))
    data, whole = spectra("wine_spectra", None), load("wine_spectra")
    assert (len(data.X), len(data.X_test)) == (30, 91)
    assert len(data.X) == np.sum(whole.split == "test")
    assert len(data.X) + len(data.X_test) + len(OUTLIERS["wine_spectra"]) == len(whole.y)


def test_bins_have_equal_sizes_over_all_spectra(real_data, monkeypatch):
    monkeypatch.setenv("WHYNEAR_DATA", str(real_data))
    data = spectra("tecator", 3)
    sizes = np.bincount(np.concatenate([data.y, data.y_test]))
    assert len(sizes) == 3
    assert np.ptp(sizes) <= 2


def published(**content):
    return list(plans._published(content))


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_plan_has_its_texts(name):
    plan = load_plan(name)
    assert plan.paper in PAPERS
    assert plan.title
    assert plan.about.endswith((".", ")"))
    if plan.substitute is not None:
        assert plan.substitute.keys() == {"data", "reason", "instead"}
    assert not any("\n" in text for text in (plan.about, *plan.differences, *(plan.substitute or {}).values()))


def test_every_row_and_column_is_named_once():
    for name in EXPERIMENTS:
        places = [(known.row, known.column) for known in load_plan(name).published]
        assert len(set(places)) == len(places), name


def test_a_value_has_the_defaults_of_the_file():
    row = {"row": "wine", "published": {"LANN": [0.9, 0.02]}}
    assert published(values=[row], tolerance=0.01, digits=2, better="lower") == [
        Published("wine", "LANN", 0.9, 0.02, 0.01, None, "lower", 2)
    ]


def test_a_row_replaces_the_defaults():
    row = {"row": "wine", "published": {"LANN": [0.9]}, "bound": 0.5, "digits": 0}
    assert published(values=[row], tolerance=0.01, digits=2) == [
        Published("wine", "LANN", 0.9, None, 0.01, 0.5, "higher", 0)
    ]


def test_only_judged_columns_have_a_criterion():
    row = {"row": "wine", "published": {"kNN": [0.8], "LANN": [0.9]}}
    knn, lann = published(values=[row], tolerance=0.01, judged=["LANN"])
    assert (knn.tolerance, lann.tolerance) == (None, 0.01)


def test_the_published_deviation_can_be_the_tolerance():
    row = {"row": "wine", "published": {"Slider": [96, 1.7]}}
    (known,) = published(values=[row], tolerance="deviation")
    assert known.tolerance == 1.7


def test_unknown_keys_and_words_are_refused(monkeypatch):
    row = {"row": "wine", "published": {"LANN": [0.9]}}
    with pytest.raises(ValueError, match="'wine' has unknown keys: tolerence"):
        published(values=[row | {"tolerence": 0.01}])
    with pytest.raises(ValueError, match="better must be one of higher, lower, equal, got 'more'"):
        published(values=[row | {"better": "more"}])
    monkeypatch.setattr(plans.tomllib, "loads", lambda _text: {"title": "", "about": "", "stand_in": {}})
    with pytest.raises(ValueError, match=r"lann-fig1\.toml has unknown keys: stand_in"):
        load_plan.__wrapped__("lann-fig1")


PLANS = {path.stem for path in PUBLISHED.glob("*.toml")}


def test_every_plan_is_an_experiment_and_every_experiment_has_a_plan():
    assert {make().plan.name for make in EXPERIMENTS.values()} == PLANS == set(EXPERIMENTS)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_has_cells_with_different_names(name):
    cells = EXPERIMENTS[name]().cells
    assert cells
    assert all(cell.weight > 0 for cell in cells)
    assert len({cell.name for cell in cells}) == len(set(cells))


def test_a_name_stands_for_one_or_several():
    assert names_of("lann-fig1") == ["lann-fig1"]
    assert names_of("lann-table1") == ["lann-table1-fifth", "lann-table1-tenfold"]
    assert names_of("lann-table1", "tenfold") == ["lann-table1-tenfold"]
    assert names_of("all") == list(EXPERIMENTS)
    assert set(EXPERIMENTS) - set(names_of("all", "fifth")) == {"lann-table1-tenfold"}
    assert all(name.startswith("lann-") for name in names_of("lann"))


def test_an_unknown_name_or_protocol_is_refused():
    with pytest.raises(ValueError, match=re.escape("no table or figure 'lann-fig11'. Did you mean 'lann-fig1'?")):
        names_of("lann-fig11")
    for name in ("lann-fig1", "lann-table1-tenfold"):
        with pytest.raises(ValueError, match=f"{name} has no protocol 'fifth': leave out --protocol fifth"):
            names_of(name, "fifth")
