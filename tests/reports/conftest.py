from __future__ import annotations

from collections.abc import Iterator

import pytest

from judge_tui.judging.summaries.parts import Report
from tests.reports.judged import judged_workspace, reports
from tests.tui.chromium import Chromium


@pytest.fixture(scope="session")
def judged(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Report]:
    """A report of each shape, of a workspace in which there is something to say in each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUDGE_TUI_CACHE", str(tmp_path_factory.mktemp("cache")))
        return reports(judged_workspace(tmp_path_factory.mktemp("judged") / "ws"))


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    started = Chromium(tmp_path_factory.mktemp("browser"))
    yield started
    started.close()
