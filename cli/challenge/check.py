"""``judge-tui challenge check``: is a challenge a fair and a hard judge?"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judge_tui.checks.errors import UsageError
from judge_tui.checks.faults import Skipped
from judge_tui.cli import options
from judge_tui.cli.results import Ticker
from judge_tui.cli.table import coloured, columns, wrapped
from judge_tui.judging.plain import plain
from judge_tui.judging.wording import counted
from judge_tui.judging.workspace import Workspace

if TYPE_CHECKING:
    from judge_tui.checks.challenges.challenge import Challenge
    from judge_tui.checks.trying.lazy_numbers import Tolerance
    from judge_tui.checks.trying.trial import Tried

__all__ = ["command"]

_TOLERANCE = re.compile(r"\s*(atol|rtol)\s*=\s*([0-9.]+(?:[eE][+-]?[0-9]+)?)\s*")
_HEADS = {
    "names": "Names that may be misspelt:",
    "reference": "The reference, as a submission:",
    "right": "What must pass:",
    "wrong": "What must fail:",
    "lazy": "Lazy answers, which must fail:",
}


@click.command("check")
@click.argument("name", shell_complete=options.complete_task)
@options.workspace
@click.option(
    "--tolerance",
    metavar="atol=A,rtol=R",
    help="Hold lazy answers to this rule instead: what would it let through?",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="What standard output gets.",
)
def command(name: str, workspace: Path | None, tolerance: str | None, form: str) -> int:
    """Try a challenge: its reference and right/ must pass, wrong/ must fail, and so must lazy answers.

    Exits 0 when all of that holds, 1 when something lazy or wrong passes or something right does not, 2 when
    the challenge is off.
    """
    found = options.open_workspace(workspace, None, None)
    rule = None if tolerance is None else _rule(tolerance)
    results: list[Tried] = []
    task, ticker = found.task(name, whole=True), Ticker()
    with ExitStack() as ends:
        ends.callback(ticker.clear)
        for each in _trials(found, task, rule, ticker.doing):
            ticker.clear()
            if form == "text":
                _tell(each, results)
            results.append(each)
    if form == "json":
        _print_json(results)
    bad = [each for each in results if not each.fine]
    if form == "text":
        click.echo("")
        same = sum(each.same for each in results)
        told = f", {counted(same, 'lazy answer')} the right one" if same else ""
        click.echo(f"{len(results)} tried, {len(bad)} as they must not be{told}.")
        own = found.challenge(task) is not None
        if own and not any(each.kind in ("reference", "right") for each in results):
            click.echo(f"right/ holds no answer: that a right one passes {task} was not tried.")
    return 1 if bad else 0


def _trials(
    found: Workspace, task: str, rule: Tolerance | None, doing: Callable[[str, str], None]
) -> Iterator[Tried]:
    from judge_tui.checks.task import load_task
    from judge_tui.checks.trying.built_in import tried_built_in
    from judge_tui.checks.trying.challenge import tried
    from judge_tui.cli.challenge.answers import answers_in

    challenge = found.challenge(task)
    if challenge is None:
        if rule is not None:
            raise UsageError(f"{task} is built in: its limits are no rule that could be made looser.")
        yield from tried_built_in(load_task(task), doing)
        return
    if not challenge.kinds:
        raise _of_no_kind(challenge)
    with answers_in(Path(challenge.path)) as (right, wrong):
        try:
            yield from tried(challenge, right, wrong, rule, doing)
        except Skipped as fault:
            raise UsageError(f"{fault.message}.") from fault


def _of_no_kind(challenge: Challenge) -> UsageError:
    """What is missing in a challenge's folder."""
    from judge_tui.checks.challenges.challenge import overlooked

    if told := overlooked(challenge.folder.files):
        return UsageError(f"{challenge.id} has no challenge: {told}", hint="Rename it.")
    return UsageError(
        f"{challenge.id} has no challenge: no challenge.py, no tests/ and no cases/ in {challenge.path}.",
        hint=f"Begin one with: judge-tui challenge new {challenge.id}",
    )


def _rule(text: str) -> Tolerance:
    from judge_tui.checks.trying.lazy_numbers import Tolerance

    told: dict[str, float] = {}
    for part in text.split(","):
        match = _TOLERANCE.fullmatch(part)
        if match is None:
            raise UsageError(f"'{text}' is no tolerance.", hint="Say --tolerance atol=1e-2,rtol=1e-2")
        told[match[1]] = float(match[2])
    return Tolerance(told.get("atol", 0.0), told.get("rtol", 0.0))


def _tell(each: Tried, before: list[Tried]) -> None:
    if not before or before[-1].kind != each.kind:
        click.echo(("\n" if before else "") + _HEADS[each.kind])
    sign, colour = ("=", "cyan") if each.same else ("✓", "green") if each.fine else ("✗", "red")
    mark = click.style(sign, fg=colour) if coloured() else sign
    click.echo(f"  {mark} " + wrapped(plain(f"{each.name}: {each.told}"), columns(), 6))


def _print_json(results: list[Tried]) -> None:
    import msgspec

    whole = {"schema": 1, "tried": results}
    click.echo(msgspec.json.format(msgspec.json.encode(whole), indent=2).decode())
