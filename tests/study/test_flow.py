import json
import pickle
import re
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris

import whynear as wn
from whynear.report.figures import NAMED
from whynear.study import flow
from whynear.study.comparison import compare, simplest_of_the_best
from whynear.study.findings import deciding_columns
from whynear.study.methods import Methods
from whynear.testing import check_metric


@pytest.fixture(scope="module")
def iris():
    return load_iris(as_frame=True).frame.assign(constant=3.0)


@pytest.fixture(scope="module")
def study(iris):
    return wn.study(iris, "target", learner="gmlvq", folds=3)


@pytest.fixture(scope="module")
def saved(study, tmp_path_factory):
    """What the study writes, by the names of the files."""
    return {path.name: path for path in study.save(tmp_path_factory.mktemp("study") / "new" / "folder")}


def test_the_metric_is_stated_in_the_columns_of_the_table(study, iris):
    assert study.metric.feature_names == tuple(iris.columns.drop("target"))
    check_metric(study.metric, iris.drop(columns="target"))


def test_features_are_bounded_and_the_most_relevant_comes_first(study):
    frame = study.frame()
    assert list(frame.columns) == ["feature", "lower", "upper", "strength", "substitutes"]
    assert frame["upper"].is_monotonic_decreasing
    assert (frame["lower"] <= frame["upper"]).all()
    constant = frame.set_index("feature").loc["constant"]
    assert (constant["lower"], constant["upper"], constant["strength"]) == (0, 0, "irrelevant")
    assert frame["feature"][0].startswith("petal")


def test_all_methods_are_judged_on_the_same_held_out_folds(study):
    assert list(study.accuracy.columns) == ["gmlvq", "plain kNN", "NCA with kNN"]
    assert len(study.accuracy) == 3
    assert (study.accuracy > 0.85).all(axis=None)
    assert study.comparison.honest.tolist() == study.accuracy["gmlvq"].tolist()


def test_every_row_is_predicted_once_without_it(study, iris):
    predictions = study.comparison.predictions
    assert predictions.index.tolist() == iris.index.tolist()
    assert (predictions["true"].to_numpy() == iris["target"].astype(str)).all()
    right = (predictions["true"] == predictions["predicted"]).groupby(predictions["fold"]).mean()
    assert_allclose(right, study.comparison.honest)
    assert predictions["probability"].between(1 / 3, 1).all()


def test_cases_are_explained_by_a_model_that_never_saw_them(study):
    kinds = {(case.true, case.kind) for case in study.cases}
    assert {("0", "typical"), ("1", "typical"), ("2", "typical")} <= kinds
    for case in study.cases:
        predicted = study.comparison.predictions.loc[case.row]
        assert (predicted["true"] == predicted["predicted"]) == (case.kind != "wrong")
        assert_allclose(case.why.contributions.sum(axis=1), case.why.neighbors["sq_distance"])


def test_the_finding_says_it_in_words_and_numbers(study):
    text = study.finding()
    assert re.search(r"predicts \d+\.\d% ± \d+\.\d% of held-out cases right, plain kNN \d+\.\d%", text)
    assert study.frame()["feature"][0] in text


def test_a_constant_column_is_a_caveat(study):
    assert any("'constant'" in caveat for caveat in study.caveats)


def test_the_same_seed_gives_the_same_files_byte_for_byte(iris, tmp_path):
    first, second = (
        [path.read_bytes() for path in wn.study(iris[::5], "target", learner="gmlvq", folds=2).save(tmp_path / name)]
        for name in ("one", "two")
    )
    assert first == second


def test_the_page_is_complete_in_itself(study, saved):
    text, table = saved["report.html"].read_text(), saved["relevance.csv"]
    assert len(text) < 3_000_000
    assert not re.search(r"\bsrc=|@import|url\(\s*['\"]?(?!#)|<link|<script [^t]|href=\"(?!#)", text)
    assert text.count("<script") == 2  # its data and what makes it alive
    assert study.finding().split(". ")[0] in text
    assert pd.read_csv(table)["feature"].tolist() == study.frame()["feature"].tolist()


