import pytest

LIMITS = {"factor": 3.0}
FACTOR = LIMITS["factors"]


@pytest.fixture
def factor():
    return FACTOR
