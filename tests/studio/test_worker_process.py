import os

import pytest

from whynear.studio.runner import LOG, TEMPORARY, clear_worker, end_worker, events_in, start_worker


def test_lines_that_were_cut_off_are_no_events():
    assert list(events_in(['{"event": "prog', "", '{"event": "stopped"}'])) == [{"event": "stopped"}]


def test_a_worker_gets_its_job_and_leaves_nothing_but_its_log(tmp_path, monkeypatch):
    text = "import os, sys; print(sys.stdin.readline()); print(os.environ['TMPDIR'], file=sys.stderr)"
    monkeypatch.setattr("whynear.studio.runner.WORKER", ["-c", text])
    process = start_worker(tmp_path, {"table": "iris"})
    assert list(events_in(process.stdout)) == [{"table": "iris"}]
    assert clear_worker(process, tmp_path) == 0
    assert (tmp_path / LOG).read_text().strip() == str(tmp_path / TEMPORARY)
    assert [path.name for path in tmp_path.iterdir()] == [LOG]


def test_a_worker_that_does_not_end_by_itself_is_killed(tmp_path, monkeypatch):
    monkeypatch.setattr("whynear.studio.runner.ENDING_SECONDS", 0.05)
    text = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('{}', flush=True); time.sleep(600)"
    )
    monkeypatch.setattr("whynear.studio.runner.WORKER", ["-c", text])
    process = start_worker(tmp_path, {})
    next(events_in(process.stdout))
    end_worker(process)
    assert clear_worker(process, tmp_path) != 0
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)
