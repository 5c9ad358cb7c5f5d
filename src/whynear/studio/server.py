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
from whynear.studio.page import page_files
from whynear.studio.project import Project, copy_table
from whynear.studio.runner import Relearner, Runner
from whynear.studio.store import Refused
from whynear.studio.workshop import Studio

DESCRIPTION = (
    "Studies of tables, and questions to finished ones. Scripts send the token that the project keeps in token.json: "
    "Authorization: Bearer TOKEN."
)
STATUSES = (400, 401, 403, 404, 409, 413, 422, 507)


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
    app.add_exception_handler(Refused, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    for kind in (ValueError, TypeError, ImportError):
        app.add_exception_handler(kind, _bad_input)
    app.add_exception_handler(OSError, _not_stored)
    app.add_middleware(Guard, hosts=hosts_of(studio.address), keys=studio.keys)
    return app


def hosts_of(address: str) -> frozenset[str]:
    """Return the hosts that a browser may name in its requests.

    >>> sorted(hosts_of("http://127.0.0.1:8777"))
    ['127.0.0.1:8777', 'localhost:8777']
    """
    host = address.removeprefix("http://")
    return frozenset({host, f"localhost:{host.rpartition(':')[2]}"})


def _add_page(app: FastAPI) -> None:
    files = page_files()

    def show(path: str) -> Response:
        content, kind = files["index.html" if path == "" else path]
        return Response(content, media_type=kind)

    @app.get("/{path:path}", include_in_schema=False)
    def page(path: str) -> Response:
        return show(path) if path == "" or path in files else JSONResponse({"detail": "There is no such page."}, 404)


async def _refused(_request: Request, error: Exception) -> Response:
    assert isinstance(error, Refused), "it is registered for these"
    return JSONResponse({"detail": str(error)}, error.status)


async def _bad_input(_request: Request, error: Exception) -> Response:
    return JSONResponse({"detail": str(error)}, 400)


async def _not_stored(_request: Request, error: Exception) -> Response:
    assert isinstance(error, OSError), "it is registered for these"
    if error.errno == errno.ENOSPC:
        return JSONResponse({"detail": "The disk of the project is full. Free some space, and try again."}, 507)
    return JSONResponse({"detail": str(error)}, 500)


async def _invalid(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError), "it is registered for these"
    return JSONResponse({"detail": "; ".join(_sentence(one) for one in error.errors())}, 422)


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
        address = f"http://{HOST}:{listening.getsockname()[1]}"
        runner, relearner = Runner(project), Relearner(project)
        running += [runner, relearner]
        keys = Keys(project.store, listening.getsockname()[1])
        studio = Studio(project, runner, relearner, keys, address)
        if table is not None:
            _add(studio, table)
        _write_token(project.folder / TOKEN_FILE, address, keys.token)
        config = uvicorn.Config(
            make_app(studio),
            log_level="warning",
            access_log=False,
            server_header=False,
            ws="none",
            proxy_headers=False,
            timeout_graceful_shutdown=ENDING_SECONDS,
        )
        server = uvicorn.Server(config)
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
