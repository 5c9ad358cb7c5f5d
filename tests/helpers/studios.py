"""Projects of the studio with finished studies, and clients that talk to a studio in this process."""

import json
from pathlib import Path

from fastapi.testclient import TestClient

from whynear.model.files import save
from whynear.studio.guard import Keys
from whynear.studio.project import Project, new_id
from whynear.studio.routes import Studio
from whynear.studio.runner import Relearner
from whynear.studio.server import make_app
from whynear.studio.store import WrongState
from whynear.studio.worker import write_page_data

PORT = 8777
ADDRESS = f"http://127.0.0.1:{PORT}"


class IdleRunner:
    """Starts nothing: studies wait until a test says what becomes of them."""

    def __init__(self, project):
        self.project, self.store = project, project.store

    def start_next(self):
        pass

    def cancel(self, study):
        if not self.store.change_study(study, only_in=("waiting", "running"), state="cancelled"):
            raise WrongState("There is nothing to cancel.")

    def resume(self, study):
        if not self.store.change_study(study, only_in=("cancelled", "interrupted", "failed"), state="waiting"):
            raise WrongState("It cannot go on.")

    def remove(self, study):
        self.project.remove_study(study)

    def close(self):
        pass


def idle_studio(folder: Path) -> Studio:
    """A studio whose studies only wait."""
    project = Project(folder)
    return Studio(project, IdleRunner(project), Relearner(project), Keys(project.store, PORT), ADDRESS)


def add_finished(project: Project, study, *, example=None, table=None, settings=None, name="") -> str:
    """Put a finished study into a project, with the files that the studio reads."""
    number = new_id()
    row = {"id": number, "name": name or study.problem.source, "source": study.problem.source, "table_id": table}
    row |= {"example": example, "target": study.problem.target, "settings": settings or {}, "state": "finished"}
    project.store.add_study(row)
    project.store.change_study(number, finding=study.finding(), begun=1.0, ended=2.0, share=1.0)
    folder = project.results_of(number)
    folder.mkdir(parents=True)
    (folder / "study.json").write_text(json.dumps(study.to_dict()))
    (folder / "report.html").write_text("<html></html>")
    save(study.model, folder / "model.whynear")
    write_page_data(study, folder)
    return number


def client_of(studio: Studio, **headers: str) -> TestClient:
    """A script with the token of a studio."""
    given = {"authorization": f"Bearer {studio.keys.token}", **headers}
    return TestClient(make_app(studio), base_url=studio.address, headers=given, raise_server_exceptions=False)
