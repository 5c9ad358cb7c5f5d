"""The page about the papers shows the values of the last reproduction, and no others."""

import json
from pathlib import Path

import pytest

from papers.catalog import EXPERIMENTS
from papers.page import write_page

DOCS = Path(__file__).parents[1] / "docs"


def test_the_page_is_made_of_the_outcomes(tmp_path):
    page = DOCS / "reproduction.md"
    written = page.read_text(encoding="utf-8")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "reproduction").symlink_to(DOCS / "reproduction")
    write_page(tmp_path / "docs" / "reproduction", tmp_path / "docs" / "reproduction.md")
    assert (tmp_path / "docs" / "reproduction.md").read_text(encoding="utf-8") == written


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_table_and_figure_is_there(name):
    folder = DOCS / "reproduction"
    outcome = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    plan = EXPERIMENTS[name]().plan
    measured = {(line["row"], line["column"]) for line in outcome["lines"] if line["ours"] is not None}
    missing = {(known.row, known.column) for known in plan.published} - measured
    assert all("adrenal" in row for row, _ in missing), missing  # data that are not available
    assert (folder / f"{name}.svg").read_text(encoding="utf-8").startswith("<svg")
    assert f"### {name}" in (DOCS / "reproduction.md").read_text(encoding="utf-8")
