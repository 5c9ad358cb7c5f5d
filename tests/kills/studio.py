"""Kills of the server of the studio while tables are sent and studies are started, renamed and removed."""

import json
import threading
import time

import httpx2
import numpy as np

from tests.kills import work
from tests.kills.processes import PATIENCE, Victim, fork_server

TABLE = "a,b,y\n" + "".join(f"{n % 7},{n % 5},{'u' if n % 2 else 'v'}\n" for n in range(30))


def run(folder, count, seed):
    """Kill servers of one project; each next one knows every table, study and name that was acknowledged."""
    context, rng, project = fork_server(), np.random.default_rng(seed), folder / "project"
    tables, removed, n_acknowledged = {}, set(), 0
    for number in range(count):
        port = 20_000 + int(rng.integers(30_000))
        victim = Victim(context, work.studio, project, port)
        assert victim.heard() == "started", f"kill {number}: the server does not start"
        note = json.loads((project / "token.json").read_text())
        headers = {"authorization": f"Bearer {note['token']}"}
        with httpx2.Client(base_url=note["address"], headers=headers, timeout=PATIENCE) as client:
            check(client, tables, removed)
            talk = Talk(client, number, tables, removed)
            talk.start()
            time.sleep(rng.uniform(0, 0.25))
            victim.kill()
            talk.join(PATIENCE)
            assert not talk.wrong, talk.wrong
            n_acknowledged += talk.n_acknowledged
    return f"{count} kills, {n_acknowledged} acknowledged changes: none lost"


class Talk(threading.Thread):
    """Sends changes until the server is gone, and notes what it acknowledged."""

    def __init__(self, client, number, tables, removed):
        super().__init__()
        self.client, self.number, self.tables, self.removed = client, number, tables, removed
        self.n_acknowledged, self.wrong = 0, []

    def run(self):
        try:
            for turn in range(10_000):
                self._send(f"{self.number}-{turn}.csv", turn)
        except httpx2.HTTPError:
            return  # the server was killed; what it was asked last is not known

    def _send(self, name, turn):
        answer = self.client.post("/api/tables", params={"name": name}, content=TABLE.encode())
        if answer.status_code != 201:
            self.wrong.append(f"{answer.status_code}: {answer.text}")
            return
        self.tables[answer.json()["id"]] = name
        self.n_acknowledged += 1
        if turn % 3 == 2:
            oldest = next(iter(self.tables))
            unsure = self.tables.pop(oldest)  # until the answer is there, it may be gone or not
            answer = self.client.delete(f"/api/tables/{oldest}")
            if answer.status_code not in (204, 404):
                self.wrong.append(f"{answer.status_code} for {unsure}: {answer.text}")
            self.removed.add(oldest)
            self.n_acknowledged += 1


def check(client, tables, removed):
    """Every acknowledged table is listed with its name, none that was removed is, and one can be read."""
    found = {row["id"]: row["name"] for row in client.get("/api/tables").json()}
    assert tables.items() <= found.items(), "an acknowledged table is lost"
    assert not removed & found.keys(), "a removed table is back"
    if tables:
        newest = list(tables)[-1]
        answer = client.post(f"/api/tables/{newest}/preview", json={})
        assert answer.status_code == 200, answer.text
