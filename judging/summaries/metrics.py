"""What checks measured, figure by figure across submissions, each with its metric, unit and limit."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from judge_tui.checks.errors import JudgeError
from judge_tui.checks.store import last_outcomes, side_by_side
from judge_tui.checks.submission import Submission
from judge_tui.checks.verdict import Evidence, Outcome, Verdict
from judge_tui.judging.attempts import attempts_at, passes_as_stored, several
from judge_tui.judging.hiding.withheld import withheld
from judge_tui.judging.read_once import ReadOnce
from judge_tui.judging.summaries.noted import anchor_of
from judge_tui.judging.summaries.parts import Cell, Curves, Heading, Part, Prose, Report, Table
from judge_tui.judging.summaries.plots import curves_of
from judge_tui.judging.summaries.pointed import place_of, pointed_at
from judge_tui.judging.summaries.tables import attempts
from judge_tui.judging.timings import comparable, hosts_of
from judge_tui.judging.workspace import Workspace

__all__ = ["metrics"]

_Found = Mapping[str, Outcome]


def metrics(workspace: Workspace, models: Sequence[str], tasks: Sequence[str]) -> Report:
    """Set the stored figures of submissions side by side; nothing is run.

    Where all were checked with one seed, figures of that seed stand there, else the last of each. Answers
    that are still to be judged blind are left out, and told.

    Args:
        workspace: Where the submissions are.
        models: Folder names, in the order of the columns; all that have a stored outcome when empty.
        tasks: Ids.
    """
    parts: list[Part] = []
    titles: dict[str, str] = {}
    seen: dict[str, str] = {}
    faults: list[str] = []
    workspace = ReadOnce.of(workspace)
    for task in tasks:
        try:
            hidden, found = _revealed(workspace, _stored(workspace, models, task), task)
            title = workspace.rubric(task).title
        except JudgeError as error:
            faults.append(str(error))
            continue
        if hidden:
            faults.append(f"{', '.join(hidden)} on {task}: judged blind, and the names are not revealed yet.")
        if not found:
            continue
        titles[task] = title
        seen |= {model: workspace.model_title(model) for model in found}
        parts += [Heading(title, 2, anchor_of(task)), *_of_task(workspace, task, found)]
        parts += [
            Prose(
                f"No outcome is stored for {workspace.model_title(model)} as it is now: "
                f"judge-tui check {model} --task {task}"
            )
            for model in models
            if model not in found and model not in hidden and workspace.submission(model, task).files
        ]
    answers = several(workspace, titles)

    def passes(submission: Submission) -> bool | None:
        covered = withheld(workspace, submission.model, submission.task)
        return None if covered else passes_as_stored(submission)

    parts += attempts(
        attempts_at(workspace, task, names, {}, passes)
        for (model, task), names in answers.items()
        if model in {workspace.parts(name)[0] for name in seen}
    )
    ordered = [model for model in models if model in seen] or list(seen)
    shown = {model: seen[model] for model in ordered}
    return Report(
        "metrics",
        f"Figures: {' vs '.join(shown.values())}",
        shown,
        titles,
        (),
        "",
        tuple(parts),
        tuple(faults),
    )


def _stored(workspace: Workspace, models: Sequence[str], task: str) -> dict[str, _Found]:
    """Model → check id → outcome, of submissions that have any."""
    named = models or workspace.models()
    submissions = [one for model in named if (one := workspace.submission(model, task)).files]
    last = {one.model: last_outcomes(one) for one in submissions}
    submissions = [one for one in submissions if last[one.model]]
    same = side_by_side(submissions)
    if submissions and all(same):
        return {one.model: outcomes for one, outcomes in zip(submissions, same, strict=True)}
    return {one.model: last[one.model] for one in submissions}


def _revealed(
    workspace: Workspace, found: dict[str, _Found], task: str
) -> tuple[list[str], dict[str, _Found]]:
    """The models that are still to be judged blind, and what is known of the others."""
    hidden = [model for model in found if withheld(workspace, model, task)]
    return hidden, {model: outcomes for model, outcomes in found.items() if model not in hidden}


def _of_task(workspace: Workspace, task: str, found: Mapping[str, _Found]) -> Iterable[Part]:
    columns = tuple(workspace.model_title(model) for model in found)
    yield Prose(_measured(list(found.values())))
    if hosts := hosts_of(list(found.values())):
        yield Prose(_apart(hosts))
        found = dict(zip(found, comparable(list(found.values())), strict=True))
    told = _origins([workspace.submission(model, task) for model in found])
    if told:
        yield Prose(told)
    every = list(found.values())
    checks = list(dict.fromkeys(check for outcomes in every for check in outcomes))
    plots = {check: list(curves_of(task, check, columns, every)) for check in checks}
    code = [
        each
        for (model, outcomes), title in zip(found.items(), columns, strict=True)
        for each in pointed_at(workspace.submission(model, task), title, outcomes.values())
    ]
    shown = frozenset(each.anchor for each in code)
    figures = {check: list(_figures(task, check, found, plots[check], shown)) for check in checks}
    leads = {check: _lead(figures[check], plots[check]) for check in checks}
    verdicts = tuple(
        (Cell(check), *(_verdict(outcomes.get(check), leads[check]) for outcomes in every))
        for check in checks
    )
    yield Table(("Check", *columns), verdicts, caption="Verdicts.")
    rows = [row for check in checks for row in figures[check]]
    if rows:
        head = ("Check", "Figure", "Unit", "Limit", *columns)
        caption = "Figures of the checks; ✗ marks what is over its limit."
        yield Table(head, tuple(rows), frozenset(range(3, len(head))), caption)
    for check in checks:
        yield from plots[check]
    if code:
        yield Heading(
            f"{workspace.rubric(task).title}: lines that figures point at", 3, anchor_of("lines", task)
        )
        yield from code


def _measured(found: Sequence[_Found]) -> str:
    """Where, with which seed and in which sandbox the figures were taken."""
    every = [outcome for outcomes in found for outcome in outcomes.values()]
    said = []
    for name, values in (
        ("backend", {f"{one.backend} {one.device}".strip() for one in every}),
        ("sandbox", {one.sandbox or "none" for one in every}),
        ("seed", {str(one.seed) for one in every}),
    ):
        plural = name if len(values) == 1 else f"{name}s"
        said.append(f"{plural} {', '.join(sorted(values))}")
    return f"Measured with {'; '.join(said)}."


def _apart(several: Mapping[str, tuple[str, ...]]) -> str:
    """Which figures are left out, since they were taken on several machines."""
    hosts = sorted({host or "an unknown one" for hosts in several.values() for host in hosts})
    checks = ", ".join(several)
    return (
        f"Timings of {checks} were taken on different machines ({', '.join(hosts)}) and are not set side by "
        "side: judge-tui check … --fresh on one of them."
    )


def _origins(submissions: Sequence[Submission]) -> str:
    if any(one.meta.origin == "reconstruction" for one in submissions):
        return "The submissions of this workspace are reconstructions, not the models' code."
    return ""


def _lead(figures: Sequence[tuple[Cell, ...]], plots: Sequence[Curves]) -> str:
    """Where the first figure of a check stands, or its curves; empty where it has none."""
    return figures[0][0].own if figures else plots[0].anchor if plots else ""


def _verdict(outcome: Outcome | None, anchor: str) -> Cell:
    if outcome is None:
        return Cell("not run")
    return Cell(str(outcome.verdict), anchor, strong=outcome.verdict is Verdict.PASS)


def _figures(
    task: str, check: str, found: Mapping[str, _Found], plots: Sequence[Curves], shown: Collection[str]
) -> Iterable[tuple[Cell, ...]]:
    """A row for every quantity that a check has measured in any of the submissions.

    The first can be led to, and leads to the curves of the check; figures lead to the lines that are shown.
    """
    name = Cell(check, plots[0].anchor if plots else "", own=anchor_of("figures", task, check))
    by_model: list[dict[tuple[str, str], Evidence]] = [
        {
            (item.quantity, item.unit): item
            for item in (outcomes[check].evidence if check in outcomes else ())
            if item.measured is not None
        }
        for outcomes in found.values()
    ]
    for key in dict.fromkeys(key for items in by_model for key in items):
        items = [own.get(key) for own in by_model]
        limits = {_said(item.limit) for item in items if item is not None}
        shared = limits.pop() if len(limits) == 1 else None
        cells = [
            _measured_cell(item, task, model, shown, own_limit=shared is None)
            for model, item in zip(found, items, strict=True)
        ]
        limit = "per submission" if shared is None else shared
        yield (name, Cell(key[0]), Cell(key[1]), Cell(limit), *cells)
        name = Cell(check)


def _measured_cell(
    item: Evidence | None, task: str, model: str, shown: Collection[str], *, own_limit: bool
) -> Cell:
    if item is None:
        return Cell("–")
    beside = f" of {_said(item.limit)}" if own_limit and item.limit is not None else ""
    place = place_of(task, model, item)
    text = f"{_said(item.measured)}{beside}{' ✗' if item.ok is False else ''}"
    return Cell(text, place if place in shown else "")


def _said(value: float | int | str | None) -> str:
    """A figure for a reader: three digits, and words as they are."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.3g}"
    return str(value)
