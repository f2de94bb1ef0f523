"""Searching the roles of a submission for ``bind``, and printing and storing what was found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import click
import numpy as np

from judge_tui.checks.adapter_prompt import prompt
from judge_tui.checks.adapter_skeleton import skeleton
from judge_tui.checks.binding.binder import Bindings
from judge_tui.checks.binding.tables import tables
from judge_tui.checks.bound import Bound, RoleBound, bound, searched
from judge_tui.checks.challenges.challenge import Challenge
from judge_tui.checks.challenges.task import task_of
from judge_tui.checks.errors import UsageError, WorkspaceError
from judge_tui.checks.faults import Fault
from judge_tui.checks.runner import sandboxed
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import Task
from judge_tui.cli.table import coloured, columns, wrapped
from judge_tui.judging.plain import plain
from judge_tui.judging.sidefiles import write_adapter, write_bindings

__all__ = ["Search", "print_json", "print_prompt", "print_text", "store"]

_SIGNS = {"found": ("✓", "green"), "open": ("?", "cyan"), "fault": ("✗", "red")}


@dataclass(frozen=True, slots=True)
class Search:
    """What was looked for, and what was found.

    Attributes:
        task: Whose roles.
        submission: Where.
        found: What the binder found.
        result: The same, role by role, for people.
        sandbox: The level at which it was searched.
    """

    task: Task
    submission: Submission
    found: Bindings
    result: Bound
    sandbox: str

    @classmethod
    def made(
        cls, submission: Submission, role: str | None, *, seed: int, trust: bool, challenge: Challenge | None
    ) -> Search:
        """Search a submission.

        Raises:
            UsageError: There is no such role, nothing to search, or nothing that confines it.
        """
        task = task_of(submission.task, challenge)
        names = [each.name for each in task.contract.roles]
        if not names:
            raise UsageError(
                f"nothing of the task '{task.id}' is called by roles.",
                hint="Its tests and cases meet an answer by its own names.",
            )
        if role is not None and role not in names:
            raise UsageError(
                f"task '{task.id}' has no role '{role}'.", hint=f"There are: {', '.join(names)}."
            )
        level = sandboxed(trust)
        try:
            found = searched(task, submission, seed=seed)
        except Fault as fault:
            raise UsageError(f"nothing can be bound: {fault.placed}.") from fault
        result = bound(task, submission, found)
        kept = tuple(each for each in result.roles if role in (None, each.role))
        return cls(task, submission, found, Bound(result.model, result.task, kept), level)


def store(search: Search, folder: Path, *, write: bool, adapter: bool) -> tuple[str, ...]:
    """Write what is asked for, and say what was written.

    Raises:
        WorkspaceError: The folder cannot be written, or there is an adapter already.
    """
    said: list[str] = []
    shown = {each.role for each in search.result.roles}
    if write:
        try:
            wanted = {role: t for role, t in tables(search.found.found).items() if role in shown}
        except ValueError as error:
            raise WorkspaceError(f"a binding cannot be written: {error}.") from error
        roles = write_bindings(folder, wanted)
        told = ", ".join(f"[binding.{role}]" for role in roles)
        said.append(f"{folder / 'submission.toml'}: {told or 'nothing new to write'}")
    if adapter:
        sample = search.task.contract.sample(np.random.default_rng(0))
        path = write_adapter(folder, skeleton(search.task.contract, search.found, sample))
        said.append(f"{path}: a skeleton to fill in")
    return tuple(said)


def print_json(search: Search, written: Sequence[str]) -> None:
    """One object: ``{"schema": 1, "model", "task", "sandbox", "roles": […], "written": […]}``."""
    import msgspec

    told = msgspec.to_builtins(search.result)
    whole = {"schema": 1, **told, "sandbox": search.sandbox, "written": list(written)}
    click.echo(msgspec.json.format(msgspec.json.encode(whole), indent=2).decode())


def print_prompt(search: Search) -> None:
    """What is needed to write an adapter, as one text."""
    task = search.task
    sample = task.contract.sample(np.random.default_rng(0))
    click.echo(
        plain(prompt(task.title, task.contract, search.submission, search.found, sample), keep_newlines=True),
        nl=False,
    )


def print_text(search: Search, written: Sequence[str]) -> None:
    """Role by role; neighbours that are open for the same reasons stand together."""
    result = search.result
    done = sum(role.state == "found" for role in result.roles)
    click.echo(plain(f"{result.model} · {result.task}: {done} of {len(result.roles)} roles bound"))
    for (state, *_), group in groupby(result.roles, key=_alike):
        roles = list(group)
        click.echo("")
        for line in _found(roles[0]) if state == "found" else _open(roles):
            click.echo(line)
    for line in written:
        click.echo(f"\nWritten: {plain(line)}")


def _alike(role: RoleBound) -> tuple[str, str, object]:
    return role.state, role.role if role.state == "found" else role.why, role.candidates


def _mark(state: str) -> str:
    sign, colour = _SIGNS[state]
    return click.style(sign, fg=colour) if coloured() else sign


def _found(role: RoleBound) -> Iterator[str]:
    line = f":{role.line}" if role.line else ""
    # the name of a C++ function may hold colons, a file's may not
    file, _colon, name = role.target.partition(":")
    yield f"{_mark('found')} {role.role}  {plain(f'{file}{line} {name}')}"
    yield _entry("called", role.called)
    if role.gives:
        gives = (f"{name} = {path or 'the result'}" for name, path in role.gives.items())
        yield _entry("gives", ", ".join(gives))
    yield _entry("why", role.why)


def _open(roles: Sequence[RoleBound]) -> Iterator[str]:
    first = roles[0]
    names = ", ".join(role.role + ("" if role.required else " (optional)") for role in roles)
    yield f"{_mark(first.state)} {names}: open" + (f", {plain(first.why)}" if first.why else "")
    for attempt in first.candidates:
        _file, _colon, name = attempt.target.partition(":")
        place = f"{attempt.file}:{attempt.line} {name}  " if attempt.target else ""
        yield "    " + wrapped(plain(place + attempt.said), columns(), 6)
    if not first.candidates and not first.why:
        yield "    nothing that looks like it"


def _entry(label: str, text: str) -> str:
    return f"    {label:7} " + wrapped(plain(text), columns(), 12)
