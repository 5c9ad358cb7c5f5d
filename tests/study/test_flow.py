from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import whynear as wn
from tests.helpers.studies import iris_study, part_of_study, rows_of_two_classes
from whynear import doors
from whynear.study.comparison import simplest_of_the_best
from whynear.testing import check_metric


@pytest.fixture(scope="module")
def iris():
    return load_iris(as_frame=True).frame[::3].reset_index(drop=True).assign(constant=3.0)


def test_the_metric_is_stated_in_the_columns_of_the_table(iris):
    study = iris_study()
    assert study.metric.feature_names == tuple(iris.columns.drop("target"))
    check_metric(study.metric, iris.drop(columns="target"))


def test_a_constant_column_is_a_caveat():
    assert any("'constant'" in caveat for caveat in iris_study().caveats)


@pytest.mark.slow
def test_a_column_without_any_value_shows_no_evidence(iris):
    study = wn.study(iris.assign(empty=np.nan), "target", learner="grlvq", splitting=wn.Splitting(folds=2))
    assert study.frame().set_index("feature")["verdict"]["empty"] == "no evidence"


@pytest.mark.slow
def test_small_classes_make_fewer_folds(iris):
    small = iris.iloc[[*range(34), 40, 41, 42]]
    study = wn.study(small, "target", learner="grlvq")
    assert len(study.accuracy) == 3
    assert any("has 3 rows, so 3 folds were made instead of 5" in caveat for caveat in study.caveats)
    with pytest.raises(ValueError, match="folds=1 leaves no rows"):
        wn.study(iris, "target", splitting=wn.Splitting(folds=1))


def test_a_table_in_which_nothing_changes_is_refused(iris):
    with pytest.raises(ValueError, match=r"all columns are constant: 'constant'. Add a column"):
        wn.study(iris[["constant", "target"]], "target")


ONE_ROW = np.eye(1, 40, 3).ravel()
NOISE = np.random.default_rng(0).random(40)
EQUAL_MEANS = np.repeat([0.0, 1.0], 20)
SCARCE = {
    "one row varies": rows_of_two_classes(40, a=ONE_ROW),
    "4 rows": rows_of_two_classes(4, a=NOISE[:4]),
    "pure": rows_of_two_classes(40, a=np.tile([0.0, 1.0], 20)),
    "pairs": pd.DataFrame({"a": NOISE, "b": NOISE[::-1], "y": [f"c{i // 2}" for i in range(40)]}),
    "dependent columns": pd.DataFrame(
        {f"x{i}": NOISE + i * NOISE[::-1] for i in range(9)} | {"y": [f"c{i // 5}" for i in range(40)]}
    ),
}
ALSO_SCARCE = {
    "in one fold only": rows_of_two_classes(40, a=ONE_ROW, b=NOISE),
    "6 rows": rows_of_two_classes(6, a=NOISE[:6], b=NOISE[6:12]),
    "equal means": rows_of_two_classes(40, a=EQUAL_MEANS),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "table",
    [
        *(pytest.param(table, id=name) for name, table in SCARCE.items()),
        *(pytest.param(table, id=name, marks=pytest.mark.slow) for name, table in ALSO_SCARCE.items()),
    ],
)
@pytest.mark.parametrize("learner", ["gmlvq", pytest.param("auto", marks=pytest.mark.slow)])
@pytest.mark.filterwarnings("error")
def test_scarce_data_are_studied_all_the_same(table, learner):
    study = wn.study(table, "y", learner=learner, splitting=wn.Splitting(folds=4))
    assert study.accuracy.notna().all(axis=None)
    assert len(study.frame()) == table.shape[1] - 1


def test_progress_is_written_to_stderr_on_request(iris, capsys):
    wn.study(iris, "target", learner="grlvq", splitting=wn.Splitting(folds=2), progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].endswith("read the table")
    assert any("compare learners, fold 2 of 2" in line for line in lines)
    assert lines[-1].startswith("100%")
    assert lines[-1].endswith("done")


LOCAL = [pytest.param(name, marks=pytest.mark.slow) for name in ("lgmlvq", "lgrlvq", "lann")]  # drawn by UMAP


