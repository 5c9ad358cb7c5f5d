import json

import whynear as wn
from tests.helpers.slow_memory import drifting_stream
from whynear.stream.results import StreamResult, write_result


def test_the_files_hold_what_was_counted_and_a_name_is_no_markup(tmp_path):
    X, y = drifting_stream(0, n=300)
    model = wn.SelfAdjustingMemory(max_size=100).partial_fit(X, y)
    result = StreamResult("<b>.csv", "y", 300, 299, 200, 220, 2, 1, 0, model.history, model)
    write_result(result, tmp_path)
    found = json.loads((tmp_path / "stream.json").read_text())
    assert found["n_late"] == 2
    assert found["accuracy"] == 200 / 299
    assert "Predicting no change is better here." in found["finding"]
    assert "2 late rows, 1 repeated row left out." in found["finding"]
    page = (tmp_path / "report.html").read_text()
    assert "&lt;b&gt;.csv" in page
    assert "<b>" not in page
    assert "<svg" in page
    assert len((tmp_path / "history.csv").read_text().splitlines()) == 4
    assert wn.load(tmp_path / "model.whynear").n_seen_ == 300
