import json

import pytest

from tests.helpers.studies import numeric_study, small_study
from whynear.studio.worker import as_plain


@pytest.mark.parametrize("study", [small_study, numeric_study])
def test_every_part_is_plain_and_says_what_the_study_says(study):
    made = study()
    values = {"problem": made.problem, "comparison": made.comparison, "interpretation": made.interpretation}
    parts = {name: as_plain(name, value) for name, value in {**values, "verdicts": made.verdicts}.items()}
    assert json.loads(json.dumps(parts, allow_nan=False)) == parts
    assert parts["comparison"]["chosen"] == made.comparison.chosen
    assert parts["comparison"]["expected"] == made.comparison.expected
    assert [row["feature"] for row in parts["verdicts"]["rows"]] == list(made.verdicts.feature_names)
    assert parts["problem"]["target"] == made.problem.target


def test_a_part_that_is_no_table_is_only_named():
    assert as_plain("model", object()) == {}
