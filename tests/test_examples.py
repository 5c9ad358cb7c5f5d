"""The notebooks are what their scripts say, ran without complaint, and tell nothing of the machine they ran on."""

import json
import re

import pytest
from examples.execute import FOLDER, LARGEST, NAMES, cells_of

SCRIPTS = sorted(set(FOLDER.glob("*.py")) - {FOLDER / "execute.py", FOLDER / "__init__.py"})
MACHINE = re.compile(r"/(work|tmp|root|home|usr|opt)\b|site-packages|\b[A-Z]:\\")


def notebook(name):
    return json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))


def texts(output):
    """What an output says, but for the bytes of figures."""
    kinds = {kind: text for kind, text in output.get("data", {}).items() if not kind.startswith("image/")}
    return [*kinds.values(), output.get("text", "")]


def test_every_script_is_made_into_a_notebook():
    assert sorted(path.stem for path in SCRIPTS) == sorted(NAMES)


def test_cells_are_told_apart():
    script = "# before\n# %% [markdown]\n# # Title\n#\n# text\n\n# %%\nx = 1\n\n# a comment\ny = 2\n"
    assert cells_of(script) == [("markdown", "# Title\n\ntext"), ("code", "x = 1\n\n# a comment\ny = 2")]


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_has_the_cells_of_its_script_all_of_them_run(name):
    cells = notebook(name)["cells"]
    script = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    assert [(cell["cell_type"], "".join(cell["source"])) for cell in cells] == cells_of(script)
    counts = [cell["execution_count"] for cell in cells if cell["cell_type"] == "code"]
    assert counts == list(range(1, len(counts) + 1))


@pytest.mark.parametrize("name", NAMES)
def test_no_output_complains_or_tells_of_the_machine(name):
    for cell in notebook(name)["cells"]:
        for output in cell.get("outputs", []):
            assert output["output_type"] != "error"
            assert output.get("name") != "stderr"
            assert not [text for text in texts(output) if MACHINE.search("".join(text))]


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_is_small_and_says_where_its_data_come_from(name):
    assert (FOLDER / f"{name}.ipynb").stat().st_size < LARGEST
    first = "".join(notebook(name)["cells"][0]["source"])
    assert "WHYNEAR_DATA" in first or "scikit-learn" in first
