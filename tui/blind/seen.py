"""Which comparisons a judge has opened with their names hidden: the drawn order of each is kept."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from judge_tui.judging.matchup import Matchup
from judge_tui.judging.naming import judge_name
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.kept import rescue
from judge_tui.tui.past import PastComparisons

__all__ = ["decided_blind", "order_file"]


def order_file(workspace: Workspace, judge: str, task: str, models: Iterable[str]) -> Path:
    """Where the order is kept that was drawn for a comparison, or would be."""
    file = workspace.root.joinpath("scores", task, judge_name(judge), *sorted(models))
    return rescue.place(file, "blind", ".json")


def decided_blind(
    workspace: Workspace, judge: str, task: str, matchups: Iterable[Matchup]
) -> tuple[Matchup, ...]:
    """Those matchups that were compared with their names hidden, by themselves or as two of three."""
    every = tuple(matchups)
    past = [
        frozenset(one.models) for one in PastComparisons(workspace.root, judge).read() if one.task == task
    ]

    def seen(matchup: Matchup) -> bool:
        own = frozenset(matchup.models)
        places = {own, *(models for models in past if own < models)}
        return any(order_file(workspace, judge, task, each).exists() for each in places)

    return tuple(matchup for matchup in every if seen(matchup))
