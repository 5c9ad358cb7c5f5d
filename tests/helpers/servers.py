"""The studio as users start it: a process of its own, found by the address that it prints."""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import time
from pathlib import Path
from urllib.parse import urlsplit

import httpx2

from tests.helpers.command_line import WHYNEAR

PATIENCE = 900  # seconds, on a busy machine


class Server:
    """A running studio."""

    def __init__(self, folder: Path, *words: str) -> None:
        command = [*WHYNEAR, "studio", *words, "--no-browser", "--folder", str(folder)]
        self.folder = folder
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+/\S*", line)
        assert found, line + self.process.stderr.read()
        self.link = found[0]
        self.port = urlsplit(self.link).port
        self.address = f"http://127.0.0.1:{self.port}"

    @property
    def token(self) -> str:
        return json.loads((self.folder / "token.json").read_text())["token"]

    def script(self) -> httpx2.Client:
        """A client with the token of scripts."""
        headers = {"authorization": f"Bearer {self.token}"}
        return httpx2.Client(base_url=self.address, headers=headers, timeout=PATIENCE)

    def browser(self) -> httpx2.Client:
        """A client without a key, which keeps cookies."""
        return httpx2.Client(base_url=self.address, timeout=PATIENCE)

    def raw(self, request: bytes) -> bytes:
        """Send bytes, and return what comes back until the server closes the connection."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as connection:
            connection.sendall(request)
            answer = b""
            with contextlib.suppress(ConnectionError):
                while piece := connection.recv(65_536):
                    answer += piece
            return answer

    def kill(self) -> None:
        """End the server without a chance to clean up."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(PATIENCE)
        self.process.stdout.close()
        self.process.stderr.close()


def wait_for(condition, what):
    """Wait until a function returns something true, and return that."""
    deadline = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < deadline, f"{what}: not within {PATIENCE} s"
        time.sleep(0.05)
    return found


def workers_of(folder: Path) -> list[int]:
    """The processes that work in the folder of a project, or were started by one that does."""
    found = []
    for place in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            number = int(place.name)
            if Path(os.readlink(place / "cwd")).is_relative_to(folder):
                found.append(number)
    return found
