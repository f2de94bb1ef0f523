"""Desks of matchups under test, what is proposed to them, and what they have written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from judge_tui.judging.matchup import Criterion, Matchup, load_matchups
from judge_tui.judging.proposals import Proposal
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.desk.autosave import SaveReport
from judge_tui.tui.desk.matchup_desk import MatchupDesk

__all__ = ["PROPOSAL", "SPEED", "Opener", "desks", "on_disk"]

Opener = Callable[..., MatchupDesk]
SIZE = Criterion("Size", {"alpha": "10 lines", "beta": "99 lines"}, "alpha", basis="check:size")
SPEED = Criterion("Speed", {"alpha": "3 s", "beta": "1 s"}, "beta", note="less", basis="check:speed")
PROPOSAL = Proposal("beta", 7, "Correctness (90 against 83).", (SIZE, SPEED))


@contextmanager
def desks(workspace: Workspace) -> Iterator[Opener]:
    """What opens desks of a workspace; they are closed in the end."""
    open_desks: list[MatchupDesk] = []

    def made(
        models: tuple[str, ...] = ("alpha", "beta"), reports: list[SaveReport] | None = None
    ) -> MatchupDesk:
        told = (lambda _: None) if reports is None else reports.append
        open_desks.append(MatchupDesk(workspace, "kv", models, "anna", told))
        open_desks[-1].proposal = PROPOSAL
        return open_desks[-1]

    yield made
    for desk in open_desks:
        desk.close()


def on_disk(workspace: Workspace) -> tuple[Matchup, ...]:
    return load_matchups(workspace.matchups_path("kv", "anna")).matchups
