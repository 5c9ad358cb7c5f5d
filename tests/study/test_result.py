import pytest

import whynear as wn
from tests.helpers.notebook_html import shown
from tests.report.test_page import hostile


@pytest.mark.parametrize("measured", [False, True])
def test_a_study_shows_what_it_found_the_methods_and_the_features(measured):
    table = hostile()
    if measured:
        table["<i>target</i>"] = table.iloc[:, 0] + 0.1 * table.iloc[:, 1]
    study = wn.study(table, "<i>target</i>", learner="auto" if measured else "grlvq", folds=2)
    text = shown(study)
    assert study.finding() in text
    assert all(caveat in text for caveat in study.caveats)
    assert all(name in text for name in study.accuracy)
    assert repr(study.relevance) in text
