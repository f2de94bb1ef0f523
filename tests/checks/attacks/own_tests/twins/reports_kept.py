# style: the report of each phase is kept on the item, as the manual of pytest shows
import pytest


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    report = yield
    setattr(item, "rep_" + report.when, report)
    return report


def pytest_runtest_setup(item):
    if item.get_closest_marker("gpu") is not None:
        pytest.skip("no GPU here")
