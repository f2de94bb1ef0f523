"""The workspace: a folder with ``submissions/``, ``scores/`` and, where wanted, ``rubrics/``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cached_property, lru_cache
from os.path import isdir, islink, lexists
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from judge_tui.checks.attempts import attempt_name, attempt_of, attempt_title
from judge_tui.checks.challenges.challenge import Challenge
from judge_tui.checks.errors import JudgeError, UsageError, WorkspaceError
from judge_tui.checks.folders import present_folder
from judge_tui.checks.schema import MATCHUPS as MATCHUP_FILE
from judge_tui.checks.schema import SCORECARD
from judge_tui.checks.submission import META, Submission
from judge_tui.judging.card import Scorecard
from judge_tui.judging.challenges.found import (
    OWN,
    challenge_folder,
    challenge_ids,
    challenge_of,
    has_challenges,
)
from judge_tui.judging.document import read_document
from judge_tui.judging.folders import (
    documents_in,
    folders_in,
    is_inside,
    is_there,
    kept_inside,
    readable_in,
)
from judge_tui.judging.naming import judge_name, match
from judge_tui.judging.rubric import Rubric, default_rubric, default_tasks, own_rubric
from judge_tui.judging.scorecard import FileStamp, load_scorecard, read_scorecard
from judge_tui.judging.settings import CONFIG, Settings, settings_of

if TYPE_CHECKING:
    from judge_tui.judging.matchup import Matchups

__all__ = ["BINDINGS", "CONFIG", "Settings", "Workspace", "is_workspace"]

MATCHUPS = "matchups"
BINDINGS = "bindings"


class Workspace(Struct, frozen=True, dict=True):
    """A folder of submissions, rubrics and scores.

    Attributes:
        root: The folder.
        submissions: Where the submissions are, read-only when not below ``root``.
        bindings: A tree ``<model>/<task>/`` of the judge's ``submission.toml`` and ``adapter.py`` that was
            named; they win over those of the workspace's own tree, ``bindings/``.
    """

    root: Path
    submissions: Path
    bindings: Path | None = None

    @cached_property
    def binding_trees(self) -> tuple[Path, ...]:
        """The judge's trees of side files, there or not; the first wins.

        Those of the workspace are about its own submissions, and about no others.
        """
        named = () if self.bindings is None else (self.bindings,)
        own = _same_place(os.fspath(self.submissions), os.fspath(self.root / "submissions"))
        return (*named, self.root / BINDINGS) if own else named

    @classmethod
    def find(
        cls,
        start: Path | None = None,
        explicit: Path | None = None,
        *,
        submissions: Path | None = None,
        bindings: Path | None = None,
    ) -> Workspace:
        """The workspace that holds a folder, or the one that is named.

        Args:
            start: Where to begin looking upwards; the current folder by default.
            explicit: The workspace itself.
            submissions: A tree ``<model>/<task>/`` to use instead of ``submissions/``.
            bindings: A tree of the same layout with side files.

        Raises:
            WorkspaceError: There is none, or a named folder is missing.
        """
        for folder in (explicit, submissions, bindings):
            if folder is not None and not folder.is_dir():
                raise WorkspaceError("there is no such folder.", file=folder)
        start = start or present_folder()
        root = explicit.absolute() if explicit is not None else _search(start.absolute())
        if root is None or not is_workspace(root):
            where = explicit or start
            raise WorkspaceError(
                f"{where} is not a workspace: it has neither {CONFIG}, nor submissions/ and scores/, "
                "nor a challenge in challenges/.",
                hint="Go to one, say --workspace DIR, or make one with: judge-tui init DIR",
            )
        return cls.at(root, submissions=submissions, bindings=bindings)

    @classmethod
    def at(cls, root: Path, *, submissions: Path | None = None, bindings: Path | None = None) -> Workspace:
        """The workspace in a folder, looked at or not."""
        root = root.absolute()
        return cls(
            root, (submissions or root / "submissions").absolute(), bindings.absolute() if bindings else None
        )

    @classmethod
    def loose(cls, submissions: Path, bindings: Path | None = None) -> Workspace:
        """A tree of submissions that belongs to no workspace: no scores, no rubrics of its own."""
        # a root below a folder that is never made: a model may well be called "scores"
        return cls.at(submissions / ".judge-tui", submissions=submissions, bindings=bindings)

    @property
    def title(self) -> str:
        """The workspace's name: as configured, else its folder's."""
        return self.settings.title or self.root.name

    @cached_property
    def settings(self) -> Settings:
        """What ``judge-tui.toml`` says; nothing when it is absent.

        Raises:
            WorkspaceError: The file is malformed.
        """
        path = self.root / CONFIG
        return settings_of(read_document(path)) if path.is_file() else Settings()

    def models(self) -> tuple[str, ...]:
        """Folder names of all models that have a task's folder, scores or a title, sorted.

        Raises:
            WorkspaceError: The folder of the submissions cannot be read.
        """
        return tuple(sorted({self.parts(name)[0] for name in self._names()}))

    def contestants(self) -> tuple[str, ...]:
        """Names of all models, each with those of its further attempts behind it.

        Raises:
            WorkspaceError: The folder of the submissions cannot be read.
        """
        names = self._names()
        folders = {(model, folder) for model in names for folder in self._readable(model)}
        further = {attempt_name(model, attempt_of(folder)[1]) for model, folder in folders}
        models = {self.parts(name)[0] for name in names}
        return tuple(sorted({*models, *names, *further}, key=self.parts))

    def _names(self) -> set[str]:
        scores = self.root / "scores"
        scored = [m for t in readable_in(scores, self.root) for m in readable_in(scores / t, self.root)]
        tree = self.submissions
        submitting = [m for m in folders_in(tree, tree) if self._holds_folders(m)]
        return {*submitting, *scored, *self.settings.titles} - {MATCHUPS}

    def parts(self, model: str) -> tuple[str, int]:
        """The model that a name means, and which of its attempts.

        A folder of just that name is a model's, from before there were attempts.
        """
        found = attempt_of(model)
        return (model, 1) if found[1] > 1 and isdir(self.submissions / model) else found

    def attempts(self, model: str, task: str) -> tuple[str, ...]:
        """Names of a model's answers to a task, by their numbers: those that are here, and those scored."""
        tree, scores = self.submissions / model, self.root / "scores" / task
        numbers = {n for t, n in map(attempt_of, readable_in(tree, self.submissions)) if t == task}
        numbers |= {n for m, n in map(self.parts, readable_in(scores, self.root)) if m == model}
        return tuple(attempt_name(model, number) for number in sorted(numbers))

    def place(self, tree: Path, model: str, task: str) -> Path:
        """Where a tree ``<model>/<task>/`` has an answer; a further one lies in ``<model>/<task>@<n>/``."""
        name, attempt = self.parts(model)
        return tree / name / attempt_name(task, attempt)

    def tasks(self) -> tuple[str, ...]:
        """Ids of all tasks that have a rubric, submissions or scores, sorted.

        Raises:
            WorkspaceError: The folder of the submissions cannot be read.
        """
        own = [path.stem for path in documents_in(self.root / "rubrics")]
        tree = self.submissions
        submitted = [attempt_of(t)[0] for m in folders_in(tree, tree) for t in self._readable(m)]
        scored = readable_in(self.root / "scores", self.root)
        return tuple(sorted({*default_tasks(), *challenge_ids(self.root), *own, *submitted, *scored}))

    def submitted(self, model: str) -> tuple[str, ...]:
        """Tasks that a model, or a further attempt of it, has a folder for, sorted.

        Raises:
            WorkspaceError: The model's folder cannot be read.
        """
        name, attempt = self.parts(model)
        return tuple(sorted(task for task, number in self.answers(name) if number == attempt))

    def answers(self, model: str) -> tuple[tuple[str, int], ...]:
        """The folders of a model by its folder's name, each as a task and the number of an attempt at it.

        Raises:
            WorkspaceError: The model's folder cannot be read.
        """
        return tuple(map(attempt_of, folders_in(self.submissions / model, self.submissions)))

    def _readable(self, model: str) -> tuple[str, ...]:
        """Names of a model's folders; who asks for what is in it is told that it cannot be read."""
        with suppress(WorkspaceError):
            return tuple(attempt_name(task, number) for task, number in self.answers(model))
        return ()

    def _holds_folders(self, model: str) -> bool:
        """Whether a model's folder has one for a task; one that cannot be read is told by who reads it."""
        try:
            return bool(self.answers(model))
        except WorkspaceError:
            return True

    def model(self, name: str, *tasks: str, whole: bool = False) -> str:
        """Folder name of the model that is meant by a name, an alias or a unique prefix.

        ``@n`` behind any of these means the n-th attempt, which has to be there.

        Args:
            name: As typed.
            tasks: What it is wanted for: of several models that may be meant, the only one with a submission
                or scores for one of these is.
            whole: Take no prefix, and of several none: something is written under the name.

        Raises:
            UsageError: None or several are meant; near names are listed.
        """
        names = self.models()
        aliases = {title: model for model, title in self.settings.titles.items()}
        given = self.settings.aliases.items()
        aliases |= {alias: target for alias, target in given if self.parts(target)[0] in names}
        called, attempt = (name, 1) if name in names or name in aliases else attempt_of(name)

        def known(model: str) -> bool:
            return any(self._knows(attempt_name(model, attempt), task) for task in tasks)

        behind = name.removeprefix(called)
        model = match(called, names, aliases, "model", known, whole=whole, behind=behind)
        return self._attempt(model, attempt)

    def _attempt(self, model: str, attempt: int) -> str:
        found = attempt_name(model, attempt)
        if attempt > 1 and found not in (there := self.contestants()):
            others = ", ".join(name for name in there if self.parts(name)[0] == model)
            raise UsageError(f"{model} has no attempt {attempt}.", hint=f"There are: {others}.")
        return found

    def _knows(self, model: str, task: str) -> bool:
        places = (self.place(self.submissions, model, task), self.root / "scores" / task / model)
        # not Path.is_dir, which raises where a folder above cannot be searched
        return any(map(isdir, places))

    def task(self, name: str, *, whole: bool = False) -> str:
        """Id of the task that is meant by a name, an alias or a unique prefix.

        Args:
            name: As typed.
            whole: Take no prefix: something is written under the name.

        Raises:
            UsageError: None or several are meant; near names are listed.
        """
        names = self.tasks()
        aliases = {alias: target for alias, target in self.settings.aliases.items() if target in names}
        return match(name, names, aliases, "task", whole=whole)

    def model_title(self, model: str) -> str:
        """Display name of a model: as configured, else as a submission says, else its folder's."""
        if model in self.settings.titles:
            return self.settings.titles[model]
        name, attempt = self.parts(model)
        title = next(filter(None, self._titles(model)), "") if attempt == 1 else self.model_title(name)
        return attempt_title(title, attempt) if title not in ("", name) else model

    def _titles(self, model: str) -> Iterator[str]:
        name, attempt = self.parts(model)
        places = [os.path.join(tree, name) for tree in (self.submissions, *self.binding_trees)]
        there = list(filter(lexists, places))
        with suppress(WorkspaceError):
            for task in self.submitted(model):
                # that there is no such file is quickly seen
                if any(lexists(os.path.join(place, attempt_name(task, attempt), META)) for place in there):
                    with suppress(WorkspaceError):
                        yield self.submission(model, task).meta.model

    def submission(self, model: str, task: str) -> Submission:
        """One model's folder for one task, by their folder names; it need not exist.

        One that a link leads out of the tree to is none, as if it were missing.
        """
        path = self.place(self.submissions, model, task)
        if not is_inside(path, self.submissions):
            path = self.place(self.submissions / ".behind-a-link", model, task)
        # what a link leads out of the tree to is not the judge's
        # an attempt has bindings of its own: those of another name what stands in other files
        overlays = [self.place(tree, model, task) for tree in self.binding_trees]
        own = self.root / BINDINGS
        kept = (place for place in overlays if not place.is_relative_to(own) or is_inside(place, self.root))
        return Submission(model, task, path, tuple(kept), judged_by=self.judging(task))

    def judging(self, task: str) -> Submission | None:
        """The files of the challenge that a task is judged by; ``None`` where it is not the user's own."""
        challenge = challenge_folder(self.root, task)
        return Submission("", task, challenge) if challenge is not None else None

    def challenge(self, task: str) -> Challenge | None:
        """What a task of the user's own is judged by; ``None`` for one that is built in or installed.

        Raises:
            WorkspaceError: Its ``challenge.toml`` is malformed.
        """
        return challenge_of(self.root, task)

    def rubric(self, task: str) -> Rubric:
        """The workspace's own rubric of a task, else the one that is shipped.

        Raises:
            JudgeError: There is none, or it is malformed.
        """
        own = self.rubric_path(task)
        if is_there(own):
            return own_rubric(own, task)
        challenge = self.challenge(task)
        if challenge is None:
            return default_rubric(task)
        # a screen that has only built-in tasks pays nothing for it
        from judge_tui.judging.challenges.rubric import rubric_of

        return rubric_of(challenge)

    def rubric_path(self, task: str) -> Path:
        """Where the workspace has its own rubric of a task, or would have it: a challenge's in its folder.

        Raises:
            WorkspaceError: That lies elsewhere, behind a link.
        """
        folder = challenge_folder(self.root, task)
        if folder is not None and is_there(folder / OWN):
            return kept_inside(folder / OWN, self.root)
        return kept_inside(self.root / "rubrics" / f"{task}.toml", self.root)

    def judges(self, task: str, model: str) -> tuple[str, ...]:
        """Judges who have a scorecard on a submission, sorted."""
        return tuple(path.stem for path in documents_in(self.root / "scores" / task / model))

    def scorecard_path(self, task: str, model: str, judge: str) -> Path:
        """Where a judge's scorecard on a submission is, or would be.

        Raises:
            UsageError: The judge's name cannot be a file name.
            WorkspaceError: That lies elsewhere, behind a link.
        """
        return kept_inside(self.root / "scores" / task / model / f"{judge_name(judge)}.toml", self.root)

    def matchups_path(self, task: str, judge: str) -> Path:
        """Where a judge's matchups on a task are, or would be.

        Raises:
            UsageError: The judge's name cannot be a file name.
            WorkspaceError: That lies elsewhere, behind a link.
        """
        return kept_inside(self.root / "scores" / task / MATCHUPS / f"{judge_name(judge)}.toml", self.root)

    def scorecard(self, task: str, model: str, judge: str) -> tuple[Scorecard, FileStamp | None]:
        """A judge's scorecard with the stamp to save it under; a blank one when there is none.

        One of a newer schema is read as far as it can be; what it does not say so, its place says.

        Raises:
            WorkspaceError: The file is malformed, or is about something else than its place says.
        """
        path = self.scorecard_path(task, model, judge)
        card, stamp = read_scorecard(path)
        if card is None:
            return Scorecard(task=task, model=model, judge=judge_name(judge)), None
        return self._in_place(card, path, task, model, judge), stamp

    @staticmethod
    def _in_place(card: Scorecard, path: Path, task: str, model: str, judge: str) -> Scorecard:
        """A card that says what its place says."""
        name = judge_name(judge)
        if card.schema > SCORECARD.version:
            card = replace(card, task=card.task or task, model=card.model or model, judge=card.judge or name)
        places = (("task", card.task, task), ("model", card.model, model), ("judge", card.judge, name))
        _placed(path, places)
        return card

    def matchups(self, task: str, judge: str) -> Matchups:
        """A judge's matchups on a task; none when there is no file.

        Those of a newer schema are read as far as they can be, as :meth:`scorecard` does.

        Raises:
            WorkspaceError: The file is malformed, or is about something else than its place says.
        """
        from judge_tui.judging import matchup

        path, name = self.matchups_path(task, judge), judge_name(judge)
        found = matchup.read_matchups(path)
        if found is None:
            return matchup.Matchups(task, name)
        if found.schema > MATCHUP_FILE.version:
            found = replace(found, task=found.task or task, judge=found.judge or name)
        _placed(path, (("task", found.task, task), ("judge", found.judge, name)))
        return found

    def scorecards(
        self, task: str, faults: dict[tuple[str, str], str] | None = None
    ) -> tuple[Scorecard, ...]:
        """All scorecards on a task, by model and judge.

        Args:
            task: Its id.
            faults: Where given, it takes what is wrong with the cards of a model that cannot
                all be read, by (model, task); no card of such a model is given.

        Raises:
            WorkspaceError: One of them is malformed, and nobody takes that.
        """
        cards: list[Scorecard] = []
        for model in folders_in(self.root / "scores" / task, self.root):
            if model == MATCHUPS:
                continue
            folder = self.root / "scores" / task / model
            try:
                for path in documents_in(kept_inside(folder, self.root)):
                    if islink(path):
                        kept_inside(path, self.root)
                    judge = judge_name(path.stem)
                    cards.append(self._in_place(load_scorecard(path), path, task, model, judge))
            except JudgeError as error:
                error.file = error.file or str(folder)
                if faults is None:
                    raise
                faults.setdefault((model, task), str(error))
        return tuple(cards)


@lru_cache(maxsize=16)
def _same_place(one: str, other: str) -> bool:
    return one == other or os.path.realpath(one) == os.path.realpath(other)


def is_workspace(folder: Path) -> bool:
    """Whether a folder holds ``judge-tui.toml``, ``submissions/`` and ``scores/``, or a challenge."""
    both = all((folder / part).is_dir() for part in ("submissions", "scores"))
    return both or (folder / CONFIG).is_file() or has_challenges(folder)


def _placed(path: Path, places: Iterable[tuple[str, str, str]]) -> None:
    for what, said, place in places:
        if said != place:
            raise WorkspaceError(
                f"says {what} '{said}', and its place says '{place}'.",
                hint="Move the file, or mend the key.",
                file=path,
            )


def _search(start: Path) -> Path | None:
    return next((folder for folder in (start, *start.parents) if is_workspace(folder)), None)
