import pytest

from scale import scale_forward


@pytest.fixture
def forward():
    return scale_forward


@pytest.fixture
def factor():
    return 2.0
