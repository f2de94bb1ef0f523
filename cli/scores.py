"""``judge-tui scores``: what judges wrote and checks found, as data for other programs."""

from __future__ import annotations

import json
from pathlib import Path

import click

from judge_tui.cli import options
from judge_tui.judging.plain import plain
from judge_tui.judging.storage import write_atomically

__all__ = ["FORMS", "command"]

#: Ends of files → format.
FORMS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".csv": "csv"}
_SCHEMA = 1


@click.command("scores")
@click.argument("models", nargs=-1, metavar="[MODEL]...", shell_complete=options.complete_model)
@options.task(several=True)
@click.option("--judge", "judges", multiple=True, metavar="NAME", help="Whose words; everybody's by default.")
@click.option(
    "--format", "form", type=click.Choice(["jsonl", "csv", "json", "schema"]),
    help="The format, by default what the name of the file says, else jsonl; schema prints the JSON Schema.",
)  # fmt: skip
@click.option(
    "--outcomes/--no-outcomes", default=True, help="With the outcomes that this machine has stored."
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
    help="Write it there instead of to standard output.",
)  # fmt: skip
@options.workspace
def command(
    models: tuple[str, ...],
    tasks: tuple[str, ...],
    judges: tuple[str, ...],
    form: str | None,
    outcomes: bool,
    output: Path | None,
    workspace: Path | None,
) -> None:
    """Print scorecards, matchups and stored outcomes for other programs.

    A line of jsonl is a record with all that its file says; `import-scores` takes it back without loss. csv
    has a row for each score, grade, summary and note, and neither matchups nor outcomes.
    """
    from judge_tui.judging.exchange.going_out import records

    form = form or FORMS.get(output.suffix.lower() if output else "", "jsonl")
    faults: list[str] = []
    if form == "schema":
        from judge_tui.judging.exchange.shapes import json_schema

        text = f"{json.dumps(json_schema(), indent=2, ensure_ascii=False)}\n"
    else:
        found = options.open_workspace(workspace, None, None)
        chosen = [found.task(name) for name in tasks] or list(found.tasks())
        named = [found.model(name, *chosen) for name in models]
        made = records(found, named, chosen, judges, faults, outcomes=outcomes and form != "csv")
        text = _text(list(made), form)
    for fault in faults:
        click.echo(f"judge-tui: left out: {plain(fault)}", err=True)
    if output is None:
        click.echo(text, nl=False)
    else:
        write_atomically(output, text.encode())
        click.echo(f"{output}: is written.")


def _text(records: list[dict[str, object]], form: str) -> str:
    if form == "csv":
        from judge_tui.judging.exchange.as_table import to_csv

        return to_csv(records)
    if form == "json":
        return f"{json.dumps({'schema': _SCHEMA, 'records': records}, indent=2, ensure_ascii=False)}\n"
    return "".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in records)
