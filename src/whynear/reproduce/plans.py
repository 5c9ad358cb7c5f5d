"""What the papers print, as data: one TOML file for each table and figure."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal, get_args

Better = Literal["higher", "lower", "equal"]
DIGITS = 3
PAPERS = {
    "strickert": "Strickert, Hammer, Villmann, Biehl: Regularization and improved interpretation of linear data "
    "mappings and adaptive distance measures, 2013",
    "schulz": "Schulz, Mokbel, Biehl, Hammer: Inferring feature relevances from metric learning, 2015",
    "slider": "Gopal, Ioerger: Distance metric learning through optimization of ranking",
    "lann": "Göpfert, Wersing, Hammer: Interpretable locally adaptive nearest neighbors, 2021",
    "beyond": "Beyond the papers",
}


@dataclass(frozen=True)
class Published:
    """One value of a table or figure, and what is asked of ours.

    `bound` is what ours must reach where the paper states no number; otherwise ours may be worse than the published
    value by `tolerance`. With neither it is shown and not judged.
    """

    row: str
    column: str
    value: float | None
    deviation: float | None
    tolerance: float | None
    bound: float | None
    better: Better
    digits: int


@dataclass(frozen=True)
class Plan:
    """A table or figure: what it shows, how it is made, and what the paper prints."""

    name: str
    title: str
    about: str
    rows: str
    digits: int
    settings: Mapping[str, Any]
    published: tuple[Published, ...]
    stand_in: Mapping[str, str] | None
    differs: tuple[str, ...]

    @property
    def paper(self) -> str:
        """The key of `PAPERS`."""
        return self.name.partition("-")[0]


@cache
def plan(name: str) -> Plan:
    """The plan in ``<paper>/<place>.toml``, for example ``lann-fig1`` in ``lann/fig1.toml``."""
    paper, _, place = name.partition("-")
    told = tomllib.loads(files("whynear.reproduce").joinpath(paper, f"{place}.toml").read_text(encoding="utf-8"))
    unknown = told.keys() - {*Plan.__annotations__, *Published.__annotations__, "values", "judged"}
    if unknown:
        raise ValueError(f"{name}.toml has keys that mean nothing: {', '.join(sorted(unknown))}.")
    return Plan(
        name=name,
        title=told["title"],
        about=_one_line(told["about"]),
        rows=told.get("rows", ""),
        digits=told.get("digits", DIGITS),
        settings=told.get("settings", {}),
        published=tuple(_published(told)),
        stand_in={name: _one_line(text) for name, text in told["stand_in"].items()} if "stand_in" in told else None,
        differs=tuple(map(_one_line, told.get("differs", []))),
    )


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _published(told: dict[str, Any]) -> Iterator[Published]:
    """One for each row and column; what a row leaves out, the file says for all."""
    for row in told.get("values", []):
        if unknown := row.keys() - {"row", "published", "better", "tolerance", "bound", "digits"}:
            raise ValueError(f"{row['row']!r} has keys that mean nothing: {', '.join(sorted(unknown))}.")
        asked = told | row
        better = asked.get("better", "higher")
        if better not in get_args(Better):
            raise ValueError(f"better must be one of {', '.join(get_args(Better))}, got {better!r} instead.")
        for column, numbers in row["published"].items():
            value, deviation = (*numbers, None, None)[:2]
            is_judged = column in told.get("judged", [column])
            tolerance = asked.get("tolerance") if is_judged and value is not None else None
            yield Published(
                row=row["row"],
                column=column,
                value=value,
                deviation=deviation,
                tolerance=deviation if tolerance == "deviation" else tolerance,
                bound=asked.get("bound") if is_judged else None,
                better=better,
                digits=asked.get("digits", DIGITS),
            )
