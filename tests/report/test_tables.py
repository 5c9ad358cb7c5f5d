"""The tables that are written beside the page."""

import pandas as pd
import pytest

from tests.helpers.studies import numeric_study
from whynear.report.tables import comparison_tables, error_tables, tables


def test_every_figure_has_a_table_with_its_data(study, saved):
    elsewhere = {"intervals": "relevance.csv", "verdicts": "relevance.csv"}
    for name in [path.removesuffix(".svg") for path in saved if path.endswith(".svg")]:
        table = pd.read_csv(saved[elsewhere.get(name, f"{name}.csv")])
        assert len(table), name
    votes = pd.read_csv(saved["votes-1.csv"])
    written, known = votes[study.relevance.feature_names[0]], study.cases[0].why.contributions.iloc[:, 0]
    assert written.tolist() == pytest.approx(known.tolist(), rel=1e-12)


def test_the_scores_and_predictions_are_those_of_the_comparison(study):
    found = comparison_tables(study.comparison)
    assert found["scores.csv"].set_index("fold").equals(study.accuracy)
    assert found["predictions.csv"]["predicted"].tolist() == study.comparison.predictions["predicted"].tolist()


def test_the_tables_of_errors_hold_the_confusion_and_the_classes(study):
    found = dict(error_tables(study.errors))
    assert found["confusion.csv"]["count"].sum() == len(study.problem.y)
    assert found["classes.csv"]["class"].tolist() == list(study.errors.classes)
    assert found["classes.csv"]["recall"].tolist() == [one.recall for one in study.errors.by_class]


def test_certainties_stand_beside_the_predictions_and_rejected_cases_have_a_reason(study):
    found = dict(tables(study))
    assert found["predictions.csv"]["certainty"].tolist() == study.rejection.certainty.tolist()
    assert found["rejection.csv"]["coverage"].iloc[-1] == 1
    rejected = found["rejected.csv"]
    assert len(rejected) == len(study.rejection.rejected)
    assert set(rejected["reason"]) <= {"no promise", "outlier"}  # too few cases
    assert not {"rejection.csv", "rejected.csv"} & set(dict(tables(numeric_study())))


def test_points_of_a_map_stand_beside_their_cases(study):
    found = dict(tables(study))
    for name, points in study.maps.items():
        table = found[f"map-{name}.csv"]
        assert table[["across", "up"]].to_numpy().tolist() == points.tolist()
        assert table["true"].tolist() == study.problem.y.tolist()


def test_the_cases_of_a_numeric_target_have_tables():
    study = numeric_study()
    found = dict(tables(study))
    assert {"relevance.csv", "scores.csv", "predictions.csv", "map-before.csv", "map-after.csv"} <= set(found)
    cases = found["cases.csv"]
    assert cases["residual"].tolist() == (cases["true"] - cases["predicted"]).tolist()
    why = study.cases[0].why
    assert found["case-1.csv"]["contribution"].tolist() == why.contributions.tolist()
    assert found["near-1.csv"]["a"].tolist() == why.neighbor_contributions["a"].tolist()
    assert found["near-1.csv"]["measured"].tolist() == why.neighbors["measured"].tolist()
