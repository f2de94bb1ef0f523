"""What the tests of the emulator share: sources, and programs built once per worker."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from judge_tui.checks.cuda import emulator

KERNELS = Path(__file__).parent / "kernels"

Built = Callable[..., emulator.Program]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One worker for all of them, so that every source is compiled once."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("emulator"))


@pytest.fixture(scope="session")
def compiling() -> None:
    """Skips where nothing can be emulated, and says why."""
    if reason := emulator.available():
        pytest.skip(reason)


@functools.cache
def _built(name: str) -> emulator.Program | emulator.Failure:
    return emulator.build(f'#include "{name}"\n', {name: (KERNELS / name).read_bytes()}, seconds=300)


@pytest.fixture
def built(compiling: None) -> Built:
    """Builds a file of ``kernels``."""

    def build(name: str) -> emulator.Program:
        program = _built(name)
        assert isinstance(program, emulator.Program), program.output
        return program

    return build


@pytest.fixture
def logits() -> np.ndarray:
    """Two rows that are all different."""
    return np.random.default_rng(5).permutation(2 * 1000).astype(np.float32).reshape(2, 1000) / 100
