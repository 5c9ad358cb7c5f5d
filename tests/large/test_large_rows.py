from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from distributed import Client
from sklearn.metrics import r2_score

import whynear as wn
from tests.helpers.large_tables import small_memory
from whynear import doors
from whynear.large import all_rows as large_rows
from whynear.large.beyond_memory import large_problem
from whynear.large.parts import open_parts
from whynear.study.comparison import compare
from whynear.study.methods import Methods
from whynear.study.settings import StudySettings
from whynear.utils.progress import Steps, silent


@pytest.fixture
def whole():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(600, 3)), columns=list("abc"))
    frame["colour"] = rng.choice(["red", "blue"], 600)
    frame["heavy"] = rng.integers(1, 4, 600)
    frame["value"] = frame["a"] - frame["b"] + 0.1 * rng.normal(size=600)
    return frame.assign(kind=np.where(frame["a"] + 0.5 * rng.normal(size=600) > 0, "up", "down"))


@pytest.fixture
def opened(tmp_path, whole, monkeypatch):
    """The problem of a sample, all rows, and the rows that are held out."""
    small_memory(monkeypatch, 200)

    def made(target="kind", drop=("value",), frame=whole, **words):
        frame.to_parquet(tmp_path / "t.parquet", row_group_size=60, index=False)
        settings = StudySettings.of(drop=drop, **words)
        sample, rows = large_problem(open_parts(tmp_path / "t.parquet"), target, settings, Steps())
        places = [place for part in rows.held_out for place in range(part.before, part.before + part.n_rows)]
        return sample, rows, frame.iloc[places]

    return made


def fitted(sample, name="grlvq"):
    return Methods(0, sample.encoder).fitted(name, sample.X, sample.y)


def test_the_sentence_is_the_accuracy_on_all_rows_that_are_held_out(opened):
    sample, rows, held_out = opened()
    model = fitted(sample)
    right = (model.predict(held_out[sample.X.columns]) == held_out["kind"]).mean()
    error = np.sqrt(right * (1 - right) / 60)
    assert rows.judged(model, silent).sentence == (
        "The model has seen no row of 1 of 10 row groups: of their 60 rows it predicts "
        f"{right:.1%} ± {error:.1%} right."
    )


def test_rows_count_by_their_weights(opened):
    sample, rows, held_out = opened(weight="heavy")
    model = fitted(sample)
    right = model.predict(held_out[sample.X.columns]) == held_out["kind"]
    share = np.average(right, weights=held_out["heavy"])
    error = np.sqrt((np.square(held_out["heavy"] * (right - share))).sum()) / held_out["heavy"].sum()
    assert f"predicts {share:.1%} ± {error:.1%} right" in rows.judged(model, silent).sentence


def test_of_numbers_the_variance_is_explained(opened):
    sample, rows, held_out = opened("value", ("kind",))
    model = fitted(sample, "minimum norm")
    explained = r2_score(held_out["value"], model.predict(held_out[sample.X.columns]))
    assert f"of their 60 rows it explains {explained:.1%} of the variance." in rows.judged(model, silent).sentence


def test_without_parts_held_out_there_is_no_sentence(opened):
    sample, rows, _ = opened()
    assert replace(rows, held_out=()).judged(fitted(sample), silent) is None


def test_rows_of_a_part_have_a_class_of_the_problem(opened, whole):
    frame = whole.copy()
    frame.loc[[3, 40], "kind"] = [None, "once"]
    _, rows, _ = opened(frame=frame, drop_missing_target=True)
    pieces = list(rows.rows(rows.table.parts[0]))
    X, y = pd.concat([frame for frame, _ in pieces]), np.concatenate([y for _, y in pieces])
    assert X.index.tolist() == [row for row in range(1, 61) if row not in (4, 41)]
    assert (y == frame["kind"].to_numpy()[X.index - 1]).all()


def test_a_row_that_cannot_be_predicted_is_named(opened, whole):
    frame = whole.copy()
    sample, rows, held_out = opened(frame=frame)
    frame.loc[held_out.index[5], "a"] = np.inf
    model = fitted(sample)
    frame.to_parquet(rows.table.parts[0].path, row_group_size=60, index=False)
    with pytest.raises(ValueError, match=r"t.parquet contains infinity \(inf\): 1 in column 'a'"):
        rows.judged(model, silent)


