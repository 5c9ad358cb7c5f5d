"""What a report contains: the text that is read without scripts, and the data that its script shows."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np


def markup_of(page: str | Path) -> str:
    """The markup without styles and scripts."""
    text = page.read_text(encoding="utf-8") if isinstance(page, Path) else page
    return re.sub(r"<(style|script)[^>]*>.*?</\1>", "", text, flags=re.DOTALL)


def words_of(page: str | Path) -> str:
    """The text that is read without scripts."""
    return re.sub(r"<[^>]*>", " ", markup_of(page))


def widened(data: dict[str, Any], n_features: int, seed: int = 0) -> dict[str, Any]:
    """The data of a page with so many features: those it has, and others that say nothing."""
    rng = np.random.default_rng(seed)
    held = dict(data["features"])
    n_more = n_features - len(held["names"])
    held["names"] = [f"gene {place}" for place in range(n_features)]
    held["verdict"] += "n" * n_more
    held["order"] = [*held["order"], *range(n_features - n_more, n_features)]
    for name, most in {"loss": 0.5, "error": 0.5, "stability": 1.0, "lower": 0.01, "upper": 0.02}.items():
        held[name] = [*held[name], *rng.uniform(0, most, n_more).round(3).tolist()]
    return data | {"features": held}


def data_of(page: str | Path) -> dict[str, Any]:
    """The data inside the page."""
    text = page.read_text(encoding="utf-8") if isinstance(page, Path) else page
    found = re.search('<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    return json.loads(found[1])
