"""Hostile tables given to ``predict``, ``explain`` and ``retrieve`` with a fitted model."""

import json
import math

import whynear as wn
from tests.endurance.fuzz.mutators import TOKENS, mutated
from tests.endurance.fuzz.tables import ODD, SEPARATORS, mixed, parquet_bytes, with_changed_cells, workbook_bytes
from tests.helpers.command_line import run

BAD_INPUT = 2


def given(table, rng, folder):
    """A table in a file of any kind, with cells, columns or bytes that were changed."""
    kind = rng.choice(("csv", "csv", "csv", "xlsx", "parquet"))
    if rng.random() < 0.3:
        names = list(table.columns)
        rng.shuffle(names)
        table = table[names[: rng.choice((len(names), len(names), len(names) - 1, 1))]]
    if kind == "parquet":
        if rng.random() < 0.7:
            values = ODD[rng.choice(sorted(ODD))]
            table = table.assign(**{str(rng.choice(list(table.columns))): [values[n % 3] for n in range(len(table))]})
        data = parquet_bytes(table, compression=None, index=False)
    elif kind == "xlsx":
        table = table.astype(object)
        cell = rng.randrange(len(table)), rng.randrange(table.shape[1])
        table.iloc[cell] = rng.choice((None, 1e300, "=1+1", True, "?"))
        data = workbook_bytes(table)
    else:
        data = with_changed_cells(table, rng).to_csv(index=False, sep=rng.choice(SEPARATORS)).encode()
    path = folder / f"mutant.{kind}"
    path.write_bytes(mutated(data, rng) if rng.random() < 0.3 else data)
    return path


def answered(*words):
    """The answer of a command as JSON; what it refuses is raised as it was raised inside."""
    found = run(*words, "--json", "--debug")
    if found.exit_code == 0:
        return json.loads(found.stdout)
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    raise AssertionError(f"exit code {found.exit_code}: {found.output}")


def check_sentence(*words):
    """Without --debug, a refusal is one sentence and code 2."""
    found = run(*words)
    if not isinstance(found.exception, SystemExit | None):
        raise found.exception
    assert found.exit_code in (0, BAD_INPUT), found.output
    lines = [line for line in found.stderr.splitlines() if line.startswith("Error: ")]
    assert len(lines) == (found.exit_code == BAD_INPUT), found.output
    assert "Traceback" not in found.output
    return "accepted" if found.exit_code == 0 else "refused"


def is_finite(value):
    """Whether there is no NaN and no infinity in what JSON holds."""
    if isinstance(value, dict):
        return all(map(is_finite, value.values()))
    if isinstance(value, list):
        return all(map(is_finite, value))
    return not isinstance(value, float) or math.isfinite(value)


def save_model(folder, learner, target="y"):
    """Fit a learner to the mixed table, with its encoder, and save it."""
    path = folder / f"{learner}-{target}.whynear"
    table = mixed() if target == "y" else mixed().dropna()
    wn.save(wn.learn_table(table, target, learner=learner, reading=wn.Reading(drop=("day",))).model, path)
    return path


def predict(folder):
    """Tables to predict."""
    models = [save_model(folder, "gmlvq"), save_model(folder, "lann"), save_model(folder, "auto", "size")]
    table = mixed()

    def trial(rng):
        path = given(table, rng, folder)
        words = ["predict", rng.choice(models), path, *rng.choice(([], [], [], ["--index", "id"]))]
        if rng.random() < 0.1:
            return check_sentence(*words)
        if rng.random() < 0.1:
            return check_sentence(*words, "--out", folder / f"out{rng.choice(('.csv', '.parquet'))}")
        found = answered(*words)["predictions"]
        assert found
        assert is_finite(found)
        return "accepted"

    return trial


def explain(folder):
    """A row of a table to explain."""
    models = [save_model(folder, "gmlvq"), save_model(folder, "lann"), save_model(folder, "auto", "size")]
    table = mixed(8)

    def trial(rng):
        path = given(table, rng, folder)
        row = rng.choice(("1", "3", "3", "8", "9", "-1", "case 2", rng.choice(TOKENS).decode(errors="replace")))
        words = ["explain", rng.choice(models), path, f"--row={row}", *rng.choice(([], [], ["--index", "id"]))]
        if rng.random() < 0.1:
            return check_sentence(*words)
        assert is_finite(answered(*words))
        return "accepted"

    return trial


def retrieve(folder):
    """Tables whose rows are added to a case base, or looked for in one."""
    metric = folder / "metric.whynear"
    wn.save(wn.DiagonalMetric([1.0, 2.0, 0.5], ["size", "count", "weight"]), metric)
    table = mixed().assign(weight=range(24), size=range(24))
    return retrieval_trial(folder, table, metric, "size={},count=2,weight=3")


def retrieve_encoded(folder):
    """The same with categories and missing values, by a model with an encoder."""
    model = save_model(folder, "gmlvq")
    columns = [str(name) for name in wn.load(model)[0].feature_names_in_]
    values = ",".join(f"{name}={{}}" if place % 2 else f"{name}=" for place, name in enumerate(columns))
    return retrieval_trial(folder, mixed(), model, values)


def retrieval_trial(folder, table, metric, values):
    """Rows of hostile tables are added or looked for; ``{}`` in the values becomes a hostile text."""
    path = folder / "good.csv"
    table.to_csv(path, index=False)
    good = folder / "good.cases"
    assert run("retrieve", good, "--build", path, "--metric", metric, "--index", "id").exit_code == 0

    def trial(rng):
        path = given(table, rng, folder)
        named = rng.choice(([], [], ["--index", "id"]))
        token = rng.choice(TOKENS).decode(errors="replace")
        if rng.random() < 0.4:
            for old in folder.glob("mutant.cases*"):
                old.unlink()
            asked = [folder / "mutant.cases", "--build", path, "--metric", metric, *named]
        elif rng.random() < 0.7:
            asked = [good, "--query", path, f"--row={rng.choice(('1', '5', 'case 3', token))}", *named]
        else:
            asked = [good, f"--values={values.replace('{}', token)}"]
        words = ["retrieve", *asked, *rng.choice(([], ["--explain"]))]
        if rng.random() < 0.1:
            return check_sentence(*words)
        assert is_finite(answered(*words))
        return "accepted"

    return trial


READERS = {"predict": predict, "explain": explain, "retrieve": retrieve, "retrieve-encoded": retrieve_encoded}