def test_the_model_is_fitted_to_the_sample_and_rare_rows(opened, whole):
    whole.loc[17, "colour"] = "green"
    sample, rows, _ = opened(frame=whole, group="heavy")
    all_rows = rows.with_rare_rows(sample)
    assert len(all_rows.X) == len(sample.X) + len(rows.rare_rows.X) == len(all_rows.groups) == len(all_rows.y)
    assert "green" in set(all_rows.X["colour"])
    assert all_rows.weights is None
    model, caveats = rows.learned("lann", "the model", all_rows)
    assert model == "the model"
    assert caveats[0] == (
        "Of 600 rows, a random 200 were used to compare learners, to interpret and to draw; the model was fitted to "
        f"{len(all_rows.X)} of them."
    )
    assert caveats[-1] == (
        "No whole row groups were held out, because rows are held out by 'heavy': the score is that of the folds."
    )


@pytest.fixture
def distributed(monkeypatch):
    """The partitions that all rows are learned from."""
    seen, fit = {}, large_rows.fit_partitions

    def noting(learner, X, y):
        seen["parts"] = [list(rows.compute().index) for rows in X]
        return fit(learner, X, y)

    monkeypatch.setattr(large_rows, "fit_partitions", noting)
    return seen


def test_all_rows_that_are_not_held_out_are_learned_from(opened, distributed, whole):
    whole.loc[7, "kind"] = "once"
    sample, rows, held_out = opened(frame=whole)
    rows_in_memory = rows.with_rare_rows(sample)
    model, caveats = rows.learned("grlvq", fitted(rows_in_memory), rows_in_memory)
    learned = sorted(row for part in distributed["parts"] for row in part)
    assert learned == sorted(set(range(1, 601)) - {8} - set(held_out.index + 1))
    assert len(distributed["parts"]) == 9
    assert caveats[0].endswith("the model was fitted to all 539 that were not held out.")
    known = whole.drop(index=[7, *held_out.index])
    expected = fitted(_problem(sample, known))
    np.testing.assert_allclose(wn.as_metric(model).weights, wn.as_metric(expected).weights)


def _problem(sample, frame):
    return replace(sample, X=frame[sample.X.columns], y=frame["kind"].to_numpy(dtype=str))


@pytest.mark.parametrize(
    ("name", "words", "room"), [("lmnn", {}, np.inf), ("grlvq", {"weight": "heavy"}, np.inf), ("grlvq", {}, 10.0)]
)
def test_other_learners_weights_and_too_little_room_leave_the_model(opened, distributed, name, words, room):
    sample, rows, _ = opened(**words)
    model = fitted(sample)
    assert replace(rows, room=room).learned(name, model, sample)[0] is model
    assert not distributed


@pytest.mark.slow
def test_the_workers_of_a_cluster_have_room_of_their_own(opened, distributed):
    sample, rows, _ = opened()
    model = fitted(sample)
    assert not large_rows.has_cluster()
    with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None):
        assert large_rows.has_cluster()
        assert replace(rows, room=10.0).learned("grlvq", model, sample)[0] is not model
    assert len(distributed["parts"]) == 9


def test_without_the_package_the_model_stays(opened, monkeypatch):
    sample, rows, _ = opened()
    model = fitted(sample)
    monkeypatch.setattr(large_rows, "find_spec", lambda name: None)
    assert rows.learned("grlvq", model, sample)[0] is model


def test_a_model_that_ignores_columns_is_judged_too(opened):
    sample, rows, _ = opened("value", ("kind",))
    assert "explains -" in rows.judged(fitted(sample, "mean"), silent).sentence


def test_a_target_that_stands_for_missing_is_not_judged(opened, whole):
    frame = whole.copy()
    frame.loc[::7, "value"] = -999.0
    sample, rows, held_out = opened("value", ("kind",), frame=frame, missing=("-999",), drop_missing_target=True)
    model, known = fitted(sample, "minimum norm"), held_out[held_out["value"] != -999.0]
    explained = r2_score(known["value"], model.predict(known[sample.X.columns]))
    said = f"of their {len(known)} rows it explains {explained:.1%} of the variance."
    assert len(known) < len(held_out)
    assert said in rows.judged(model, silent).sentence


def test_the_map_of_numbers_is_fitted_to_rare_rows_too(opened, whole):
    whole.loc[17, "colour"] = "green"
    sample, rows, _ = opened("value", ("kind",), frame=whole)
    methods, settings = Methods(0, sample.encoder), StudySettings.of(folds=2)
    comparison = compare(sample.X, sample.y, ("minimum norm",), methods, n_folds=2, report=silent)
    model, used = doors._learned(sample, comparison, settings, methods, rows)
    assert len(used.X) > len(sample.X)
    assert len(model[-1].cases_) == len(used.X)
