import re

import pytest

from papers.catalog import EXPERIMENTS, names_of
from papers.plans import PUBLISHED

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
