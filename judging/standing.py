"""How far one judge is: what stands in each cell of models × tasks, read one cell at a time.

A workspace may hold hundreds of submissions: :func:`outline` only lists folders, and :func:`standing`
reads one scorecard, digests one submission and looks its stored outcomes up. What is off with a file is
a sentence in its cell and never keeps the others from being read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from os.path import isfile

from msgspec import Struct, field

from judge_tui.checks.errors import JudgeError
from judge_tui.checks.store import last_outcomes
from judge_tui.checks.submission import Submission
from judge_tui.checks.verdict import SEVERITY, Verdict
from judge_tui.judging.attesting import written_elsewhere
from judge_tui.judging.card import Scorecard, computed_overall, letter, points
from judge_tui.judging.folders import readable_in
from judge_tui.judging.read_once import ReadOnce
from judge_tui.judging.refusals import card_refusal
from judge_tui.judging.rubric import Rubric
from judge_tui.judging.workspace import Workspace

__all__ = ["Outline", "Standing", "outline", "standing", "tallied"]


class Outline(Struct, frozen=True):
    """What there is to judge, by folder names.

    Attributes:
        models: Rows: those with a submission, or with a scorecard of this judge, sorted; each with its
            further attempts behind it.
        tasks: Columns, sorted.
        submitted: Cells that have a submission, as (model, task).
        titles: Display name of each model.
        faults: Model whose folder cannot be read → why, one sentence.
        attempts: Row → all rows of its model, where that has several attempts.
    """

    models: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    submitted: frozenset[tuple[str, str]] = frozenset()
    titles: Mapping[str, str] = field(default_factory=dict)
    faults: Mapping[str, str] = field(default_factory=dict)
    attempts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


class Standing(Struct, frozen=True):
    """What a judge has said of one submission, and what is known of it.

    Attributes:
        model: Folder name of the model.
        task: Task id.
        files: Files of the submission; 0 when there is none.
        origin: What ``submission.toml`` says that it is.
        digest: Of the files; empty when there are none, and when it is judged blind.
        points: The judge's points; ``None`` when not given yet.
        mean: Weighted mean of the dimensions scored so far.
        letter: As in :func:`~judge_tui.judging.card.letter`.
        scored: Dimensions scored.
        dimensions: Dimensions of the rubric.
        judged: Whether the judge has come to a score or a letter.
        stale: Whether the files have changed since they were scored.
        elsewhere: Whether the scores were given to files that are not identified here.
        notes: Notes on the card.
        others: Other judges with a scorecard.
        verdicts: Stored outcomes of the present files: check id → verdict.
        fault: What keeps the cell from being read, one sentence.
        blind: Whether it is judged blind, so that nothing that would tell who is who may stand here.
        newer: Why the scorecard cannot be changed, one sentence, where it is of a newer schema.
        withheld: Whether it will be judged blind by the rule of the workspace, so that verdicts are left out.
        passed: Whether ``check`` would exit 0 on it, where that was asked for; ``None`` where nobody knows.
        revealed: Whether it was judged blind, and the names are revealed.
    """

    model: str
    task: str
    files: int = 0
    origin: str = ""
    digest: str = ""
    points: int | None = None
    mean: int | None = None
    letter: str = ""
    scored: int = 0
    dimensions: int = 0
    judged: bool = False
    stale: bool = False
    elsewhere: bool = False
    notes: int = 0
    others: tuple[str, ...] = ()
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    fault: str = ""
    blind: bool = False
    withheld: bool = False
    newer: str = ""
    passed: bool | None = None
    revealed: bool = False

    @property
    def begun(self) -> bool:
        """Whether the judge has begun to score it, and has not come to an end."""
        return not self.judged and (self.scored > 0 or self.notes > 0)

    @property
    def open(self) -> bool:
        """Whether there is something to judge that the judge has not judged."""
        return self.files > 0 and not self.fault and not self.judged and not self.newer

    @property
    def tally(self) -> tuple[tuple[Verdict, int], ...]:
        """Verdicts with their counts, the worst first."""
        return tallied(self.verdicts.values())


def tallied(verdicts: Iterable[Verdict]) -> tuple[tuple[Verdict, int], ...]:
    """Verdicts with their counts, the worst first."""
    return tuple(sorted(Counter(verdicts).items(), key=lambda pair: SEVERITY[pair[0]]))


def outline(workspace: Workspace, judge: str) -> Outline:
    """List what there is to judge; only folders are read, and ``submission.toml`` for names.

    Raises:
        JudgeError: The folder of the submissions cannot be read, or ``judge-tui.toml`` is malformed.
    """
    workspace = ReadOnce.of(workspace)
    models = workspace.contestants()
    submitted: set[tuple[str, str]] = set()
    faults: dict[str, str] = {}
    for model in models:
        try:
            submitted |= {(model, task) for task in workspace.submitted(model)}
        except JudgeError as error:
            faults[model] = str(error)
    carded = {
        (model, task)
        for task in workspace.tasks()
        for model in {*readable_in(workspace.root / "scores" / task, workspace.root)} & {*models}
        # not Path.is_file, which raises where a folder above cannot be searched
        if (model, task) not in submitted and isfile(workspace.scorecard_path(task, model, judge))
    }
    shown = submitted | carded
    rows = tuple(sorted({model for model, _ in shown} | set(faults), key=workspace.parts))
    titles = {model: workspace.model_title(model) for model in rows}
    tasks = tuple(sorted({task for _, task in shown} or (workspace.tasks() if faults else ())))
    return Outline(rows, tasks, frozenset(submitted), titles, faults, _attempts(workspace, rows))


def _attempts(workspace: Workspace, rows: Sequence[str]) -> dict[str, tuple[str, ...]]:
    of: dict[str, list[str]] = {}
    for row in rows:
        of.setdefault(workspace.parts(row)[0], []).append(row)
    return {row: tuple(several) for several in of.values() if len(several) > 1 for row in several}


def standing(
    workspace: Workspace,
    model: str,
    task: str,
    judge: str,
    backend: str = "auto",
    rubrics: dict[str, Rubric] | None = None,
) -> Standing:
    """What stands in one cell; never raises for what is off with its files.

    Args:
        workspace: Where everything is.
        model: Folder name of the model.
        task: Task id.
        judge: Whose scorecard counts.
        backend: Whose stored outcomes are shown.
        rubrics: Rubrics that were read before, by task; the one that is read now is added.
    """
    submission = workspace.submission(model, task)
    try:
        known = {} if rubrics is None else rubrics
        if task not in known:
            known[task] = workspace.rubric(task)
        return _read(workspace, submission, known[task], judge, backend)
    except JudgeError as error:
        return Standing(model, task, files=_count(submission), fault=str(error))
    except OSError as error:
        return Standing(model, task, fault=f"{error.filename or submission.path}: {error.strerror}.")


def _read(workspace: Workspace, submission: Submission, rubric: Rubric, judge: str, backend: str) -> Standing:
    model, task = submission.model, submission.task
    card, stamp = workspace.scorecard(task, model, judge)
    newer = str(card_refusal(workspace, card) or "")
    if card.sealed:
        files, origin = len(submission.files), submission.meta.origin
        return Standing(model, task, files=files, origin=origin, blind=True, newer=newer)
    said = _said(card, rubric)
    # beside the name, they would tell who is who in the comparison that is still to come
    withheld = workspace.settings.blind and card.blind is None and card.blank
    outcomes = last_outcomes(submission, backend) if submission.files and not withheld else {}
    return Standing(
        model,
        task,
        files=len(submission.files),
        origin=submission.meta.origin,
        digest=submission.digest if submission.files else "",
        points=points(card, rubric),
        mean=computed_overall(card, rubric),
        letter=letter(card, rubric),
        scored=said,
        dimensions=len(rubric.dimensions),
        judged=points(card, rubric) is not None or card.grade is not None,
        stale=card.submission is not None and card.submission != submission.digest,
        elsewhere=written_elsewhere(card, stamp),
        notes=len(card.notes),
        others=tuple(name for name in workspace.judges(task, model) if name != card.judge),
        verdicts={check: outcome.verdict for check, outcome in sorted(outcomes.items())},
        withheld=withheld,
        newer=newer,
        revealed=card.blind is not None,
    )


def _said(card: Scorecard, rubric: Rubric) -> int:
    return sum(card.score(dimension.id) is not None for dimension in rubric.dimensions)


def _count(submission: Submission) -> int:
    with suppress(JudgeError, OSError):
        return len(submission.files)
    return 0
