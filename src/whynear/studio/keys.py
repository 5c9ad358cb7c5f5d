"""Access to the studio: a link that works once, the cookie that it gives a browser, and a token for scripts."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from http.cookies import CookieError, SimpleCookie
from threading import Lock

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
        session = self._session(cookies)
        return session is not None and _place(session, self._sessions) is not None

    def _session(self, cookies: str | None) -> str | None:
        try:
            found = SimpleCookie(cookies or "").get(self.cookie_name)
        except CookieError:
            return None
        return None if found is None else found.value


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()


def _place(key: str, digests: list[str]) -> int | None:
    """Return the place of a key among digests; the time does not depend on where they differ."""
    wanted, place = _digest(key), None
    for number, known in enumerate(digests):
        if hmac.compare_digest(wanted, known):
            place = number
    return place
