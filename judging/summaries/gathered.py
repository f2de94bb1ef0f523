"""What is read for a report: cards, matchups, rubrics and submissions of some models on some tasks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from judge_tui.checks.errors import JudgeError
from judge_tui.checks.submission import Submission
from judge_tui.judging.attempt_figures import STALE, Attempts
from judge_tui.judging.attempts import attempts_at, passes_unless_blind, several
from judge_tui.judging.card import CLEAN, Scorecard, letters, points
from judge_tui.judging.folders import documents_in
from judge_tui.judging.matchup import Matchup
from judge_tui.judging.placing import Placed, files_of, placed_notes
from judge_tui.judging.ranking import mean
from judge_tui.judging.rubric import Rubric
from judge_tui.judging.workspace import MATCHUPS, Workspace

__all__ = ["Gathered", "Judged", "OfTask", "gathered"]

#: So many scorecards are named in one sentence.
_NAMED = 4


@dataclass(frozen=True, slots=True)
class Judged:
    """One model on one task.

    Attributes:
        model: Folder name.
        title: Display name.
        cards: The scorecards that count, by judge: people's, where there are any on the task; else machines'.
        machines: Scorecards of language models that stand beside those of people, and count in nothing.
        placed: The notes of each card with their present places, in the order of ``cards``.
        submission: The files.
        rubric: The task's.
    """

    model: str
    title: str
    cards: tuple[Scorecard, ...]
    placed: tuple[tuple[Placed, ...], ...]
    submission: Submission
    rubric: Rubric
    machines: tuple[Scorecard, ...] = ()

    @property
    def points(self) -> float | None:
        """Mean of the judges' points; ``None`` when nobody gave any."""
        return mean(points(card, self.rubric) for card in self.cards)

    @property
    def counted(self) -> int:
        """Judges whose points are in the mean."""
        return sum(points(card, self.rubric) is not None for card in self.cards)

    @property
    def letters(self) -> str:
        """The different letters that the judges gave, or the one that the points earn."""
        return "/".join(letters(self.cards, self.rubric))

    @property
    def verdicts(self) -> tuple[str, ...]:
        """What the judges call it as a whole, each once, but for ``clean``."""
        told = (card.verdict.kind for card in self.cards if card.verdict is not None)
        return tuple(sorted({kind for kind in told if kind != CLEAN}))

    @property
    def stale(self) -> bool:
        """Whether a card that counts was written on other files than those that are there now."""
        return any(map(self.outdated, self.cards))

    def outdated(self, card: Scorecard) -> bool:
        """Whether a card was written on other files than those that are there now."""
        return card.submission is not None and card.submission != self.submission.digest

    @property
    def by_machines(self) -> Judged | None:
        """What language models said beside people; ``None`` where none did."""
        if not self.machines:
            return None
        return replace(self, cards=self.machines, placed=_placed(self.machines, self.submission), machines=())

    def scores(self, dimension: str) -> list[int]:
        """What the judges gave for a dimension."""
        return [score for card in self.cards if (score := card.score(dimension)) is not None]


@dataclass(frozen=True, slots=True)
class OfTask:
    """What was judged on one task.

    Attributes:
        task: Its id.
        rubric: Its rubric.
        judged: Model → what was judged; of models without a card nothing.
        matchups: Judge and comparison, of any of the models, in the order of the files.
    """

    task: str
    rubric: Rubric
    judged: Mapping[str, Judged]
    matchups: tuple[tuple[str, Matchup], ...]

    def present(self, models: Iterable[str]) -> list[str]:
        """Those of some models that were scored or compared on it."""
        named = {model for _, one in self.matchups for model in one.models}
        return [model for model in models if model in self.judged or model in named]

    def between(self, models: Collection[str]) -> list[tuple[str, Matchup]]:
        """The comparisons of exactly these models."""
        return [(judge, one) for judge, one in self.matchups if frozenset(one.models) == frozenset(models)]


