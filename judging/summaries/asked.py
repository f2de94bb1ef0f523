"""Reports by what was asked for: the shape, and over which models, tasks, judges and rounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from shlex import quote

from judge_tui.checks.errors import UsageError
from judge_tui.judging.plain import plain
from judge_tui.judging.read_once import ReadOnce
from judge_tui.judging.rounds import Round, one_round, rounds_of
from judge_tui.judging.summaries.combined import combined
from judge_tui.judging.summaries.gathered import Gathered, gathered
from judge_tui.judging.summaries.head_to_head import head_to_head
from judge_tui.judging.summaries.metrics import metrics
from judge_tui.judging.summaries.parts import Prose, Report
from judge_tui.judging.summaries.published_metrics import published_metrics
from judge_tui.judging.summaries.round_summary import round_summary
from judge_tui.judging.summaries.standings import standings
from judge_tui.judging.summaries.two_way import two_way
from judge_tui.judging.workspace import Workspace

__all__ = ["SHAPES", "Asked", "report_of"]

#: Shape → what it shows.
SHAPES = {
    "two-way": "task by task: criteria, who is ahead in what, the winner",
    "head-to-head": "grades, strengths, weaknesses with their lines, what was run, who wins; a ranking",
    "round": "a scoreboard with winners and margins, task by task, the judge's prose",
    "combined": "several rounds in one",
    "standings": "who is ahead and whether that is real, how far judges agree, what sways them",
    "metrics": "figures of stored check outcomes, side by side; or published metrics",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked for.

    Attributes:
        shape: One of :data:`SHAPES`.
        models: Models, as they may be called; what is scored, or what the round has, when empty.
        tasks: Tasks, as they may be called; likewise.
        judges: Whose words count; everybody's when empty.
        rounds: Ids of rounds.
        against: Id of an earlier round that one is set against; what the round itself says when empty.
        published: Take what was published on other files; by default where there is nothing else.
    """

    shape: str
    models: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    rounds: tuple[str, ...] = ()
    against: str = ""
    published: bool | None = None


def report_of(workspace: Workspace, asked: Asked) -> Report:
    """Make a report.

    Raises:
        UsageError: A name means nothing, nobody has said a word on it, or a shape takes other things.
        WorkspaceError: A round that was named is malformed.
    """
    workspace = ReadOnce.of(workspace)
    if len(asked.rounds) > 1 and asked.shape != "combined":
        raise UsageError(
            f"'{asked.shape}' takes one round.", hint="Several: report combined --round A --round B"
        )
    if asked.against and asked.shape != "round":
        raise UsageError(
            "--against sets one round against another.", hint="report round --round B --against A"
        )
    if asked.shape == "combined":
        return _combined(workspace, asked)
    named = [one_round(workspace, name) for name in asked.rounds]
    if asked.shape == "metrics":
        return _metrics(workspace, asked, named)
    if asked.shape == "round":
        return _round(workspace, asked, named)
    one = named[0] if named else None
    found = _read(workspace, asked, one)
    if asked.shape == "standings":
        every = _gathered(workspace, asked, one, further=True) if found.attempts else None
        return standings(found, every)
    shapes = {"two-way": two_way, "head-to-head": head_to_head}
    return shapes[asked.shape](found)


def _combined(workspace: Workspace, asked: Asked) -> Report:
    faults: list[str] = []
    if asked.rounds:
        rounds = [one_round(workspace, name) for name in dict.fromkeys(asked.rounds)]
    else:
        rounds = rounds_of(workspace, faults)
    if not rounds and faults:
        raise UsageError(f"there is no round that can be combined. {faults[0]}")
    if not rounds:
        raise UsageError(
            "there is no round to combine.", hint="Write rounds/<id>.toml for each: docs/formats.md says how."
        )
    made = combined([(one, _gathered(workspace, asked, one)) for one in rounds])
    return replace(made, faults=tuple(dict.fromkeys((*faults, *made.faults))))


def _round(workspace: Workspace, asked: Asked, named: Sequence[Round]) -> Report:
    found = _read(workspace, asked, named[0] if named else None)
    one = named[0] if named else Round("", f"Summary: {' vs '.join(found.models.values())}")
    name, before = asked.against or one.against, None
    if name:
        then = one_round(workspace, name)
        before = then, _gathered(workspace, replace(asked, models=(), tasks=()), then)
    return round_summary(found, one, before)


