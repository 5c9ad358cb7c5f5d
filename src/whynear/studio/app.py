"""The application: its routes, the page, and errors as sentences."""

from __future__ import annotations

import errno
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse

from whynear import __version__
from whynear.studio import live_routes, relearn_routes, study_routes, table_routes
from whynear.studio.faults import Refused
from whynear.studio.guard import Guard
from whynear.studio.page import page_files
from whynear.studio.studio import Studio
from whynear.studio.study_models import Failure

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
    for routes in (study_routes, table_routes, live_routes, relearn_routes):
        app.include_router(routes.router)
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