@dataclass(slots=True)
class Gathered:
    """All that a report is made of.

    Attributes:
        workspace: Where it is from.
        models: Folder name → title, in the order that was asked for.
        published: Whether the words are on the models' original files, and not on those that are here.
        tasks: Task id → what was judged on it; of tasks without a word nothing.
        faults: What could not be read.
        people: Whether people have scored: language models then stand beside them, and count in nothing.
        machines: Judges that are language models.
        attempts: Of models that have several and a word on one of them.
    """

    workspace: Workspace
    models: dict[str, str]
    published: bool = False
    tasks: dict[str, OfTask] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    people: bool = False
    machines: frozenset[str] = frozenset()
    attempts: tuple[Attempts, ...] = ()

    @property
    def cards(self) -> Iterator[Scorecard]:
        """Every scorecard."""
        return (card for of in self.tasks.values() for one in of.judged.values() for card in one.cards)

    @property
    def judges(self) -> tuple[str, ...]:
        """Whose words are in it, sorted."""
        judged = [one for of in self.tasks.values() for one in of.judged.values()]
        compared = {judge for of in self.tasks.values() for judge, _ in of.matchups}
        beside = {card.judge for one in judged for card in one.machines}
        return tuple(map(self.named, sorted({card.judge for card in self.cards} | compared | beside)))

    def named(self, judge: str) -> str:
        """A judge's name for a reader, who is told of a language model that it is one."""
        return f"{judge} (language model)" if judge in self.machines else judge

    @property
    def provenance(self) -> str:
        """What a reader has to know of the code that the words are on; empty where it is the code here."""
        if not self.published or not self.tasks:
            return ""
        told = "These words were published on the models' original submissions"
        if any(
            self.workspace.submission(model, task).meta.origin == "reconstruction"
            for task, of in self.tasks.items()
            for model in of.judged
        ):
            return f"{told}; the submissions of this workspace are reconstructions, not the models' code."
        return f"{told}, not on the files of this workspace."

    @property
    def remarks(self) -> Iterator[str]:
        """What a reader has to know before anything else."""
        if self.provenance:
            yield self.provenance
        if self._any_stale():
            yield f"{STALE} The files have changed since they were scored or compared."
        if drawn := list(self._drawn()):
            further = f"; and {len(drawn) - _NAMED} more" if len(drawn) > _NAMED else ""
            told = "; ".join(drawn[:_NAMED]) + further
            yield f"Judged blind, where words may call them by their letters: {told}."
        if not self.published and (lacking := list(self._unfinished())):
            further = f" and {len(lacking) - _NAMED} more" if len(lacking) > _NAMED else ""
            yield f"No points yet, since dimensions are not scored: {', '.join(lacking[:_NAMED])}{further}."

    def _drawn(self) -> Iterator[str]:
        """Which submission had which letter while a judge did not know the names."""
        for task, of in self.tasks.items():
            drawn: dict[tuple[str, str], list[tuple[str, str]]] = {}
            for one in of.judged.values():
                for card in one.cards:
                    if card.blind is not None and card.blind.revealed is not None and card.blind.side:
                        draw = drawn.setdefault((card.judge, str(card.blind.revealed)), [])
                        draw.append((card.blind.side, one.title))
            for (judge, _), seats in sorted(drawn.items()):
                letters = ", ".join(f"{side} {title}" for side, title in sorted(seats))
                yield f"{letters} on {task} ({self.named(judge)})"

    def _unfinished(self) -> Iterator[str]:
        """The scorecards that have some scores, and neither all of them nor a total."""
        for task, of in self.tasks.items():
            every = of.rubric.dimensions
            for one in of.judged.values():
                for card in one.cards:
                    given = sum(card.score(dimension.id) is not None for dimension in every)
                    if card.overall is None and 0 < given < len(every):
                        yield f"{one.title} on {task} ({self.named(card.judge)}: {given} of {len(every)})"

    def decided_before(self, task: str, one: Matchup) -> bool:
        """Whether the winner of a comparison was decided on other files than those that are there now."""
        return one.stale({model: self.workspace.submission(model, task).digest for model in one.submissions})

    def _any_stale(self) -> bool:
        of_attempts = any(one.stale for each in self.attempts for one in each.attempts)
        return of_attempts or any(
            any(one.stale or any(map(one.outdated, one.machines)) for one in of.judged.values())
            or any(self.decided_before(task, one) for _, one in of.matchups)
            for task, of in self.tasks.items()
        )

    @property
    def newest(self) -> str:
        """Day of the newest scorecard, ``YYYY-MM-DD``; empty when none says."""
        return max((card.day for card in self.cards), default="")


