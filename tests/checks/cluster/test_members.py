"""A cluster without workers is waited for, not without a word, and not for ever."""

from __future__ import annotations

from typing import Any

import pytest

from judge_tui.checks.errors import EngineError

members = pytest.importorskip("judge_tui.checks.cluster.members", reason="distributed is not installed")


class Empty:
    """A connection to a scheduler that has no worker."""

    def nthreads(self) -> dict[str, int]:
        return {}


@pytest.mark.parametrize(
    ("gone", "barred", "said", "hint"),
    [
        (0, set(), "none has come", "Start some"),
        (2, set(), "2 gone, and no other has come", "Start some"),
        (0, {"tcp://a:1"}, "1 refused", "Restart those"),
    ],
)
def test_nobody_comes(
    monkeypatch: pytest.MonkeyPatch, gone: int, barred: set[str], said: str, hint: str
) -> None:
    for name, seconds in (("PATIENCE_S", 0.3), ("_SILENT_S", 0.1), ("_LOOK_S", 0.05)):
        monkeypatch.setattr(members, name, seconds)
    told: list[str] = []
    empty: Any = Empty()
    waiting = members.Members(empty, trust=False, warn=told.append)
    waiting._gone = gone
    monkeypatch.setattr(waiting, "look", lambda: waiting._barred.update(barred))
    with pytest.raises(EngineError, match=said) as raised:
        waiting.wait()
    assert hint in str(raised.value.hint)
    assert len(told) == (0 if barred else 1)
