import pytest

from tests.metric.archives import ARRAYS, HEADER
from whynear.metric.archive import write_archive


@pytest.fixture
def good(tmp_path):
    path = tmp_path / "model.whynear"
    write_archive(path, HEADER, ARRAYS)
    return path
