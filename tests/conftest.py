"""What holds for all tests."""

from __future__ import annotations

import pytest
from hypothesis import settings

# the machines that run this are shared: a slow example is no fault of the code
settings.register_profile("shared-machine", deadline=None)
settings.load_profile("shared-machine")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests marked ``gpu`` are skipped where no GPU works, with the reason."""
    marked = [item for item in items if item.get_closest_marker("gpu") is not None]
    if not marked:
        return
    from judge_tui.checks.backends import find

    gpu = find("gpu")
    for item in marked if not gpu.works else ():
        item.add_marker(pytest.mark.skip(reason=f"no GPU: {gpu.reason}"))
