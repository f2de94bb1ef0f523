"""What the worker's parts need around them."""

from __future__ import annotations

import pytest

from judge_tui.checks.worker import places


@pytest.fixture(autouse=True)
def in_numpys_memory() -> None:
    places.settle("numpy")
