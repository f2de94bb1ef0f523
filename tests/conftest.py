"""What holds for all tests."""

from __future__ import annotations

import os
from collections import defaultdict

import pytest
from hypothesis import settings

from . import tiers

# pictures hang on no terminal that the tests are started from; Textual reads this when it is imported
os.environ["TEXTUAL_COLOR_SYSTEM"] = "truecolor"
#: Set, what tests take is written down.
MEASURING = "JUDGE_TUI_WRITE_TIERS"

# the machines that run this are shared: a slow example is no fault of the code
settings.register_profile("shared-machine", deadline=None)
settings.register_profile("at-length", deadline=None, max_examples=tiers.MORE)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--tier``."""
    parser.addoption(
        "--tier", choices=tiers.NAMES, default="test", help="how much is tested (tests/tiers.py)"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Try properties at length where everything is tried."""
    settings.load_profile("at-length" if tiers.of(config) == "all" else "shared-machine")


def pytest_xdist_auto_num_workers() -> int:
    """As many workers as there are cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is of another tier; skip what needs a GPU where none works, with the reason."""
    if out := {id(item): item for item in tiers.sorted_out(items, tiers.of(config))}:
        config.hook.pytest_deselected(items=list(out.values()))
        items[:] = [item for item in items if id(item) not in out]
    marked = [item for item in items if item.get_closest_marker("gpu") is not None]
    if not marked:
        return
    from judge_tui.checks.backends import find

    gpu = find("gpu")
    for item in marked if not gpu.works else ():
        item.add_marker(pytest.mark.skip(reason=f"no GPU: {gpu.reason}"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Write down which tests are not quick, where that is asked for."""
    if os.environ.get(MEASURING):
        took: defaultdict[str, float] = defaultdict(float)
        for reports in terminalreporter.stats.values():
            for report in reports:
                if isinstance(report, pytest.TestReport):
                    took[report.nodeid] += report.duration
        tiers.measured(took.items())
