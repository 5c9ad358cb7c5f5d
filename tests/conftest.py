import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import settings

from tests.helpers.blank_figures import save_empty

# Derandomised: the same examples on every run, so that a failure is one everybody sees.
settings.register_profile("whole", derandomize=True, deadline=None, max_examples=60)
settings.register_profile("quick", settings.get_profile("whole"), max_examples=15)
settings.load_profile("whole")

# A shell lets what it starts in the background ignore interrupts, and all processes that this starts would do the same.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Keep pynndescent and UMAP, which compile for a minute, out of tests that are not marked slow."""
    with pytest.MonkeyPatch.context() as patch:
        if item.get_closest_marker("slow") is None:
            for name in ("pynndescent", "umap"):
                patch.setitem(sys.modules, name, None)  # importing it fails
        return (yield)


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(scope="module", params=["blank", pytest.param("drawn", marks=pytest.mark.slow)])
def figures(request):
    """Studies with blank figures, and once more, in slow tests, with what is drawn on them."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "blank":
            patch.setattr("matplotlib.figure.Figure.savefig", save_empty)
        yield request.param


@pytest.fixture
def blank_figures(monkeypatch):
    """Studies with blank figures, where neither tables nor figures are the subject."""
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", save_empty)


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder with the real data sets."""
    folder = os.environ.get("WHYNEAR_DATA")
    if not folder:
        pytest.skip("needs the real data sets: set WHYNEAR_DATA to the folder with their .npz files")
    return Path(folder)
