import numpy as np
import pytest

import whynear as wn
from tests.helpers.dated_tables import DATES, visits
from tests.helpers.studies import numeric_study, small_study
from tests.helpers.studios import add_finished, client_of, idle_studio
from whynear.studio.live import Live, live_study
from whynear.study.settings import StudySettings


@pytest.fixture
def studio(tmp_path):
    """A studio of an empty project, whose studies only wait."""
    made = idle_studio(tmp_path / "project")
    yield made
    made.project.close()


@pytest.fixture
def client(studio):
    return client_of(studio)


@pytest.fixture(scope="module")
def flowers(tmp_path_factory):
    """A studio with a finished study of iris by GRLVQ, and its number."""
    made = idle_studio(tmp_path_factory.mktemp("flowers"))
    settings = {"learner": "grlvq", "folds": 2}
    number = add_finished(made.project, small_study(), example="iris", settings=settings, name="flowers")
    yield made, number
    made.project.close()


@pytest.fixture(scope="module")
def live(flowers):
    """The study of iris, ready to answer."""
    studio, number = flowers
    return live_study(studio.project, studio.store.study(number))


@pytest.fixture(scope="module")
def measured_live(tmp_path_factory):
    """A study of a numeric target, ready to answer."""
    made = idle_studio(tmp_path_factory.mktemp("measured"))
    study = numeric_study()
    row = made.project.new_table("measured.csv")
    study.problem.X.assign(y=study.problem.y).to_csv(made.project.half_of(row), index=False)
    made.project.add_table(row)
    number = add_finished(made.project, study, table=row["id"], settings={"folds": 2})
    yield live_study(made.project, made.store.study(number))
    made.project.close()


@pytest.fixture(scope="module")
def iris():
    data = wn.datasets.load("iris")
    return data.X, np.array(data.target_names)[data.y]


@pytest.fixture
def dated_live(tmp_path):
    """A table with dates and the model of its classes, ready to answer."""
    learned = wn.learn_table(visits(), "kind", learner="grlvq", reading=wn.Reading(drop="dose", date=DATES))
    wn.save(learned.model, tmp_path / "model.whynear")
    return Live(tmp_path, "visits.csv", "kind", StudySettings(), learned.problem)
