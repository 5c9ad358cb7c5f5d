import pytest

from tests.helpers.partitions import in_this_process


@pytest.fixture(autouse=True)
def _without_workers():
    with in_this_process():
        yield
