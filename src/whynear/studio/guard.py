"""Who may use the studio: keys, hosts and origins."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from threading import Lock
from typing import Any
from urllib.parse import parse_qs

from whynear.studio.store import Store

KEY_BYTES = 32  # 256 bits
COOKIE = "whynear-studio"  # and the port, since the cookies of a host are sent to all its ports
MOST_LINKS = 100  # not yet used; the oldest are removed


class Keys:
    """The keys of one server. Of those of browsers only digests are kept, so that they survive a restart."""

    def __init__(self, store: Store, port: int) -> None:
        self.store, self.cookie_name = store, f"{COOKIE}-{port}"
        self.token = secrets.token_urlsafe(KEY_BYTES)
        self._lock = Lock()
        self._links: list[str] = []
        self._sessions = store.sessions()

    def new_link_key(self) -> str:
        """Return a key for a link, which can be redeemed once."""
        key = secrets.token_urlsafe(KEY_BYTES)
        with self._lock:
            self._links = [*self._links[-MOST_LINKS + 1 :], _digest(key)]
        return key

    def redeemed(self, key: str) -> str | None:
        """Return the key of a new session for that of a link, which does not work again; None if it is unknown."""
        with self._lock:
            if (place := _place(key, self._links)) is None:
                return None
            del self._links[place]
            session = secrets.token_urlsafe(KEY_BYTES)
            self._sessions.append(_digest(session))
        self.store.add_session(_digest(session))
        return session

    def allows(self, cookies: str | None, authorization: str | None) -> bool:
        """Return whether a request has the cookie of a session, or the token of this server."""
        if authorization is not None:
            kind, _, token = authorization.partition(" ")
            return kind.lower() == "bearer" and _place(token.strip(), [_digest(self.token)]) is not None
        try:
            session = SimpleCookie(cookies or "").get(self.cookie_name)
        except CookieError:
            return False
        return session is not None and _place(session.value, self._sessions) is not None


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()


def _place(key: str, digests: list[str]) -> int | None:
    """Return the place of a key among digests; the time does not depend on where they differ."""
    wanted, place = _digest(key), None
    for number, known in enumerate(digests):
        if hmac.compare_digest(wanted, known):
            place = number
    return place


Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

SAFE_METHODS = ("GET", "HEAD")
OWN_PAGES = ("same-origin", "none")  # of Sec-Fetch-Site; "none" is what the user opens
MOST_BODY_BYTES = 1 << 20  # of a request that is no table
UPLOADS = "/api/tables"
POLICY = (
    "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
ENTRY = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=/">'
    '<link rel="icon" href="/icon.svg"><title>whynear studio</title><p><a href="/">Open the studio</a></p></html>'
)
NO_KEY = (
    "This page needs a link that works once. Open the address that whynear studio has printed, or start it again "
    "for a new one. Scripts send the token of the project: Authorization: Bearer TOKEN."
)


class Guard:
    """Lets a request through if it comes from the studio's own page or a script with the token.

    Refused are, in this order: another host (400: a foreign name that points here), another origin (403: a foreign
    page), no key or a wrong one (401), and a body that is too large (413).
    """

    def __init__(self, app: App, hosts: frozenset[str], keys: Keys) -> None:
        self.app, self.hosts, self.keys = app, hosts, keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to one request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # there is no other protocol here
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = _headers(scope)
        if (refusal := self._refusal(scope, headers)) is not None:
            await _answer(send, *refusal)
            return
        opened = scope["query_string"].decode("latin-1") if (scope["path"], scope["method"]) == ("/", "GET") else ""
        if links := parse_qs(opened).get("token"):
            await self._enter(send, links[0])
            return
        if not self.keys.allows(headers.get("cookie"), headers.get("authorization")):
            await _answer(send, 401, NO_KEY)
            return
        if scope["path"] == UPLOADS:
            await self.app(scope, receive, _with_headers(send))
            return
        await _limited(self.app, scope, receive, _with_headers(send), headers.get("content-length"))

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        host = headers.get("host", "")
        if host.lower() not in self.hosts:
            return 400, f"The studio does not answer for the host {host[:100]!r}. Open the address that it has printed."
        safe = scope["method"] in SAFE_METHODS
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        if origin is not None and origin.lower() not in {f"http://{name}" for name in self.hosts}:
            return 403, "Another page may not talk to the studio."
        if site is not None and site not in OWN_PAGES and not (safe and scope["path"] == "/"):
            return 403, "Another page may not talk to the studio."
        return None

    async def _enter(self, send: Send, key: str) -> None:
        """Give a browser that opened a link its cookie; it then opens the page without the key in its address."""
        session = self.keys.redeemed(key)
        if session is None:
            await _answer(send, 401, "This link has been used or is not known. " + NO_KEY)
            return
        cookie = f"{self.keys.cookie_name}={session}; Path=/; HttpOnly; SameSite=Strict"
        await _answer(send, 200, ENTRY, {"set-cookie": cookie, "content-type": "text/html; charset=utf-8"})


def _headers(scope: Scope) -> dict[str, str]:
    """Return the headers by name; of repeated ones the values are joined, so that none is overlooked."""
    found: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found


async def _answer(send: Send, status: int, text: str, headers: dict[str, str] | None = None) -> None:
    made = {"content-type": "application/json", **HEADERS, **(headers or {})}
    body = (text if "html" in made["content-type"] else json.dumps({"detail": text})).encode()
    made["content-length"] = str(len(body))
    pairs = [(name.encode(), value.encode("latin-1")) for name, value in made.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})


def _with_headers(send: Send) -> Send:
    """Return what sends a response with the headers of all responses; those that it has itself stay."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = {name.lower() for name, _ in message["headers"]}
            more = [(name.encode(), value.encode()) for name, value in HEADERS.items() if name.encode() not in own]
            message["headers"] = [*message["headers"], *more]
        await send(message)

    return sent


async def _limited(app: App, scope: Scope, receive: Receive, send: Send, announced: str | None) -> None:
    """Pass the request to the app, unless the body is too large."""
    refusal = 413, f"A request may have {MOST_BODY_BYTES:,} bytes."
    if announced is not None and (not announced.isdigit() or int(announced) > MOST_BODY_BYTES):
        await _answer(send, *refusal)
        return
    received, refused = 0, False

    async def counted() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        return {"type": "http.disconnect"} if received > MOST_BODY_BYTES else message

    async def sent(message: Message) -> None:
        nonlocal refused
        if received <= MOST_BODY_BYTES:
            await send(message)
        elif not refused:
            refused = True
            await _answer(send, *refusal)

    await app(scope, counted, sent)
