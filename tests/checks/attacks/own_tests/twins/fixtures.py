# style: fixtures, an option and a parametrization, and no hook that decides
import numpy as np
import pytest


def pytest_addoption(parser):
    parser.addoption("--size", type=int, default=3)


def pytest_configure(config):
    config.addinivalue_line("markers", "gpu: needs one")


def pytest_generate_tests(metafunc):
    if "size" in metafunc.fixturenames:
        metafunc.parametrize("size", [1, 2])


@pytest.fixture(autouse=True)
def seeded():
    np.random.seed(0)
    yield


@pytest.fixture
def counted(monkeypatch):
    monkeypatch.setattr(np, "exp", np.exp)
