"""The published values as data: one TOML file for each table and figure."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

Better = Literal["higher", "lower", "equal"]
DEFAULT_DIGITS = 3
PUBLISHED = Path(__file__).parent / "published"
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
    """One value of a table or figure, and the criterion for ours.

    Ours must reach `bound`. Without a bound, ours may be worse than the published value by at most `tolerance`. Without
    both there is no criterion.
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
    """A table or figure: what it shows, the settings of its cells, and the published values."""

    name: str
    title: str
    about: str
    rows: str
    digits: int
    settings: Mapping[str, Any]
    published: tuple[Published, ...]
    substitute: Mapping[str, str] | None
    differences: tuple[str, ...]

    @property
    def paper(self) -> str:
        """The key of the paper in `PAPERS`."""
        return self.name.partition("-")[0]


@cache
def load_plan(name: str) -> Plan:
    """Read the plan of a table or figure, for example of ``lann-fig1`` from ``published/lann-fig1.toml``."""
    content = tomllib.loads((PUBLISHED / f"{name}.toml").read_text(encoding="utf-8"))
    unknown = content.keys() - {*Plan.__annotations__, *Published.__annotations__, "values", "judged"}
    if unknown:
        raise ValueError(f"{name}.toml has unknown keys: {', '.join(sorted(unknown))}.")
    return Plan(
        name=name,
        title=content["title"],
        about=_one_line(content["about"]),
        rows=content.get("rows", ""),
        digits=content.get("digits", DEFAULT_DIGITS),
        settings=content.get("settings", {}),
        published=tuple(_published(content)),
        substitute={name: _one_line(text) for name, text in content["substitute"].items()}
        if "substitute" in content
        else None,
        differences=tuple(map(_one_line, content.get("differences", []))),
    )


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _published(content: dict[str, Any]) -> Iterator[Published]:
    """The values of all rows and columns; the top level of the file has the defaults of all rows."""
    for row in content.get("values", []):
        if unknown := row.keys() - {"row", "published", "better", "tolerance", "bound", "digits"}:
            raise ValueError(f"{row['row']!r} has unknown keys: {', '.join(sorted(unknown))}.")
        merged = content | row
        better = merged.get("better", "higher")
        if better not in get_args(Better):
            raise ValueError(f"better must be one of {', '.join(get_args(Better))}, got {better!r} instead.")
        for column, numbers in row["published"].items():
            value, deviation = (*numbers, None, None)[:2]
            is_judged = column in content.get("judged", [column])
            tolerance = merged.get("tolerance") if is_judged and value is not None else None
            yield Published(
                row=row["row"],
                column=column,
                value=value,
                deviation=deviation,
                tolerance=deviation if tolerance == "deviation" else tolerance,
                bound=merged.get("bound") if is_judged else None,
                better=better,
                digits=merged.get("digits", DEFAULT_DIGITS),
            )