def test_hostile_names_are_escaped_in_the_page_and_harmless_in_the_table(tmp_path):
    rng = np.random.default_rng(0)
    names = ["<script>alert(1)</script>", "=cmd()", "$x^{", "--><img src=x onerror=b>", 'a"onmouseover="b', "@sum"]
    X = pd.DataFrame(rng.standard_normal((60, 6)), columns=names)
    table = X.assign(**{"<b>kind</b>": np.where(X["=cmd()"] > 0, "</title><script>", "&")})
    written = wn.study(table, "<b>kind</b>", learner="grlvq", folds=2).save(tmp_path)
    files = {path.name: path.read_text() for path in written if path.suffix != ".whynear"}
    text = re.sub("<!--.*?-->", "", files["report.html"], flags=re.DOTALL)
    assert text.count("<script") == text.count("</script") == 2
    text = text[: text.index("<script")]
    assert "<b>" not in text
    assert "<img" not in text
    assert 'a"onmouseover' not in text
    assert "&lt;script&gt;alert(1)" in text
    assert not any(line.startswith(("=", "+", "@")) for line in files["relevance.csv"].splitlines())


@pytest.mark.filterwarnings("error")
def test_names_that_command_a_terminal_or_lack_a_glyph_are_shown_harmlessly(tmp_path):
    names = ["\x1b[31mred", "two\nlines", "\u202eesrever", "温度"]
    X = pd.DataFrame(np.random.default_rng(0).random((60, 4)), columns=names)
    study = wn.study(X.assign(y=np.where(X["温度"] > 0.5, "\x07", "\x9b")), "y", learner="grlvq", folds=2)
    files = {path.name: path for path in study.save(tmp_path)}
    for text in (study.finding(), *(files[name].read_text() for name in ("report.html", "relevance.csv"))):
        assert not set(text) & set("\x1b\x07\x9b\u202e")
        assert all(shown in text for shown in ["\ufffd[31mred", "two lines", "\ufffdesrever", "温度"])
    assert study.metric.feature_names == tuple(names)


def test_every_figure_has_its_data_beside_it(study, saved):
    elsewhere = {"intervals": "relevance.csv"}
    for name in [path.removesuffix(".svg") for path in saved if path.endswith(".svg")]:
        table = pd.read_csv(saved[elsewhere.get(name, f"{name}.csv")])
        assert len(table), name
    votes = pd.read_csv(saved["votes-1.csv"])
    assert votes[study.relevance.feature_names[0]].tolist() == study.cases[0].why.contributions.iloc[:, 0].tolist()


def test_what_is_written_can_be_read_again(study, saved, iris):
    assert {"study.json", "model.whynear", "relevance.csv", "cases.csv", "predictions.csv"} <= set(saved)
    content = json.loads(saved["study.json"].read_text())
    assert content["format"] == 1
    assert content["finding"] == study.finding()
    assert content["relevance"]["upper"] == study.relevance.upper.tolist()
    model = wn.load(saved["model.whynear"])
    X = iris.drop(columns="target")
    assert (model.predict(X) == study.model.predict(X)).all()
    predictions = pd.read_csv(saved["predictions.csv"])
    assert list(predictions.columns) == ["index", "true", "predicted", "probability", "by", "fold"]
    assert len(pd.read_csv(saved["cases.csv"])) == len(study.cases)
    assert saved["intervals.svg"].read_text().startswith("<svg")


def test_a_column_without_any_value_is_irrelevant(iris):
    study = wn.study(iris.assign(empty=np.nan), "target", learner="grlvq", folds=2)
    assert study.frame().set_index("feature")["strength"]["empty"] == "irrelevant"


def test_small_classes_make_fewer_folds(iris):
    small = iris.iloc[:103]
    study = wn.study(small, "target", learner="grlvq")
    assert len(study.accuracy) == 3
    assert any("has 3 rows, so 3 folds were made instead of 5" in caveat for caveat in study.caveats)
    with pytest.raises(ValueError, match="folds=1 leaves nothing"):
        wn.study(iris, "target", folds=1)


def test_a_long_table_is_sampled_and_says_so(monkeypatch):
    monkeypatch.setattr(flow, "MOST_ROWS", 100)
    y = np.arange(5000) % 2
    study = wn.study(
        pd.DataFrame({"a": y + np.random.default_rng(0).random(5000), "y": y}), "y", learner="grlvq", folds=2
    )
    assert any("Of 5,000 rows a random 100 were used" in caveat for caveat in study.caveats)


