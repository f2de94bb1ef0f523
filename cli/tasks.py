"""``judge-tui tasks``: what checks are installed, and where they come from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import click

from judge_tui.checks.errors import JudgeError
from judge_tui.checks.task import Installed, Task, installed, load_task
from judge_tui.cli.table import cells, coloured, columns, padded, wrapped
from judge_tui.judging.plain import plain

__all__ = ["command"]


@dataclass(frozen=True, slots=True)
class _Listed:
    """A task that is offered: imported, or with the reason why it is not."""

    offered: Installed
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
def command(form: str) -> None:
    """List the tasks that checks are installed for, what each check establishes, and where it comes from.

    Tasks are plug-ins: whatever offers one in the entry-point group judge_tui.tasks is listed. One that
    cannot be used has one line with the reason.
    """
    listed = [_listed(offered) for offered in installed()]
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


def _listed(offered: Installed) -> _Listed:
    if offered.hidden:
        return _Listed(offered, None, offered.hidden)
    try:
        return _Listed(offered, load_task(offered.name))
    except JudgeError as error:
        return _Listed(offered, None, error.message)


def _object(each: _Listed) -> dict[str, object]:
    told: dict[str, object] = {"task": each.offered.name, "distribution": each.offered.distribution}
    if each.task is None:
        return {**told, "broken": each.broken}
    checks = [
        {"check": check.id, "title": check.title, "establishes": check.establishes, "version": check.version}
        for check in each.task.checks
    ]
    roles = [{"role": role.name, "required": role.required} for role in each.task.contract.roles]
    asked = each.task.contract.text
    return {**told, "title": each.task.title, "contract": asked, "roles": roles, "checks": checks}


def _lines(each: _Listed) -> Iterator[str]:
    name, source = plain(each.offered.name), plain(each.offered.distribution)
    if each.task is None:
        sign = click.style("✗", fg="red") if coloured() else "✗"
        yield f"{sign} {name}  ({source})  {plain(each.broken)}"
        return
    head = click.style(name, bold=True) if coloured() else name
    yield f"{head}  {plain(each.task.title)}  ({source})"
    width = max((cells(check.id) for check in each.task.checks), default=0)
    for check in each.task.checks:
        yield f"  {padded(check.id, width)}  " + wrapped(plain(check.establishes), columns(), width + 4)