def gathered(
    workspace: Workspace,
    models: Sequence[str],
    tasks: Sequence[str],
    judges: Collection[str] = (),
    *,
    published: bool | None = None,
    further: bool = False,
) -> Gathered:
    """Read what there is; what is malformed costs its own part and is told.

    Scorecards, and comparisons by their judges, of which the names are not revealed yet are left out. Words
    on files that are here and words that were published for others stand in no report together.

    Args:
        workspace: Where it is.
        models: Folder names; all that have a word when empty, of each the first attempt.
        tasks: Ids.
        judges: Whose words count; everybody's when empty.
        published: Take what was published elsewhere; by default where there is nothing else.
        further: Take the further attempts of these models as well.
    """
    found = Gathered(workspace, {model: workspace.model_title(model) for model in models})
    read = {task: cards for task in tasks if (cards := _cards(found, task, judges)) is not None}
    if published is None:
        named = [card for cards in read.values() for card in cards if not models or card.model in models]
        elsewhere = [card.scored_elsewhere for card in named] or _by_source(workspace, read, judges)
        published = all(elsewhere)
    found.published = published
    counted = [card for cards in read.values() for card in cards if card.scored_elsewhere == published]
    found.machines = frozenset(card.judge for card in counted if card.by_machine)
    found.people = any(not card.by_machine and not card.sealed for card in counted)
    for task, every in read.items():
        rubric = workspace.rubric(task)
        cards = [card for card in every if card.scored_elsewhere == published]
        sealed = {(card.judge, card.model) for card in cards if card.sealed}
        told = [
            (judge, one)
            for judge, one in _matchups(workspace, task, judges, found.faults)
            if bool(one.source) == published
            if not (found.people and judge in found.machines)
            if not any((judge, model) in sealed for model in one.models)
        ]
        called = dict.fromkeys(
            (*(c.model for c in cards), *(model for _, one in told for model in one.models))
        )
        wanted = _wanted(workspace, models, called, further=further)
        judged = {
            model: _judged(workspace, model, task, own, rubric, found.people)
            for model in wanted
            if (own := [card for card in cards if card.model == model and not card.sealed])
        }
        judged = {model: one for model, one in judged.items() if one.cards or one.machines}
        compared = tuple((judge, one) for judge, one in told if set(one.models) <= set(wanted))
        if judged or compared:
            found.tasks[task] = OfTask(task, rubric, judged, compared)
            shown = (*judged, *(model for _, one in compared for model in one.models))
            found.models |= {model: workspace.model_title(model) for model in shown}
    if not further:
        found.attempts = tuple(_attempts(found, models, read))
        # of which nobody has scored the first, the row is empty and the attempts are told
        found.models |= {each.model: each.title for each in found.attempts if not models} | found.models
    return found


def _by_source(workspace: Workspace, tasks: Iterable[str], judges: Collection[str]) -> list[bool]:
    """Of every comparison, where nothing was scored: whether it was published elsewhere."""
    return [bool(one.source) for task in tasks for _, one in _matchups(workspace, task, judges, [])]


def _wanted(
    workspace: Workspace, models: Sequence[str], named: Iterable[str], *, further: bool
) -> Sequence[str]:
    """Names of the answers that count, of those that have a card or stand in a comparison."""
    if not models:
        return [name for name in named if further or workspace.parts(name)[1] == 1]
    own = [name for name in named if further and workspace.parts(name)[0] in models]
    return list(dict.fromkeys((*models, *own)))


def _attempts(
    found: Gathered, models: Collection[str], read: Mapping[str, Iterable[Scorecard]]
) -> Iterator[Attempts]:
    """The attempts of models that have several, with the points of the judges that count."""
    workspace = found.workspace
    named = {workspace.parts(name)[0] for name in models}
    for (model, task), names in several(workspace, read).items():
        cards = [card for card in read[task] if card.model in names]
        counted = [
            card
            for card in cards
            if card.scored_elsewhere == found.published and not card.sealed
            if not (found.people and card.by_machine)
        ]
        if counted and (not models or model in named):
            rubric = workspace.rubric(task)
            given = {name: mean(points(c, rubric) for c in counted if c.model == name) for name in names}
            sealed = {(card.model, task) for card in cards if card.sealed}
            passes = passes_unless_blind(workspace, sealed, {(card.model, task) for card in counted})
            digests = {name: workspace.submission(name, task).digest for name in names}
            stale = {c.model for c in counted if c.submission not in (None, digests[c.model])}
            here = not found.published
            yield attempts_at(workspace, task, names, given, passes, stale, here=here)


def _cards(found: Gathered, task: str, judges: Collection[str]) -> list[Scorecard] | None:
    """The scorecards on a task; ``None`` where it has no rubric that can be read."""
    faults: dict[tuple[str, str], str] = {}
    try:
        found.workspace.rubric(task)
        cards = found.workspace.scorecards(task, faults)
    except JudgeError as error:
        found.faults.append(str(error))
        return None
    found.faults += faults.values()
    return [card for card in cards if not judges or card.judge in judges]


def _judged(
    workspace: Workspace, model: str, task: str, every: Sequence[Scorecard], rubric: Rubric, people: bool
) -> Judged:
    machines = tuple(card for card in every if people and card.by_machine)
    cards = [card for card in every if card not in machines]
    submission = workspace.submission(model, task)
    title = workspace.model_title(model)
    return Judged(model, title, tuple(cards), _placed(cards, submission), submission, rubric, machines)


def _placed(cards: Iterable[Scorecard], submission: Submission) -> tuple[tuple[Placed, ...], ...]:
    """The notes of each card with their present places."""
    found, files = [], files_of(submission)
    for card in cards:
        where = placed_notes(card, submission, files)
        found.append(tuple(where[note.id] for note in card.notes))
    return tuple(found)


def _matchups(
    workspace: Workspace, task: str, judges: Collection[str], faults: list[str]
) -> Iterator[tuple[str, Matchup]]:
    for path in documents_in(workspace.root / "scores" / task / MATCHUPS):
        if judges and path.stem not in judges:
            continue
        try:
            found = workspace.matchups(task, path.stem)
        except JudgeError as error:
            faults.append(str(error))
            continue
        yield from ((found.judge, one) for one in found.matchups)
