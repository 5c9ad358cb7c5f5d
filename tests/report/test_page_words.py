"""Paragraphs that depend on how a study was made; those on groups, time and scores are tested with these."""

from dataclasses import replace

from tests.helpers.studies import houses_study, numeric_study
from whynear.report.page_words import facts_of_table, how_it_was_done, how_well, note_on_intervals


def test_the_score_to_expect_is_stated_with_its_error(study):
    assert how_well(study).startswith(f"{study.comparison.score} of held-out cases are predicted right: what to expect")
    assert "of the variance is explained" in how_well(numeric_study())


def test_intervals_of_a_mean_metric_are_said_to_be_so(study):
    assert study.relevance.agreement in note_on_intervals(study)
    averaged = replace(study, interpretation=replace(study.interpretation, averaged=True))
    assert note_on_intervals(averaged).endswith("those of their mean.")


def test_the_table_is_described(study):
    facts = dict(facts_of_table(study))
    assert facts["rows, features"] == "150, 5"
    assert facts["classes"] == "0 (50), 1 (50), 2 (50)"
    low, high = numeric_study().problem.range
    assert dict(facts_of_table(numeric_study()))["values"] == f"{low:.4g} to {high:.4g}"


def test_the_steps_name_the_folds_and_what_was_filled_in(study):
    assert "on 3 held-out stratified folds" in how_it_was_done(study)
    assert "filled in" not in how_it_was_done(study)
    assert "after missing values were filled in" in how_it_was_done(houses_study())
    assert "The weights of all categories of a column are summed." in how_it_was_done(houses_study())
    assert "ridge regression, PLS and the mean on 3 held-out folds" in how_it_was_done(houses_study())


def test_one_learner_was_not_chosen_among_others(study):
    alone, chosen = "GMLVQ was compared with plain kNN", "Learners were compared with plain kNN and NCA on 3 held-out"
    assert alone in how_it_was_done(study)
    assert chosen not in how_it_was_done(study)
    accuracy = study.comparison.accuracy.assign(grlvq=study.comparison.accuracy["gmlvq"])
    of_two = how_it_was_done(replace(study, comparison=replace(study.comparison, accuracy=accuracy)))
    assert chosen in of_two
    assert alone not in of_two
