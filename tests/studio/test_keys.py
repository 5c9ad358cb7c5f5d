import time

import pytest

from whynear.studio.guard import KEY_BYTES, Keys
from whynear.studio.store import Store


@pytest.fixture
def keys(tmp_path):
    store = Store(tmp_path / "state.db")
    yield Keys(store, 8777)
    store.close()


def test_a_link_works_once(keys):
    key = keys.new_link_key()
    session = keys.redeemed(key)
    assert session is not None
    assert keys.redeemed(key) is None
    assert keys.allows(f"other=1; {keys.cookie_name}={session}", None)


@pytest.mark.parametrize("key", ["", "x", "é", "a" * 10_000])
def test_an_unknown_link_gives_nothing(keys, key):
    keys.new_link_key()
    assert keys.redeemed(key) is None


def test_keys_have_256_bits_and_differ(keys):
    made = {keys.new_link_key() for _ in range(50)} | {keys.token}
    assert len(made) == 51
    assert KEY_BYTES * 8 == 256
    assert all(len(key) >= 43 for key in made)


@pytest.mark.parametrize(
    ("cookies", "authorization"),
    [
        (None, None),
        ("", None),
        ("whynear-studio-8777=wrong", None),
        ("whynear-studio-1={token}", None),
        ("whynear-studio-8777={token}", None),
        (None, "Bearer wrong"),
        (None, "Bearer"),
        (None, "Basic {token}"),
        (None, "{token}"),
        ("\0;;;=", None),
    ],
)
def test_a_wrong_key_or_none_is_refused(keys, cookies, authorization):
    filled = [None if text is None else text.format(token=keys.token) for text in (cookies, authorization)]
    assert not keys.allows(*filled)


def test_the_token_of_scripts_is_allowed_and_a_link_is_no_token(keys):
    link = keys.new_link_key()
    assert keys.allows(None, f"Bearer {keys.token}")
    assert not keys.allows(None, f"Bearer {link}")


def test_a_browser_is_known_after_a_restart_and_its_key_is_not_in_the_file(keys):
    session = keys.redeemed(keys.new_link_key())
    again = Keys(keys.store, 8777)
    assert again.allows(f"{again.cookie_name}={session}", None)
    assert again.token != keys.token
    assert session not in keys.store.sessions()
    assert session.encode() not in keys.store.path.read_bytes()


def test_a_browser_is_forgotten_after_a_month(keys, monkeypatch):
    session = keys.redeemed(keys.new_link_key())
    later = time.time() + 31 * 24 * 3600
    monkeypatch.setattr("whynear.studio.store.time.time", lambda: later)
    again = Keys(keys.store, 8777)
    assert not again.allows(f"{again.cookie_name}={session}", None)


def test_links_that_are_not_used_are_forgotten_in_the_end(keys):
    first = keys.new_link_key()
    for _ in range(100):
        keys.new_link_key()
    assert keys.redeemed(first) is None
