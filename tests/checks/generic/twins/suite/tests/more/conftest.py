import pytest


@pytest.fixture
def factor(factor):
    return 10 * factor / 10