def test_one_row_more_than_can_be_compared_is_no_difficulty(monkeypatch):
    monkeypatch.setattr(flow, "MOST_ROWS", 60)
    table = pd.DataFrame({"a": np.random.default_rng(0).random(61), "y": np.arange(61) % 2})
    study = wn.study(table, "y", learner="grlvq", folds=2)
    assert any("Of 61 rows a random 60" in caveat for caveat in study.caveats)


def test_more_classes_than_can_be_compared_are_refused(monkeypatch):
    monkeypatch.setattr(flow, "MOST_ROWS", 60)
    table = pd.DataFrame({"a": np.arange(62) / 3, "y": [f"c{i % 31}" for i in range(62)]})
    with pytest.raises(ValueError, match=r"'y' has 31 classes, too many .* the 60 that can be compared. Merge classes"):
        wn.study(table, "y")


def test_a_table_in_which_nothing_changes_is_refused(iris):
    with pytest.raises(ValueError, match=r"no column changes from row to row.*'constant'. Add a column"):
        wn.study(iris[["constant", "target"]], "target")


def rows_of_two_classes(n_rows, **columns):
    y = np.tile(["u", "v"], n_rows)[:n_rows]
    return pd.DataFrame({**columns, "y": y})


ONE_ROW = np.eye(1, 40, 3).ravel()
NOISE = np.random.default_rng(0).random(40)
EQUAL_MEANS = np.repeat([0.0, 1.0], 20)


@pytest.mark.parametrize(
    "table",
    [
        rows_of_two_classes(40, a=ONE_ROW),
        rows_of_two_classes(40, a=ONE_ROW, b=NOISE),
        rows_of_two_classes(6, a=NOISE[:6], b=NOISE[6:12]),
        rows_of_two_classes(4, a=NOISE[:4]),
        rows_of_two_classes(40, a=np.tile([0.0, 1.0], 20)),
        rows_of_two_classes(40, a=EQUAL_MEANS),
        pd.DataFrame({"a": NOISE, "b": NOISE[::-1], "y": [f"c{i // 2}" for i in range(40)]}),
        pd.DataFrame({f"x{i}": NOISE + i * NOISE[::-1] for i in range(9)} | {"y": [f"c{i // 5}" for i in range(40)]}),
    ],
    ids=["one row varies", "in one fold only", "6 rows", "4 rows", "pure", "equal means", "pairs", "dependent columns"],
)
@pytest.mark.parametrize("learner", ["gmlvq", pytest.param("auto", marks=pytest.mark.slow)])
@pytest.mark.filterwarnings("error")
def test_scarce_data_are_studied_all_the_same(table, learner):
    study = wn.study(table, "y", learner=learner, folds=4)
    assert study.accuracy.notna().all(axis=None)
    assert len(study.frame()) == table.shape[1] - 1


def test_a_column_that_decides_alone_is_a_caveat():
    table = rows_of_two_classes(40, a=np.tile([0.0, 1.0], 20) + 0.1 * NOISE, b=NOISE)
    study = wn.study(table, "y", learner="grlvq", folds=3)
    assert any("'a' alone tells the classes apart" in caveat for caveat in study.caveats)
    assert deciding_columns(table[["a", "b"]], table["y"].to_numpy()) == ["a"]


@pytest.mark.parametrize("seed", [-1, 2**32, None, 1.5])
def test_a_seed_out_of_range_is_refused(iris, seed):
    with pytest.raises(ValueError, match=rf"from 0 to 4294967295, got {seed} instead \(--seed 0\)"):
        wn.study(iris, "target", random_state=seed)


def test_folds_must_be_a_whole_number(iris):
    with pytest.raises(ValueError, match=r"folds=2.5 .* Use a whole number"):
        wn.study(iris, "target", folds=2.5)


