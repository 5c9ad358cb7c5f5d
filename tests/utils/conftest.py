import pytest

from tests.helpers.archives import ARRAYS, HEADER
from whynear.utils.archive import write_archive


@pytest.fixture
def good(tmp_path):
    path = tmp_path / "model.whynear"
    write_archive(path, HEADER, ARRAYS)
    return path
