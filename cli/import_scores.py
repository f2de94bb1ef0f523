"""``judge-tui import-scores``: scorecards and matchups that are taken in, all of them or none."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from judge_tui.checks.errors import JudgeError, UsageError, WorkspaceError
from judge_tui.cli import options
from judge_tui.cli.scores import FORMS
from judge_tui.judging.card import now
from judge_tui.judging.naming import judge_name
from judge_tui.judging.plain import plain
from judge_tui.judging.storage import read_bytes

if TYPE_CHECKING:
    from judge_tui.judging.exchange.coming_in import Form
    from judge_tui.judging.packets.answers import Answer
    from judge_tui.judging.workspace import Workspace

__all__ = ["command"]

#: Faults that are told; more of them say the same.
_TOLD = 50


@click.command("import-scores")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, allow_dash=True))
@click.option(
    "--format", "form", type=click.Choice(["jsonl", "csv", "json"]),
    help="The format; by default what the name of the file says, else jsonl.",
)  # fmt: skip
@click.option(
    "--key", "keys", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
    help="The key of the packets that are answered, where `judge-tui packet --key` has written it.",
)  # fmt: skip
@click.option("--judge", metavar="NAME", help="The judge of these answers, in place of the name they give.")
@click.option("--replace", is_flag=True, help="Write over scorecards and matchups that say something else.")
@click.option("--dry-run", is_flag=True, help="Say what would be written, and write nothing.")
@options.workspace
def command(
    file: Path,
    form: str | None,
    keys: Path | None,
    judge: str | None,
    replace: bool,
    dry_run: bool,
    workspace: Path | None,
) -> int:
    """Take scorecards and matchups from a file, or from standard input (-): all of them, or none.

    What is there already and says something else stays, unless --replace says otherwise. Whatever is wrong
    is told with its line.

    A file with answers to packets, as a language model wrote it, goes in as a machine's word: scorecards and
    a matchup.
    """
    from judge_tui.judging.exchange.coming_in import carried_out, planned, read_records
    from judge_tui.judging.packets.as_written import looks_like_one

    found = options.open_workspace(workspace, None, None)
    name, data = _data(file)
    chosen = cast("Form", form or FORMS.get(file.suffix.lower(), "jsonl"))
    faults: list[str] = []
    remarks: list[str] = []
    text = _decoded(data, name)
    answers = keys is not None or looks_like_one(text)
    if judge is not None and not answers:
        raise UsageError(
            "--judge names the judge of answers to a packet.", hint="Records name their judges themselves."
        )
    if answers:
        records = iter(_answers(found, text, name, keys, judge or "", faults, remarks))
    else:
        records = read_records(text, chosen, name, faults)
    counted = "record" if chosen == "json" and not answers else ""
    plan = planned(found, records, name, faults, replace=replace, counted=counted)
    if plan.faults:
        for fault in plan.faults[:_TOLD]:
            click.echo(f"judge-tui: {plain(fault)}", err=True)
        more = f", {len(plan.faults) - _TOLD} of them not told here" if len(plan.faults) > _TOLD else ""
        some = f"{len(plan.faults)} fault{'s' if len(plan.faults) > 1 else ''}{more}"
        click.echo(f"judge-tui: nothing was taken in: {some}.", err=True)
        return 2
    if not plan.writings and not plan.left_out:
        raise UsageError(
            f"there is no record in {name}.", hint="judge-tui scores --format schema says what one is."
        )
    if not dry_run:
        carried_out(plan.writings)
    for remark in (*remarks, *plan.remarks):
        click.echo(f"judge-tui: {plain(remark)}", err=True)
    would = "would be " if dry_run else ""
    told = [f"{plan.count('new')} {would}new", f"{plan.count('replaced')} {would}replaced"]
    told.append(f"{plan.count('same')} as they were")
    if plan.left_out:
        told.append(f"{plan.left_out} outcomes left out: checks are run here")
    click.echo(f"{name}: {', '.join(told)}.")
    return 0


def _answers(
    workspace: Workspace,
    text: str,
    name: Path,
    keys: Path | None,
    judge: str,
    faults: list[str],
    remarks: list[str],
) -> list[tuple[int, dict[str, Any]]]:
    """Answers to packets, as records."""
    from judge_tui.judging.exchange.records import matchups_record
    from judge_tui.judging.packets.answers import answered, records_of
    from judge_tui.judging.packets.as_written import answers_in
    from judge_tui.judging.packets.keys import kept, keys_in

    written = {} if keys is None else keys_in(_data(keys)[1], keys)
    found: dict[tuple[str, str], Answer] = {}
    for line, raw in answers_in(text, name):
        packet = str(raw.get("packet", ""))
        known = written if packet in written or (key := kept(packet)) is None else {packet: key}
        try:
            answer = answered(line, raw, known, judge, name)
            judge_name(answer.judge)
            if (packet, answer.judge) in found:
                raise WorkspaceError(f"{answer.judge} answers packet {packet} a second time.", file=name)
            found[packet, answer.judge] = answer
        except JudgeError as error:
            error.file, error.line = str(name), line
            faults.append(str(error))

    def present(task: str, who: str) -> dict[str, Any]:
        return matchups_record(workspace.matchups(task, who))

    if faults:
        return []
    said: list[str] = []
    records = records_of(workspace, [*found.values()], now(), present, said)
    remarks += [f"{name}:{remark}" for remark in said]
    return records


def _data(file: Path) -> tuple[Path, bytes]:
    if str(file) == "-":
        return Path("standard input"), sys.stdin.buffer.read()
    data = read_bytes(file)
    if data is None:
        raise WorkspaceError("there is no such file.", file=file)
    return file, data


def _decoded(data: bytes, name: Path) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise WorkspaceError("is not UTF-8 text; nothing was taken in.", file=name, line=line) from error
