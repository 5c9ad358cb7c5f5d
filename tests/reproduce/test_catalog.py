import re
from pathlib import Path

import pytest

import whynear.reproduce
from whynear.reproduce import EXPERIMENTS, names_of, plans
from whynear.reproduce.plans import PAPERS

PLANS = {f"{path.parent.name}-{path.stem}" for path in Path(whynear.reproduce.__file__).parent.glob("*/*.toml")}


def test_every_plan_is_an_experiment_and_every_experiment_has_a_plan():
    assert {make().plan.name for make in EXPERIMENTS.values()} == PLANS == set(EXPERIMENTS)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_plans_tell_what_they_show(name):
    experiment = EXPERIMENTS[name]()
    assert experiment.plan.paper in PAPERS
    assert experiment.plan.title
    assert experiment.plan.about.endswith((".", ")"))
    assert experiment.cells
    assert all(cell.weight > 0 for cell in experiment.cells)
    assert len({cell.name for cell in experiment.cells}) == len(set(experiment.cells))
    if experiment.plan.substitute is not None:
        assert experiment.plan.substitute.keys() == {"data", "reason", "instead"}


def test_a_name_stands_for_one_or_several():
    assert names_of("lann-fig1") == ["lann-fig1"]
    assert names_of("lann-table1") == ["lann-table1-fifth", "lann-table1-tenfold"]
    assert names_of("lann-table1", "tenfold") == ["lann-table1-tenfold"]
    assert names_of("all") == list(EXPERIMENTS)
    assert set(EXPERIMENTS) - set(names_of("all", "fifth")) == {"lann-table1-tenfold"}
    assert all(name.startswith("lann-") for name in names_of("lann"))


def test_what_there_is_not_is_told():
    with pytest.raises(ValueError, match=re.escape("no table or figure 'lann-fig11'. Did you mean 'lann-fig1'?")):
        names_of("lann-fig11")
    for name in ("lann-fig1", "lann-table1-tenfold"):
        with pytest.raises(ValueError, match=f"{name} has no protocol 'fifth': leave out --protocol fifth"):
            names_of(name, "fifth")


def test_a_key_of_a_row_that_means_nothing_is_refused():
    row = {"row": "wine", "published": {"LANN": [0.9]}, "tolerence": 0.01}
    with pytest.raises(ValueError, match="'wine' has unknown keys: tolerence"):
        list(plans._published({"values": [row]}))
