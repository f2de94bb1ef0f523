"""What ``judge-tui add`` would write: whose answers, to which task, as which attempt, of which files."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from judge_tui.checks.attempts import MOST, SIGN, attempt_name, attempt_of
from judge_tui.checks.errors import UsageError
from judge_tui.checks.unlisted import escaped
from judge_tui.cli.bringing import brought as limits
from judge_tui.cli.bringing.brought import Brought, Refused
from judge_tui.cli.bringing.folders import from_folder, one_file, refuse_what_is_none
from judge_tui.cli.bringing.languages import guessed
from judge_tui.cli.bringing.member_names import module_name
from judge_tui.cli.bringing.recognising import Form, brought_of, told_of_files
from judge_tui.cli.copying import Arrival
from judge_tui.judging.folders import is_there, kept_inside, readable_in
from judge_tui.judging.naming import folder_name, new_name, normalized
from judge_tui.judging.strange_names import strange_model
from judge_tui.judging.workspace import Workspace

__all__ = [
    "NEXT",
    "PIPE",
    "Adding",
    "Wanted",
    "about",
    "content",
    "free_place",
    "model_of",
    "next_number",
    "planned",
]

#: The attempt that is asked for where the next free one is meant.
NEXT = 0
PIPE = Path("-")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was asked for.

    Attributes:
        source: The file or folder; ``-`` is standard input.
        model: Whose work it is; empty where the source says so.
        task: What it answers; empty where the source says so.
        attempt: Its number among the model's answers, or :data:`NEXT`; ``None`` for the first and only one.
        meta: What a ``submission.toml`` would say.
    """

    source: Path
    model: str
    task: str
    attempt: int | None
    meta: Mapping[str, str]

    @property
    def called(self) -> str:
        """The source, for messages."""
        return "standard input" if self.source == PIPE else str(self.source)


@dataclass(frozen=True, slots=True)
class Adding:
    """One submission that would be written.

    Attributes:
        model: Folder name of its model.
        task: Id of its task.
        attempt: Its number.
        arrival: Its files, and where they go.
        told: What whoever adds it has to know, a sentence each.
    """

    model: str
    task: str
    attempt: int
    arrival: Arrival
    told: tuple[str, ...]

    @property
    def name(self) -> str:
        """What the answer is called wherever a model is."""
        return attempt_name(self.model, self.attempt)


def content(wanted: Wanted) -> bytes | None:
    """The bytes of what is brought; ``None`` for a folder.

    Raises:
        JudgeError: It is not there, cannot be read, or is too large.
    """
    if wanted.source == PIPE:
        return _piped()
    refuse_what_is_none(wanted.source)
    return None if wanted.source.is_dir() else one_file(wanted.source)


def planned(workspace: Workspace, wanted: Wanted, data: bytes | None, form: Form) -> Adding:
    """Look at what is brought, and at where it goes.

    Args:
        workspace: Where it goes.
        wanted: What was asked for.
        data: What :func:`content` gave.
        form: What that is, of a file.

    Raises:
        JudgeError: It cannot be brought.
    """
    for said, option in ((wanted.model, "--model"), (wanted.task, "--task")):
        if not said:
            raise UsageError(f"{option} is missing, and {wanted.called} does not say it.")
    model, task = model_of(workspace, wanted.model), workspace.task(wanted.task, whole=True)
    attempt = next_number(workspace, model, task, wanted.attempt)
    target = free_place(workspace, model, task, attempt)
    if data is None:
        found = _of_folder(wanted.source, target)
    else:
        found = brought_of(form, _file_name(wanted, task, data), data, task)
    arrival = Arrival(wanted.called, target, found.files, wanted.meta)
    strange = (strange_model(model),) if SIGN in model else ()
    return Adding(model, task, attempt, arrival, (*found.sentences, *strange))


def model_of(workspace: Workspace, name: str) -> str:
    """Folder name of the model that is meant: a known one in another spelling, else a new one.

    A mere prefix of a known name is a new one.

    Raises:
        UsageError: It can be no name.
    """
    models, aliases = workspace.models(), workspace.settings.aliases
    if name in models:
        return name
    checked = new_name(aliases.get(name, name)) if SIGN in name else folder_name(name)
    known = {normalized(alias): model for alias, model in aliases.items()}
    known |= {normalized(model): model for model in models if SIGN not in model}
    spelling = normalized(checked)
    return known.get(spelling, checked) if spelling else checked


def next_number(workspace: Workspace, model: str, task: str, wanted: int | None) -> int:
    """The number of an attempt that is asked for; the next one is behind all that are here or scored.

    Args:
        workspace: Where it goes.
        model: Folder name.
        task: Id.
        wanted: As :attr:`Wanted.attempt`.
    """
    if wanted != NEXT:
        return wanted or 1
    tree = workspace.submissions
    here = {n for name, n in map(attempt_of, readable_in(tree / model, tree)) if name == task}
    scored = {workspace.parts(name)[1] for name in workspace.attempts(model, task)}
    number = max(here | scored) + 1 if here else 1
    while not _means(workspace, model, number):
        number += 1
    return number


def _means(workspace: Workspace, model: str, attempt: int) -> bool:
    """Whether the name of an attempt means it, and no model from before there were attempts."""
    return workspace.parts(attempt_name(model, attempt)) == (model, attempt) or attempt == 1


def free_place(workspace: Workspace, model: str, task: str, attempt: int) -> Path:
    """Where an attempt goes.

    Raises:
        JudgeError: Something is there, or no attempt has that number.
    """
    tree = workspace.submissions
    target = kept_inside(tree / model / attempt_name(task, attempt), tree)
    if attempt > MOST:
        raise UsageError(f"there is no attempt {attempt}: the highest number is {MOST:,}.")
    if not _means(workspace, model, attempt):
        raise UsageError(
            f"{attempt_name(model, attempt)} is a model of its own.",
            hint="Rename its folder, or say another number.",
        )
    if is_there(target):
        raise UsageError(
            f"{attempt_name(model, attempt)} has a submission for {task} already.",
            hint=f"Say --attempt for a further one, or remove {target} first.",
        )
    return target


def _of_folder(source: Path, target: Path) -> Brought:
    if target.resolve().is_relative_to(source.resolve()):
        raise UsageError(f"{source} holds the workspace itself.", hint="Name the folder of one submission.")
    found = from_folder(source)
    return replace(found, told=(*found.told, *told_of_files(found)))


def _file_name(wanted: Wanted, task: str, data: bytes) -> str:
    if wanted.source != PIPE:
        return escaped(wanted.source.name)
    return f"{module_name(task)}{guessed(data.decode('utf-8', 'replace'))}"


def _piped() -> bytes:
    data = sys.stdin.buffer.read(limits.MOST_BYTES + 1)
    if len(data) > limits.MOST_BYTES:
        raise Refused(f"holds more than {limits.MOST_BYTES // 1_000_000} MB.")
    return data


@contextmanager
def about(wanted: Wanted) -> Iterator[None]:
    """Say of what is wrong with a source which one it is."""
    try:
        yield
    except Refused as error:
        error.file = error.file or wanted.called
        raise
