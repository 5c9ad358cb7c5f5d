"""The server of the studio."""

from __future__ import annotations

import errno
import json
import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse

from whynear import __version__
from whynear.data.catalog import known_sets
from whynear.studio import routes
from whynear.studio.guard import Guard, Keys
from whynear.studio.models import Failure, NewStudy
from whynear.studio.project import Project, copy_table
from whynear.studio.routes import Studio
from whynear.studio.runner import Relearner, Runner
from whynear.studio.store import Refused

DESCRIPTION = (
    "Studies of tables, and questions to finished ones. Scripts send the token that the project keeps in token.json: "
    "Authorization: Bearer TOKEN."
)
STATUSES = (400, 401, 403, 404, 409, 413, 422, 507)
BUILT_PAGE = Path(__file__).parents[1] / "report" / "static"  # from TypeScript
KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}


def make_app(studio: Studio) -> FastAPI:
    """Return the application of a studio, behind its guard."""
    app = FastAPI(
        title="whynear studio",
        version=__version__,
        description=DESCRIPTION,
        openapi_url="/api/openapi.json",
        docs_url=None,  # they load scripts from elsewhere
        redoc_url=None,
        responses={status: {"model": Failure} for status in STATUSES},
    )
    app.state.studio = studio
    for router in (routes.router, routes.table_router, routes.case_router, routes.relearn_router):
        app.include_router(router)
    _add_page(app)
    for kind in (Refused, RequestValidationError, ValueError, TypeError, ImportError, OSError):
        app.add_exception_handler(kind, _failed)
    app.add_middleware(Guard, hosts=hosts_of(studio.address), keys=studio.keys)
    return app


def hosts_of(address: str) -> frozenset[str]:
    """Return the hosts that a browser may name in its requests.

    >>> sorted(hosts_of("http://127.0.0.1:8777"))
    ['127.0.0.1:8777', 'localhost:8777']
    """
    host = address.removeprefix("http://")
    return frozenset({host, f"localhost:{host.rpartition(':')[2]}"})


def page_files() -> dict[str, tuple[bytes, str]]:
    """Return the content and the type of each file of the page by its path; no other file can be requested."""
    found = [path for path in sorted(BUILT_PAGE.rglob("*")) if path.suffix in KINDS]
    return {path.relative_to(BUILT_PAGE).as_posix(): (path.read_bytes(), KINDS[path.suffix]) for path in found}


def _add_page(app: FastAPI) -> None:
    files = page_files()
    files[""] = files["index.html"]

    @app.get("/{path:path}", include_in_schema=False)
    def page(path: str) -> Response:
        if path not in files:
            return JSONResponse({"detail": "There is no such page."}, 404)
        return Response(files[path][0], media_type=files[path][1])


async def _failed(_request: Request, error: Exception) -> Response:
    """Respond with the message of an error, and the status that it means."""
    match error:
        case Refused():
            status, detail = error.status, str(error)
        case RequestValidationError():
            status, detail = 422, "; ".join(_sentence(one) for one in error.errors())
        case OSError(errno=errno.ENOSPC):
            status, detail = 507, "The disk of the project is full. Free some space, and try again."
        case _:
            status, detail = 500 if isinstance(error, OSError) else 400, str(error)
    return JSONResponse({"detail": detail}, status)


def _sentence(fault: Any) -> str:
    where = ".".join(str(part) for part in fault["loc"][1:])
    return f"{where or 'the body'}: {fault['msg']}"


HOST = "127.0.0.1"
PORTS_TRIED = 100
TOKEN_FILE = "token.json"
ENDING_SECONDS = 2


def free_socket(port: int) -> socket.socket:
    """Return a socket at a port of this machine; if it is in use, at the next free one."""
    last = min(port + PORTS_TRIED, 65_536)
    for number in range(port, last):
        listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if os.name == "posix":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # after a server that was killed
        try:
            listening.bind((HOST, number))
            listening.listen(128)
        except OSError:
            listening.close()
            continue
        return listening
    raise OSError(f"No port from {port} to {last - 1} is free. Choose another one (--port).")


def serve(
    table: str | None, folder: Path, port: int, started: Callable[[str], object], opened: Callable[[str], object] | None
) -> None:
    """Serve a project until the process is interrupted.

    Parameters
    ----------
    table : str, optional
        A file that is copied into the project, or the name of a data set; it is studied if the project is new.
    folder : Path
        The folder of the project.
    port : int
        The port, or the first one to try.
    started : callable
        Called with the address to open, which works once.
    opened : callable, optional
        Called with another such address, to open a browser.
    """
    listening = free_socket(port)
    project = Project(folder)
    running: list[Runner | Relearner] = []
    try:
        number = listening.getsockname()[1]
        address, keys = f"http://{HOST}:{number}", Keys(project.store, number)
        running += [runner := Runner(project), relearner := Relearner(project)]
        studio = Studio(project, runner, relearner, keys, address)
        if table is not None:
            _add(studio, table)
        _write_token(project.folder / TOKEN_FILE, address, keys.token)
        quiet = {"log_level": "warning", "access_log": False, "server_header": False, "proxy_headers": False}
        ending: dict[str, Any] = {**quiet, "timeout_graceful_shutdown": ENDING_SECONDS}
        server = uvicorn.Server(uvicorn.Config(make_app(studio), ws="none", **ending))
        with _ended_by_signals(server):
            started(studio.link())
            if opened is not None:
                opened(studio.link())
            server.run([listening])
    finally:
        for one in running:
            one.close()
        project.close()
        listening.close()


@contextmanager
def _ended_by_signals(server: uvicorn.Server) -> Iterator[None]:
    """End the server in order after Ctrl-C or a request to terminate, and raise KeyboardInterrupt then.

    The server listens to them only once it runs. An exception before that could be lost while it starts.
    """
    received: list[int] = []

    def end(number: int, _frame: object) -> None:
        received.append(number)
        server.should_exit = True

    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if received:
        raise KeyboardInterrupt


def _add(studio: Studio, table: str) -> None:
    """Add a table to the project; a data set by its name is studied, unless that was done before."""
    if table in {known.name for known in known_sets()} and not Path(table).exists():
        if not any(row["example"] == table for row in studio.store.studies()):
            studio.start(NewStudy(example=table))
        return
    copy_table(studio.project, Path(table))


def _write_token(path: Path, address: str, token: str) -> None:
    """Write the token for scripts, which only this user can read."""
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump({"address": address, "token": token}, file)
