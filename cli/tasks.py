"""``judge-tui tasks``: what checks are installed, and where they come from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click

from judge_tui.checks.challenges.task import made, trouble
from judge_tui.checks.errors import JudgeError, WorkspaceError
from judge_tui.checks.installed import Installed, installed
from judge_tui.checks.task import Task, load_task
from judge_tui.cli import options
from judge_tui.cli.table import cells, coloured, columns, padded, wrapped
from judge_tui.judging.challenges.found import challenge_ids, odd_challenges
from judge_tui.judging.plain import plain

__all__ = ["command"]

_OWN = "this workspace"


@dataclass(frozen=True, slots=True)
class _Listed:
    """A task that is offered: ready to judge by, or with the reason why it is not.

    Attributes:
        name: Its id.
        source: The distribution that it comes from, or the workspace.
        task: The task.
        broken: Why there is none.
    """

    name: str
    source: str
    task: Task | None
    broken: str = ""


@click.command("tasks")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="What standard output gets.",
)
@options.workspace
def command(form: str, workspace: Path | None) -> None:
    """List the tasks that can be judged, what each check establishes, and where it comes from.

    Tasks are built in, or plug-ins: whatever offers one in the entry-point group judge_tui.tasks is listed.
    In a workspace the challenges of its own come first. One that cannot be used has one line with the reason.
    """
    listed = [*_own(workspace), *(_listed(offered) for offered in installed())]
    if form == "json":
        import msgspec

        whole = {"schema": 1, "tasks": [_object(each) for each in listed]}
        click.echo(msgspec.json.format(msgspec.json.encode(whole), indent=2).decode())
        return
    for index, each in enumerate(listed):
        if index and each.task:
            click.echo("")
        for line in _lines(each):
            click.echo(line)


def _own(folder: Path | None) -> Iterator[_Listed]:
    """The challenges of the workspace that the command is used in, if it is used in one."""
    try:
        found = options.open_workspace(folder, None, None)
    except WorkspaceError:
        if folder is not None:
            raise
        return
    for name in challenge_ids(found.root):
        try:
            challenge = found.challenge(name)
            assert challenge is not None
            yield _Listed(name, _OWN, made(challenge), trouble(challenge))
        except JudgeError as error:
            yield _Listed(name, _OWN, None, str(error))
    for told in odd_challenges(found.root):
        yield _Listed("challenges/", _OWN, None, told)


def _listed(offered: Installed) -> _Listed:
    source = offered.distribution
    if offered.hidden:
        return _Listed(offered.name, source, None, offered.hidden)
    try:
        return _Listed(offered.name, source, load_task(offered.name))
    except JudgeError as error:
        return _Listed(offered.name, source, None, error.message)


def _object(each: _Listed) -> dict[str, object]:
    told: dict[str, object] = {"task": each.name, "distribution": each.source}
    if each.broken:
        told["broken"] = each.broken
    if each.task is None:
        return told
    checks = [
        {"check": check.id, "title": check.title, "establishes": check.establishes, "version": check.version}
        for check in each.task.checks
    ]
    roles = [{"role": role.name, "required": role.required} for role in each.task.contract.roles]
    asked = each.task.contract.text
    return {**told, "title": each.task.title, "contract": asked, "roles": roles, "checks": checks}


def _lines(each: _Listed) -> Iterator[str]:
    name, source = plain(each.name), plain(each.source)
    if each.broken:
        sign = click.style("✗", fg="red") if coloured() else "✗"
        yield f"{sign} {name}  ({source})  {plain(each.broken)}"
    if each.task is None or each.broken:
        return
    head = click.style(name, bold=True) if coloured() else name
    yield f"{head}  {plain(each.task.title)}  ({source})"
    width = max((cells(check.id) for check in each.task.checks), default=0)
    for check in each.task.checks:
        yield f"  {padded(check.id, width)}  " + wrapped(plain(check.establishes), columns(), width + 4)
