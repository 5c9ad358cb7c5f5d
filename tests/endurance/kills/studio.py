"""Kills of the server of the studio while tables are sent and removed, and studies are started, renamed and removed."""

import json
import threading
import time
from dataclasses import dataclass, field

import httpx2
import numpy as np

from tests.endurance.kills import work
from tests.endurance.kills.processes import PATIENCE, Victim, fork_server

TABLE = "a,b,y\n" + "".join(f"{n % 7},{n % 5},{'u' if n % 2 else 'v'}\n" for n in range(30))
STUDY = {"example": "iris", "settings": {"learner": "grlvq", "folds": 2, "n_jobs": 1}}
MOST_STUDIES = 2  # at once, since each begins in a process of its own


@dataclass
class Promised:
    """What the servers have acknowledged."""

    tables: dict[str, str] = field(default_factory=dict)  # names by id
    studies: dict[str, str] = field(default_factory=dict)
    removed: set[str] = field(default_factory=set)
    n_changes: int = 0


def run(folder, count, seed):
    """Kill servers of one project; each next one knows every table, study and name that was acknowledged."""
    context, rng, project = fork_server(), np.random.default_rng(seed), folder / "project"
    promised = Promised()
    for number in range(count + 1):
        port = 20_000 + int(rng.integers(30_000))
        victim = Victim(context, work.studio, project, port)
        assert victim.heard() == "started", f"kill {number}: the server does not start"
        note = json.loads((project / "token.json").read_text())
        headers = {"authorization": f"Bearer {note['token']}"}
        with httpx2.Client(base_url=note["address"], headers=headers, timeout=PATIENCE) as client:
            check(client, project, promised)
            if number < count:
                talk = Talk(client, number, promised)
                talk.start()
                time.sleep(rng.uniform(0, 0.5))
            victim.kill()
            if number < count:
                talk.join(PATIENCE)
                assert not talk.wrong, talk.wrong
    return f"{count} kills, {promised.n_changes} acknowledged changes: none lost, no file left of what was removed"


class Talk(threading.Thread):
    """Sends changes until the server is gone, and notes what it acknowledged."""

    def __init__(self, client, number, promised):
        super().__init__()
        self.client, self.number, self.promised = client, number, promised
        self.wrong = []

    def run(self):
        try:
            for turn in range(10_000):
                self._send_table(f"{self.number}-{turn}.csv")
                if turn % 3 == 2:
                    self._remove("tables")
                if turn % 4 == 1:
                    self._start_study()
                if turn % 4 == 3:
                    self._rename_study(f"{self.number}-{turn}")
        except httpx2.HTTPError:
            return  # the server was killed; what it was asked last is not known

    def _answer(self, expected, method, address, **content):
        answer = self.client.request(method, f"/api/{address}", **content)
        if answer.status_code not in expected:
            self.wrong.append(f"{method} {address}: {answer.status_code}: {answer.text}")
        self.promised.n_changes += 1
        return answer

    def _send_table(self, name):
        sent = self._answer({201}, "POST", "tables", params={"name": name}, content=TABLE.encode())
        self.promised.tables[sent.json()["id"]] = name

    def _remove(self, kind):
        names = getattr(self.promised, kind)
        oldest = next(iter(names))
        names.pop(oldest)  # until the answer is there, it may be gone or not
        self._answer({204, 404}, "DELETE", f"{kind}/{oldest}")
        self.promised.removed.add(oldest)

    def _start_study(self):
        if len(self.promised.studies) == MOST_STUDIES:
            self._answer({200, 404, 409}, "POST", f"studies/{next(iter(self.promised.studies))}/cancel")
            self._remove("studies")
        started = self._answer({201}, "POST", "studies", json=STUDY).json()
        self.promised.studies[started["id"]] = started["name"]

    def _rename_study(self, name):
        newest = list(self.promised.studies)[-1]
        self.promised.studies.pop(newest)  # until the answer is there, it may have either name
        self._answer({200}, "PATCH", f"studies/{newest}", json={"name": name})
        self.promised.studies[newest] = name


def check(client, project, promised):
    """All that was acknowledged is listed by its name, nothing that was removed is, and no other file is left."""
    for kind in ("tables", "studies"):
        found = {row["id"]: row["name"] for row in client.get(f"/api/{kind}").json()}
        assert getattr(promised, kind).items() <= found.items(), f"some of the acknowledged {kind} are lost"
        assert not promised.removed & found.keys(), f"some of the removed {kind} are back"
        folders = {path.name for path in (project / kind).glob("*")}
        assert folders <= found.keys(), f"files of removed or unfinished {kind} are left"
    for newest in list(promised.tables)[-1:]:
        answer = client.post(f"/api/tables/{newest}/preview", json={})
        assert answer.status_code == 200, answer.text