def _metrics(workspace: Workspace, asked: Asked, named: Sequence[Round]) -> Report:
    one = named[0] if named else None
    models, tasks = _names(workspace, asked, one)
    if asked.published:
        return _published(workspace, asked, models, tasks)
    if asked.judges:
        raise UsageError(
            "figures of checks are no judge's.", hint="Leave --judge out, or take --published ones."
        )
    made = metrics(workspace, models, tasks)
    if not made.parts and made.faults:
        raise UsageError(f"there is nothing to report. {made.faults[0]}")
    if made.parts or made.faults:
        return made
    (model, *_), task = _example(workspace, models, tasks)
    nothing = UsageError(
        "no outcome of a check is stored for these submissions as they are now.",
        hint=f"Run some: judge-tui check {quote(model)} --task {quote(task)}",
    )
    if asked.published is None:
        try:
            stated = _published(workspace, asked, models, tasks)
        except UsageError:
            raise nothing from None
        told = f"Nothing was measured here yet: judge-tui check {quote(model)} --task {quote(task)}"
        return replace(stated, parts=(Prose(told), *stated.parts))
    raise nothing


def _published(workspace: Workspace, asked: Asked, models: Sequence[str], tasks: Sequence[str]) -> Report:
    made = published_metrics(gathered(workspace, (), tasks, asked.judges, published=True), models)
    if not made.parts:
        raise UsageError(
            "nobody has published metrics of these submissions.",
            hint="Criteria without an edge in a matchup with a 'source' are such: see docs/formats.md.",
        )
    return made


def _read(workspace: Workspace, asked: Asked, one: Round | None) -> Gathered:
    """What there is of what was asked for."""
    found = _gathered(workspace, asked, one)
    if asked.shape == "two-way" and len(found.models) < 2:
        raise UsageError("a two-way report compares two models.", hint="Name them: report two-way A B")
    if not (found.tasks or found.faults or found.attempts):
        models, tasks = _names(workspace, asked, one)
        whom = " and ".join(models) or "any model"
        on = f" on {', '.join(tasks)}" if asked.tasks else ""
        by = f", as {plain(asked.judges[0])}" if asked.judges else ""
        cards = (card for task in tasks for card in workspace.scorecards(task, {}))
        if any(card.sealed and (not models or card.model in models) for card in cards):
            raise UsageError(
                f"of {whom}{on} there are blind scorecards alone{by}, and their names are not revealed yet.",
                hint="Score everything in the comparison, and reveal the names there.",
            )
        names, task = _example(workspace, models, tasks)
        raise UsageError(
            f"nobody has scored {whom}{on} yet{by}.",
            hint=f"Score them: judge-tui compare {' '.join(map(quote, names))} --task {quote(task)}",
        )
    return found


def _example(workspace: Workspace, models: Sequence[str], tasks: Sequence[str]) -> tuple[list[str], str]:
    """Models and a task that a command can be shown with: such as have files there, where some have."""
    for task in tasks:
        there = [one for one in models or workspace.models() if workspace.submission(one, task).files]
        if there:
            return list(models) or there[:2], task
    return list(models) or ["A", "B"], tasks[0]


def _gathered(workspace: Workspace, asked: Asked, one: Round | None, *, further: bool = False) -> Gathered:
    models, tasks = _names(workspace, asked, one)
    judges = asked.judges or (one.judges if one is not None else ())
    return gathered(workspace, models, tasks, judges, published=asked.published, further=further)


def _names(workspace: Workspace, asked: Asked, one: Round | None) -> tuple[list[str], list[str]]:
    """Models and tasks by their ids: what was asked for, else what the round has, else all."""
    tasks = asked.tasks or (one.tasks if one is not None else ())
    chosen = list(dict.fromkeys(workspace.task(name) for name in tasks)) or list(workspace.tasks())
    models = asked.models or (one.models if one is not None else ())
    return list(dict.fromkeys(workspace.model(name, *chosen) for name in models)), chosen
