import pytest

from papers import plans
from papers.catalog import EXPERIMENTS
from papers.plans import PAPERS, Published, load_plan


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
    with pytest.raises(ValueError, match="better must be one of higher, lower, equal, got 'more' instead"):
        published(values=[row | {"better": "more"}])
    monkeypatch.setattr(plans.tomllib, "loads", lambda _text: {"title": "", "about": "", "stand_in": {}})
    with pytest.raises(ValueError, match=r"lann-fig1\.toml has unknown keys: stand_in"):
        load_plan.__wrapped__("lann-fig1")
