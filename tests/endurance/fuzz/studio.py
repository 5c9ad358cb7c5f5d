"""Requests to the API of the studio: bodies, queries, uploads and paths that no page sends."""

import json
from dataclasses import replace

from fastapi.testclient import TestClient

from tests.endurance.fuzz.commands import given, is_finite
from tests.endurance.fuzz.mutators import TOKENS, VALUES, changed_value, mutated
from tests.endurance.fuzz.tables import mixed
from tests.helpers.studies import small_study
from tests.helpers.studios import add_finished, idle_studio
from whynear.studio.server import make_app
from whynear.studio.store import NotFound, WrongState

FEATURE, OTHER = "petal width (cm)", "sepal width (cm)"
SETTINGS = {
    "drop": ["day"],
    "folds": 3,
    "index": "id",
    "bins": None,
    "missing": ["?"],
    "encoding": "auto",
    "memory": "2GB",
}
CASE = {"row": 1, "values": {FEATURE: 1.5, OTHER: None}, "model": "study"}
BODIES = {  # of questions to a finished study
    "what-if": CASE,
    "flip": {**CASE, "to": "virginica", "features": [FEATURE]},
    "python": {"view": "case", "row": 1, "values": {FEATURE: 2}, "features": [OTHER], "model": "study", "other": None},
    "marks": {"query": 1, "case": 5, "alike": True},
    "leave-out": {"features": [OTHER], "keep": False},
    "relearn": {"features": [OTHER], "keep": False},
}
QUESTIONS = (
    "",
    "features",
    "rows",
    "features/2/values",
    "lock",
    "marks",
    "relearn",
    "relearn/1",
    "files",
    "page",
    "parts",
)


class IdleRelearner:
    """Starts no process."""

    def start(self, study, features):
        raise WrongState("Nothing is started here.")

    def listed(self, study):
        return []

    def shown(self, study, number):
        raise NotFound("There is no refit.")

    def cancel(self, study, number):
        raise NotFound("There is no refit.")

    def cancel_all(self, study):
        pass


def studio(folder):
    """Requests of all kinds to a project with a finished study."""
    made = replace(idle_studio(folder / "project"), relearner=IdleRelearner())
    study = add_finished(made.project, small_study(), example="iris", settings={"learner": "grlvq", "folds": 2})
    headers = {"authorization": f"Bearer {made.keys.token}", "content-type": "application/json"}
    client = TestClient(make_app(made), base_url=made.address, headers=headers)  # errors of the server are raised

    def trial(rng):
        answer = rng.choice((send_table, ask, ask, ask, look, start))(client, study, rng, folder)
        return checked(answer)

    return trial


def checked(answer):
    """Refused in a sentence, or answered with numbers."""
    status, is_json = answer.status_code, "json" in answer.headers.get("content-type", "")
    assert status < 500, answer.text
    if status >= 400:
        assert isinstance(answer.json()["detail"], str)
        assert answer.json()["detail"].strip()
        return "refused"
    assert not is_json or is_finite(answer.json())
    return "accepted"


def body_of(value, rng):
    """A body that was changed, as a value or as text."""
    data = json.dumps(changed_value(value, rng) if rng.random() < 0.9 else value).encode()
    return mutated(data, rng) if rng.random() < 0.15 else data


def word(rng):
    """A text for a path or a query."""
    return rng.choice(("1", "iris", FEATURE, str(rng.choice(VALUES)), rng.choice(TOKENS).decode(errors="replace")))[
        :200
    ]


def quoted(text):
    return "".join(f"%{byte:02x}" for byte in text.encode(errors="surrogatepass"))


def send_table(client, _study, rng, folder):
    """Send a changed table, look at it with changed settings, and remove it."""
    path = given(mixed(8), rng, folder)
    name = path.name if rng.random() < 0.8 else word(rng) + path.suffix
    sent = client.post(f"/api/tables?name={quoted(name)}", content=path.read_bytes())
    if sent.status_code != 201:
        return sent
    place = f"/api/tables/{sent.json()['id']}"
    content = body_of({"target": rng.choice(("y", "size", None)), "settings": SETTINGS}, rng)
    answer = client.post(f"{place}/preview", content=content)
    if answer.status_code == 200 and rng.random() < 0.3:
        body = {"table": sent.json()["id"], "target": "y", "settings": {"drop": ["day"]}, "name": word(rng)}
        return client.post("/api/studies", content=json.dumps(body))
    assert client.delete(place).status_code == 204
    return answer


def ask(client, study, rng, _folder):
    """Ask a finished study something."""
    path = rng.choice(sorted(BODIES)) if rng.random() < 0.9 else "lock"
    content = body_of(BODIES.get(path, BODIES["leave-out"]), rng)
    return client.post(f"/api/studies/{study}/{path}?k={quoted(rng.choice(('3', word(rng))))}", content=content)


def look(client, study, rng, _folder):
    """Look at anything, also at what is not there."""
    path = rng.choice(
        (f"studies/{study}/{rng.choice(QUESTIONS)}", f"studies/{quoted(word(rng))}", "compare", "studies")
    )
    path += f"/{quoted(word(rng))}" if rng.random() < 0.3 else ""
    query = "&".join(f"{key}={quoted(word(rng))}" for key in rng.sample(("query", "k", "first", "second", "name"), 3))
    method = rng.choice(("GET", "GET", "GET", "PATCH", "POST", "PUT"))
    content = None if method == "GET" else body_of({"name": "other"}, rng)
    return client.request(method, f"/api/{path}?{query}", content=content)


def start(client, _study, rng, _folder):
    """Start a study of an example, which waits, or preview one."""
    body = {"example": "iris", "target": None, "settings": {"folds": 2, "learner": "grlvq"}, "name": "n"}
    if rng.random() < 0.5:
        return client.post("/api/studies", content=body_of(body, rng))
    return client.post(
        f"/api/examples/{quoted(rng.choice(('iris', 'iris', word(rng))))}/preview",
        content=body_of({"target": None, "settings": {**SETTINGS, "drop": [], "index": None}}, rng),
    )


READERS = {"studio": studio}