@pytest.mark.slow
@pytest.mark.parametrize("name", ["grlvq", "lmnn", *LOCAL])
@pytest.mark.usefixtures("blank_figures")
def test_any_learner_of_the_library_can_be_chosen_by_name(name, iris, tmp_path):
    study = wn.study(iris, "target", learner=name, splitting=wn.Splitting(folds=3))
    assert study.accuracy.columns[0] == study.comparison.chosen == study.settings["learner"] == name
    assert (study.accuracy.drop(columns="boosting").mean() > 0.9).all()  # which needs more rows
    assert study.findings.sentences[-1].startswith(f"{name.upper()} predicts")
    is_local = isinstance(study.metric, wn.LocalMetric)
    with pytest.warns(UserWarning, match="anchors of a local metric") if is_local else nullcontext():
        written = study.save(tmp_path)
    assert study.finding().split(". ")[0] in written[-1].read_text()


@pytest.mark.slow
def test_the_simplest_of_learners_near_the_best_is_chosen(iris):
    study = wn.study(iris, "target", splitting=wn.Splitting(folds=2))
    learners = ["grlvq", "gmlvq", "lmnn", "rfm", "lgmlvq", "lann"]
    yardsticks = ["random forest", "boosting", "logistic regression"]
    assert list(study.accuracy.columns) == [*learners, "plain kNN", "NCA with kNN", *yardsticks]
    assert study.comparison.chosen == simplest_of_the_best(study.accuracy[learners])
    assert set(study.comparison.predictions["by"]) <= set(learners)
    assert "the simplest of 6 learners near the best" in study.finding()


@pytest.mark.slow
def test_features_and_target_give_the_study_of_their_table(iris):
    X, y = iris.drop(columns="target"), iris["target"]
    expected = wn.study(iris, "target", learner="grlvq", splitting=wn.Splitting(folds=2))
    assert wn.study(X, y, learner="grlvq", splitting=wn.Splitting(folds=2)).to_dict() == expected.to_dict()
    study = wn.study(X.to_numpy(), y.to_numpy(), learner="grlvq", splitting=wn.Splitting(folds=2))
    assert study.metric.feature_names == ("x0", "x1", "x2", "x3", "x4")
    assert study.accuracy.equals(expected.accuracy)


def test_an_array_without_the_values_of_a_target_is_refused(iris):
    with pytest.raises(TypeError, match=r"or give a study the values of its target: wn.study\(X, y\)"):
        wn.study(iris.to_numpy(), "target")


# What the stages of a study do with the rows of its problem.


def test_a_long_table_is_sampled_and_says_so(monkeypatch):
    monkeypatch.setattr(doors, "COMPARED_ROWS", 100)
    y = np.arange(5000) % 2
    study = wn.study(
        pd.DataFrame({"a": y + np.random.default_rng(0).random(5000), "y": y}),
        "y",
        learner="grlvq",
        splitting=wn.Splitting(folds=2),
    )
    assert any("Of 5,000 rows, a random 100 were used" in caveat for caveat in study.caveats)


def test_one_row_more_than_can_be_compared_is_no_difficulty(monkeypatch):
    monkeypatch.setattr(doors, "COMPARED_ROWS", 60)
    table = pd.DataFrame({"a": np.random.default_rng(0).random(61), "y": np.arange(61) % 2})
    comparison = part_of_study("comparison", table, "y", learner="grlvq", splitting=wn.Splitting(folds=2))
    assert len(comparison.predictions) == 60


def test_more_classes_than_can_be_compared_are_refused(monkeypatch):
    monkeypatch.setattr(doors, "COMPARED_ROWS", 60)
    table = pd.DataFrame({"a": np.arange(62) / 3, "y": [f"c{i % 31}" for i in range(62)]})
    with pytest.raises(ValueError, match=r"'y' has 31 classes, .* the 60 rows .* Merge"):
        wn.study(table, "y")


def test_the_time_left_is_said_for_each_learner_and_the_share_grows_from_zero_to_one():
    said, shares = [], []
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.random(60), "b": rng.random(60), "y": np.arange(60) % 2})

    def report(step, share):
        said.append(step)
        shares.append(share)

    wn.study(table, "y", learner="gmlvq", splitting=wn.Splitting(folds=2), progress=report)
    fits = [step for step in said if "left for this step" in step]
    assert [step.partition(", about")[0] for step in fits] == [
        f"compare learners, fold {fold} of 2: {method}"
        for fold in (1, 2)
        for method in ("random forest", "boosting", "NCA with kNN", "GMLVQ", "plain kNN", "logistic regression")
    ]
    assert (shares[0], shares[-1]) == (0, 1)
    assert shares == sorted(shares)
