"""Bytes, archives and JSON values with something changed in them."""

import zipfile
from copy import deepcopy
from io import BytesIO

SPECIAL = [0, 1, 0x22, 0x27, 0x2C, 0x2D, 0x2E, 0x3B, 0x0A, 0x0D, 0x7F, 0x80, 0xC3, 0xD8, 0xFE, 0xFF]
TOKENS = [
    b"", b'"', b'""', b"\n", b"\r", b"\r\n", b"\0", b",", b";", b"\t", b"|", b"nan", b"NaN", b"inf", b"-inf", b"1e308",
    b"-1e308", b"1e-320", b"1e400", b"9" * 19, b"9" * 310, b"-0", b"007", b"1.234", b"1,5", b"31%", b"0x1F", b"1_000",
    b"true", b"None", b"<b>", b"=1+1", b"../x", b"{}", b"[]", b"[" * 2000, b"2020-01-02", b"30.02.2021", b"99999-01-01",
    b"12:60", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\xed\xa0\x80", b"\xe2\x80\xae", b"\xc2\xa0", b"\xcc\x81",
    b"\xd9\xa1", b"\xf0\x9f\x98\x80", b"y" * 70_000, b"0" * 20, b"1e5", b"+", b"-", b".", b"e", b"?", b"-999",
]  # fmt: skip
VALUES = [
    None, True, False, 0, 1, -1, 2, 2**31, 2**63, 2**64, -(2**70), 10**400, 0.5, -0.0, 1e308, 1e-320, 1e30,
    float("nan"), float("inf"), "", "a", "0", "nan", "x" * 5_000, "\ud800", "\0", "../x", "auto", "euclidean", [],
    [[]], [None], {}, [1, 2], {"float": "nan"}, {"float": "inf"}, {"tuple": []}, {"dict": []}, {"dtype": "O"},
    {"labels": [], "shape": [0], "dtype": "O"}, {"number": "object"}, {"slice": [0, None, -1]},
]  # fmt: skip


def mutated(data: bytes, rng, other: bytes = b"") -> bytes:
    """Return bytes with one to four changes; ``other`` is what is spliced in."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        data = rng.choice(CHANGES)(data, rng, other or data)
    return data


def _place(data, rng):
    return rng.randrange(len(data) + 1)


def _span(data, rng):
    begin = _place(data, rng)
    return begin, min(len(data), begin + rng.choice((1, 2, 4, 8, 40, 400)))


def flip(data, rng, _other):
    """Flip a bit."""
    changed = bytearray(data)
    if changed:
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def put(data, rng, _other):
    """Write another byte in the place of one."""
    place = _place(data, rng)
    return data[:place] + bytes([rng.choice((*SPECIAL, rng.randrange(256)))]) + data[place + 1 :]


def insert(data, rng, _other):
    """Insert a token, in the place of some bytes or between two."""
    begin, end = _span(data, rng)
    return data[:begin] + rng.choice(TOKENS) + data[rng.choice((begin, end)) :]


def delete(data, rng, _other):
    """Leave out some bytes."""
    begin, end = _span(data, rng)
    return data[:begin] + data[end:]


def duplicate(data, rng, _other):
    """Repeat some bytes, once or many times."""
    begin, end = _span(data, rng)
    return data[:end] + data[begin:end] * rng.choice((1, 1, 2, 50)) + data[end:]


def truncate(data, rng, _other):
    """Leave out the end."""
    return data[: _place(data, rng)]


def splice(data, rng, other):
    """Put a part of other bytes in the place of a part of these."""
    (begin, end), (first, last) = _span(data, rng), _span(other, rng)
    return data[:begin] + other[first:last] + data[end:]


CHANGES = (flip, put, put, insert, insert, delete, duplicate, truncate, splice)


def mutated_zip(data: bytes, rng) -> bytes:
    """Return a zip file one part of which was changed before it was packed, so that its checksums are right."""
    with zipfile.ZipFile(BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    chosen = rng.choice(sorted(parts))
    parts[chosen] = mutated(parts[chosen], rng, parts[rng.choice(sorted(parts))])
    if rng.random() < 0.05:
        del parts[rng.choice(sorted(parts))]
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return packed.getvalue()


def changed_value(value, rng):
    """Return a JSON value with one to three of its nodes replaced, removed or repeated."""
    value = deepcopy(value)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        value = _changed(value, rng)
    return value


def _changed(value, rng):
    holders = [node for node in _nodes(value) if isinstance(node, (dict, list)) and node]
    if not holders or rng.random() < 0.02:
        return deepcopy(rng.choice(VALUES))
    holder = rng.choice(holders)
    key = rng.choice(sorted(holder, key=str)) if isinstance(holder, dict) else rng.randrange(len(holder))
    match rng.randrange(6):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, list):
            holder.insert(key, deepcopy(holder[key]))
        case 1:
            holder[rng.choice(("x", "", "__class__", "dtype"))] = deepcopy(holder[key])
        case 2 if isinstance(holder[key], (int, float)) and not isinstance(holder[key], bool):
            holder[key] = rng.choice((holder[key] + 1, -holder[key], holder[key] * 1_000, 0, 1e30, holder[key] // 3))
        case 2 if isinstance(holder[key], str):
            holder[key] = mutated(holder[key].encode(errors="surrogatepass"), rng).decode(errors="replace")
        case 3:
            holder[key] = deepcopy(rng.choice(list(_nodes(value))))
        case _:
            holder[key] = deepcopy(rng.choice(VALUES))
    return value


def _nodes(value):
    yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _nodes(inner)