def test_one_feature_is_enough():
    table = pd.DataFrame({"a": np.arange(40.0), "y": np.arange(40) // 20})
    study = wn.study(table, "y", learner="grlvq", folds=2)
    assert "Of 1 feature, 1 is indispensable: “a”." in study.finding()


def test_progress_runs_from_zero_to_one(iris):
    seen = []
    wn.study(iris, "target", learner="grlvq", folds=2, progress=lambda step, share: seen.append((step, share)))
    shares = [share for _, share in seen]
    assert shares[0] == 0
    assert shares[-1] == 1
    assert shares == sorted(shares)
    assert any("fold 2 of 2" in step for step, _ in seen)


def test_the_plot_returns_its_axes_and_draws_into_given_ones(study):
    ax = Figure().add_subplot()
    assert study.plot(ax, most=3) is ax
    assert ax.has_data()
    assert study.plot().get_figure() is not ax.get_figure()


def test_a_study_does_not_change_with_what_it_handed_out(study):
    before = study.finding()
    accuracy, frame = study.accuracy, study.frame()
    accuracy.iloc[:] = frame["upper"] = 0.0
    with pytest.raises(TypeError, match="does not support item assignment"):
        study.settings["seed"] = 7
    with pytest.raises(AttributeError):
        study.accuracy = accuracy
    assert study.finding() == before
    assert before in repr(study)


def test_a_study_can_be_sent_to_another_process(study):
    sent = pickle.loads(pickle.dumps(study))
    assert sent.finding() == study.finding()
    assert sent.settings == study.settings


LOCAL = [pytest.param(name, marks=pytest.mark.slow) for name in ("lgmlvq", "lgrlvq", "lann")]  # drawn by UMAP


@pytest.mark.parametrize("name", ["grlvq", "lmnn", *LOCAL])
@pytest.mark.usefixtures("blank_figures")
def test_any_learner_of_the_library_can_be_asked_for(name, iris, tmp_path):
    study = wn.study(iris[::2], "target", learner=name, folds=3)
    assert study.accuracy.columns[0] == study.comparison.chosen == study.settings["learner"] == name
    assert (study.accuracy.mean() > 0.9).all()
    assert study.finding().startswith(f"{name.upper()} predicts")
    is_local = isinstance(study.metric, wn.LocalMetric)
    with pytest.warns(UserWarning, match="anchors of a local metric") if is_local else nullcontext():
        written = study.save(tmp_path)
    assert study.finding().split(". ")[0] in written[-1].read_text()


def test_an_unknown_learner_is_refused_with_the_known_ones(iris):
    with pytest.raises(ValueError, match=r"no learner 'svm'. Use one of auto, grlvq, .*lann \(--learner\)"):
        wn.study(iris, "target", learner="svm")


def test_the_simplest_of_learners_near_the_best_is_chosen(iris):
    study = wn.study(iris, "target", folds=2)
    learners = ["grlvq", "gmlvq", "lmnn", "lgmlvq", "lann"]
    assert list(study.accuracy.columns) == [*learners, "plain kNN", "NCA with kNN"]
    assert study.comparison.chosen == simplest_of_the_best(study.accuracy[learners])
    assert set(study.comparison.predictions["by"]) <= set(learners)
    assert "the simplest of 5 learners near the best" in study.finding()


@pytest.mark.slow
def test_labels_that_mean_nothing_are_predicted_at_chance():
    means = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        table = pd.DataFrame(rng.standard_normal((60, 4))).assign(y=rng.permutation(np.arange(60) % 2))
        X, y = table.drop(columns="y"), table["y"].to_numpy()
        means.append(
            compare(X, y, ["grlvq", "gmlvq", "lmnn"], Methods(seed), folds=5, report=lambda *_: None).honest.mean()
        )
    print(f"accuracy on shuffled labels: {np.mean(means):.3f} ± {np.std(means):.3f}")
    assert abs(np.mean(means) - 0.5) < 0.06


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 10))])
def test_the_finding_states_the_known_truth(seed):
    data = wn.datasets.make_relevance(400, random_state=seed)
    study = wn.study(data.X.assign(kind=data.y), "kind", learner="gmlvq", folds=3)
    assert study.frame().set_index("feature")["strength"][data.X.columns].tolist() == data.strength.tolist()
    text = study.finding()
    assert "1 is indispensable: “strong_0”" in text
    assert re.search(r"3 matter but can be replaced: .* These can replace each other: .*weak_0_\d.*weak_0_\d", text)
    assert "4 are no better than noise" in text


def test_up_to_forty_features_are_named_in_the_figure(tmp_path):
    rng = np.random.default_rng(0)
    for n_features, named in ((40, True), (41, False)):
        X = pd.DataFrame(rng.standard_normal((60, n_features))).add_prefix("column ")
        study = wn.study(X.assign(y=np.where(X["column 0"] > 0, "a", "b")), "y", learner="grlvq", folds=2)
        ax = Figure().add_subplot()
        study.relevance.plot(ax, most=NAMED)
        assert (len(ax.get_yticklabels()) == n_features) == named
