import pytest


@pytest.fixture
def factor(factor):
    return factor + 1.0
