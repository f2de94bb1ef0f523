import pytest

from scale import scale_forward


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="slow ones too")


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes long")


def pytest_collection_modifyitems(config, items):
    if not config.getoption("--slow"):
        for item in items:
            if "slow" in item.keywords:
                item.add_marker(pytest.mark.skip(reason="needs --slow"))


@pytest.fixture(scope="session")
def forward():
    yield scale_forward


@pytest.fixture(params=[1.0, 2.5], ids=["one", "more"])
def factor(request):
    return request.param
