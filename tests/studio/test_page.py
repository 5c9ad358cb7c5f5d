import json

import pytest

from tests.helpers.studies import small_study, with_rows
from whynear.report.page_cases import packed_rows
from whynear.studio import server, worker


def test_the_data_of_the_page_are_plain_json(tmp_path):
    worker.write_page_data(small_study(), tmp_path)
    held = json.loads((tmp_path / worker.DATA_FILE).read_text())
    assert [sentence for sentence, _ in held["finding"]["sentences"]] == list(small_study().findings.sentences)


def test_rows_beside_the_cases_are_a_file_of_their_own(tmp_path):
    study = with_rows(small_study(), 40_000)
    worker.write_page_data(study, tmp_path)
    assert json.loads((tmp_path / worker.DATA_FILE).read_text())["others"] == {"total": 40_000, "count": 15_000}
    expected = packed_rows(study.others, ["setosa", "versicolor", "virginica"])
    assert (tmp_path / worker.POINTS_FILE).read_bytes() == expected


def test_the_page_has_no_inline_script_and_loads_nothing_from_elsewhere():
    files = server.page_files()
    text = files["index.html"][0].decode()
    assert "<script>" not in text
    assert "//" not in text.replace("</", "")
    assert b"/api" in files["page.js"][0]


def test_what_the_page_names_is_served_and_nothing_else_of_the_folder(tmp_path, monkeypatch):
    files = server.page_files()
    for name in ("page.css", "page.js", "icon.svg"):
        assert f'"/{name}"' in files["index.html"][0].decode()
        assert files[name][0]
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("built")
    (tmp_path / "assets" / "app.js").write_text("1")
    (tmp_path / "secret.py").write_text("1")
    monkeypatch.setattr(server, "BUILT_PAGE", tmp_path)
    assert set(server.page_files()) == {"index.html", "assets/app.js"}


@pytest.mark.parametrize("ending", [".html", ".js", ".css"])
def test_files_have_types(ending):
    assert server.KINDS[ending].startswith("text/")
