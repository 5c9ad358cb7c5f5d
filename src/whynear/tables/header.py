"""Column names from the header of a file, made unique and not empty."""

from collections import Counter

# The way out where the first row has fewer fields than the next.
BELOW_A_TITLE = "The names of the columns must come first: if there is a title above them, remove it from the file."


def distinct_names(header: list[str]) -> tuple[list[str], list[str]]:
    """Return names without blanks around them, none empty, none twice; and notes on what was changed."""
    names: list[str] = []
    given_out: set[str] = set()
    last_number: Counter[str] = Counter()
    taken = {name.strip() for name in header}
    for place, raw in enumerate(header, start=1):
        given = raw.strip()
        name = given or f"column_{place}"
        base = name
        while name in given_out or (name != given and name in taken):
            last_number[base] += 1
            name = f"{base}.{last_number[base]}"
        names.append(name)
        given_out.add(name)
    return names, notes_on_names(header, names)


def notes_on_names(header: list[str], names: list[str], *, but_first: bool = False) -> list[str]:
    """Return notes on the names that `distinct_names` changed, of all columns or of those behind the first."""
    suffixed, named = [], []
    for place, (raw, name) in enumerate(zip(header, names, strict=True), start=1):
        given = raw.strip()
        if place == 1 and but_first:
            continue
        if not given:
            named.append(f"column {place} is now {name!r}")
        elif name != given:
            suffixed.append(f"{given!r} (column {place}) is now {name!r}")
    notes = []
    if suffixed:
        notes.append(f"Duplicate column names were suffixed: {', '.join(suffixed)}.")
    if named:
        notes.append(f"Columns without a name were named: {', '.join(named)}.")
    return notes


def has_unnamed_first(header: list[str]) -> bool:
    """Return whether the first of several columns has no name."""
    return len(header) > 1 and not header[0].strip()
