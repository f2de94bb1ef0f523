"""A screen of somebody who only looks: no key is hinted at that would be refused."""

from __future__ import annotations

import pytest

from judge_tui.judging import read_only
from judge_tui.judging.workspace import Workspace

from .conftest import make_app, running

WRITING = ("note on the lines", "undo", "run again", "0-9 score", "comment", "is ahead", "add a line")


@pytest.mark.parametrize("looks", [True, False])
async def test_keys_that_write_are_hinted_at_where_they_do(
    workspace: Workspace, looks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(read_only._state, "on", looks)
    hinted = ""
    async with running(make_app(workspace, engine=None), (200, 40)) as app:
        for keys in ((), ("c",), ("s",), ("M",)):
            await app.press(*keys)
            await app.pilot.pause()
            hinted += app.text().rstrip().split("\n")[-1]
    assert [words for words in WRITING if words in hinted] == ([] if looks else list(WRITING))


async def test_checks_that_were_never_run_are_told_to_whoever_only_looks(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(read_only._state, "on", True)
    async with running(make_app(workspace, engine=None), (120, 35)) as app:
        await app.until(lambda: "No verdict is stored" in app.text())
