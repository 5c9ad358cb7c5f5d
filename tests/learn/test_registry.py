"""One line in the registry makes a learner known everywhere."""

import ast
import inspect
import subprocess
import sys
import warnings
from pathlib import Path
from typing import get_type_hints

import pytest
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.datasets import load_iris

import whynear as wn
from tests.helpers.learners import FAILED_BY_VOTING
from tests.helpers.markdown import with_learners
from whynear import learn
from whynear.cli.app import learn as learn_command
from whynear.cli.study import study as study_command
from whynear.learn import registry
from whynear.learn.registry import ALL_LEARNERS, LEARNERS, LEARNERS_OF_NUMBERS, REGRESSORS
from whynear.model.files import ESTIMATORS
from whynear.testing import check_learner

CHEAP = {
    "lann": {"epochs": 5, "step": 0.1, "beta": 0.3, "decay": 0.0, "shared_epochs": 5, "shared_step": 0.03},
    "lpweights": {"n_triples": 100},
    "slider": {"n_triples": 1000, "n_validation": 500, "n_restarts": 2},
}
EXPECTED_FAILURES = {"lmnn": FAILED_BY_VOTING, "lann": FAILED_BY_VOTING}
LONG = {learner.name: pytest.mark.slow for learner in ALL_LEARNERS if learner.module == "slider.rivals"}


def imported_for_types(module):
    """The names that a module imports for type checkers."""
    block = next(node for node in ast.parse(Path(module.__file__).read_text()).body if isinstance(node, ast.If))
    return {alias.asname for statement in block.body for alias in statement.names}


def output_of(code):
    """What a fresh interpreter prints."""
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param(name, marks=LONG.get(name, ())) for name in LEARNERS])
@pytest.mark.filterwarnings("ignore")
def test_every_learner_passes_all_checks(name):
    check_learner(LEARNERS[name](**CHEAP.get(name, {})), EXPECTED_FAILURES.get(name))


@pytest.mark.parametrize("learner", ALL_LEARNERS, ids=lambda learner: learner.name)
def test_every_learner_is_public_can_be_saved_and_takes_a_seed(learner):
    kind = LEARNERS[learner.name]
    assert kind is getattr(wn, learner.kind) is getattr(learn, learner.kind) is ESTIMATORS[learner.kind]
    assert "random_state" in kind().get_params()


def test_the_registry_names_every_class_that_is_a_learner():
    public = {name: getattr(wn, name) for name in wn.__all__}
    learners = {name for name, kind in public.items() if isinstance(kind, type) and issubclass(kind, ClassifierMixin)}
    others = {"RejectOption", "SelfAdjustingMemory"}  # wrap any classifier, and learn from streams
    assert learners == {learner.kind for learner in ALL_LEARNERS} | others


def test_every_learner_of_numbers_is_public_and_can_be_saved():
    for learner in LEARNERS_OF_NUMBERS:
        kind = REGRESSORS[learner.name]
        assert kind is getattr(wn, learner.kind) is getattr(learn, learner.kind) is ESTIMATORS[learner.kind]
        assert issubclass(kind, RegressorMixin)


def test_studies_and_commands_follow_it():
    assert tuple(learner.name for learner in ALL_LEARNERS if learner.studied) == registry.STUDIED
    assert set(registry.COMPARED) <= set(registry.STUDIED)
    assert registry.OF_NUMBERS == ("minimum norm", "rfm")
    assert "whynear.learn.STUDIED" in wn.study.__doc__
    assert learn.STUDIED == registry.STUDIED
    for command, names in ((learn_command, LEARNERS), (study_command, registry.STUDIED)):
        option = get_type_hints(command, include_extras=True)["learner"].__metadata__[0]
        assert ", ".join(names) in option.help
        assert " or ".join(registry.OF_NUMBERS) in option.help


def test_type_checkers_see_every_public_name_of_learn():
    of_learners, of_learn = (imported_for_types(module) for module in (registry, learn))
    named_here = {learner.kind for learner in (*ALL_LEARNERS, *LEARNERS_OF_NUMBERS)} - {"MinimumNormRegressor"}
    assert of_learners == named_here  # all but one of the registry's own folder
    assert of_learners | of_learn == {*learn.__all__, None} - {"LEARNERS", "STUDIED"}  # defined where learners are


def test_the_reference_documents_every_learner():
    page = (Path(__file__).parents[2] / "docs" / "api" / "learners.md").read_text()
    assert all(f"autoclass:: whynear.{learner.kind}\n" in with_learners(page) for learner in ALL_LEARNERS)


def test_listing_the_learners_imports_no_learner():
    code = "import sys; from whynear.learn.registry import LEARNERS; list(LEARNERS); 'lmnn' in LEARNERS"
    loaded = set(output_of(f"{code}; print(*sys.modules)").split())
    assert not loaded & {"numpy", "sklearn", "numba", "scipy", "pandas", "whynear.learn.lvq"}


def test_a_saved_learner_is_loaded_by_a_process_that_has_imported_none(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wn.save(wn.GRLVQ(max_iter=2).fit(*load_iris(return_X_y=True)), tmp_path / "model")
    assert "GRLVQ(max_iter=2)" in output_of(f"import whynear as wn; print(wn.load({str(tmp_path / 'model')!r}))")


@pytest.mark.parametrize("name", LEARNERS)
def test_docstrings_stand_in_the_source_as_they_are_shown(name):
    written = ast.parse(inspect.getsource(LEARNERS[name])).body[0]
    assert ast.get_docstring(written) == inspect.getdoc(LEARNERS[name])
