"""Tiny tables, and what every answer of the command line to a faulty one must keep to."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from click.testing import Result

from tests.helpers.command_line import run

QUICK = ("--target", "y", "--learner", "grlvq", "--folds", "2", "--quiet")


class Studied(NamedTuple):
    """What a finished study left."""

    folder: Path
    content: dict[str, Any]
    relevance: pd.DataFrame
    notes: str

    @property
    def caveats(self) -> list[str]:
        return self.content["caveats"]

    @property
    def model(self) -> Path:
        return self.folder / "model.whynear"


def cases(n: int = 24) -> pd.DataFrame:
    """Rows of the classes u and v, which ``size`` tells apart; ``noise`` and ``drift`` say nothing."""
    rng = np.random.default_rng(0)
    is_v = np.arange(n) % 2
    columns = {"size": 3 * is_v + rng.normal(size=n), "noise": rng.normal(size=n), "drift": rng.normal(size=n)}
    return pd.DataFrame(columns).assign(y=np.where(is_v, "v", "u"))


def with_values(column: str, values: dict[int, object]) -> pd.DataFrame:
    """The cases with other values in some rows of a column."""
    return cases().assign(**{column: [values.get(row, value) for row, value in enumerate(cases()[column])]})


def write(folder: Path, table: pd.DataFrame | str | bytes, name: str = "cases.csv") -> Path:
    path = folder / name
    if isinstance(table, pd.DataFrame):
        table.to_csv(path, index=False)
    else:
        path.write_bytes(table.encode() if isinstance(table, str) else table)
    return path


def study(folder: Path, table: pd.DataFrame | str | bytes | Path, *words: object) -> Result:
    """Study a table into ``out``; the table stays as it was."""
    path = table if isinstance(table, Path) else write(folder, table)
    before = path.read_bytes()
    result = run("study", path, *QUICK, "--out", folder / "out", *words)
    assert path.read_bytes() == before
    return result


def studied(folder: Path, table: pd.DataFrame | str | bytes | Path, *words: object) -> Studied:
    """Study a table: it must work, leave whole files only, and no number of it may be missing."""
    result = study(folder, table, *words)
    assert result.exit_code == 0, result.output
    assert "Traceback" not in result.output
    assert all(line.startswith("Note: ") for line in result.stderr.splitlines())
    out = folder / "out"
    assert not [path.name for path in out.iterdir() if path.name.startswith(".") or path.is_dir()]
    content = json.loads((out / "study.json").read_text(), parse_constant=no_number)
    for part in ("relevance", "accuracy", "expected_scores", "profiles", "maps"):
        assert not has_gaps(content[part]), part
    relevance = pd.read_csv(out / "relevance.csv", index_col="feature")
    assert np.isfinite(relevance[["lower", "upper"]].to_numpy()).all()
    assert (relevance["lower"] <= relevance["upper"]).all()
    predictions = pd.read_csv(out / "predictions.csv")
    assert predictions["probability"].between(0, 1).all()
    assert len(predictions) == content["rows"]
    return Studied(out, content, relevance, result.stderr)


def refused(folder: Path, table: pd.DataFrame | str | bytes | Path, *words: object) -> str:
    """Study a table: it must be refused in one sentence, which is returned, before anything is written."""
    sentence = sentence_of(study(folder, table, *words))
    assert not (folder / "out").exists()
    return sentence


def sentence_of(result: Result) -> str:
    """The one sentence of an error; behind it only a command that would have worked may stand."""
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    sentence, *others = result.stderr.splitlines()
    assert len(others) <= 1
    assert all(line.startswith("Try: whynear ") for line in others)
    assert sentence.startswith("Error: ")
    assert "Traceback" not in result.output
    return sentence.removeprefix("Error: ")


def answer(*words: object) -> dict[str, Any]:
    """What a command prints as JSON."""
    result = run(*words, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout, parse_constant=no_number)


def no_number(name: str) -> float:
    raise AssertionError(f"{name} is no number of JSON")


def has_gaps(value: Any) -> bool:
    """Whether a null stands anywhere, which is what becomes of a NaN."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return value is None or any(map(has_gaps, inner))
