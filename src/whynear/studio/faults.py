"""Why the studio refuses a request, each with its HTTP status."""

from __future__ import annotations


class Refused(Exception):
    """A request that fails; the message gives the reason and the remedy."""

    status = 400


class NotFound(Refused):
    """There is nothing of that name."""

    status = 404


class WrongState(Refused):
    """The study is not at the stage that the request needs."""

    status = 409


class TooLarge(Refused):
    """What was sent is larger than the studio accepts."""

    status = 413
