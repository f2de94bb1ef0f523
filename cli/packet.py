"""``judge-tui packet``: what a language model needs to judge as a person does, as a file to hand it."""

from __future__ import annotations

from pathlib import Path
from random import SystemRandom
from shlex import quote

import click

from judge_tui.checks.errors import UsageError
from judge_tui.cli import options
from judge_tui.judging.hiding.withheld import withheld
from judge_tui.judging.storage import write_atomically

__all__ = ["command"]


@click.command("packet")
@click.argument(
    "models", nargs=-1, required=True, metavar="MODEL MODEL...", shell_complete=options.complete_model
)
@options.task(required=True)
@click.option("--blind", is_flag=True, help="No model's name stands in it.")
@click.option("--both-orders", is_flag=True, help="A second packet with the submissions the other way round.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
    help="Where it is written; by default packet-TASK.md.",
)  # fmt: skip
@click.option(
    "--key", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
    help="Where its key is written, for an answer that goes in on another machine.",
)  # fmt: skip
@options.workspace
def command(
    models: tuple[str, ...],
    task: str,
    blind: bool,
    both_orders: bool,
    output: Path | None,
    key: Path | None,
    workspace: Path | None,
) -> None:
    """Write what a language model needs to judge as a person does. Nothing is sent anywhere.

    A packet holds the challenge, the rubric, numbered code under A, B and C, what the checks found, and the
    JSON Schema of the answer. Where they are still to be judged blind, it is --blind and its order is drawn.

    Which submission is A stands in its key, which is kept in the user's state folder: beside the packet a
    model that reads files, or a person who has yet to judge blind, would come upon it. The answer goes in by
    `judge-tui import-scores ANSWER`, as a machine's word; on another machine it takes the key as well.
    """
    from judge_tui.judging.packets import keys
    from judge_tui.judging.packets.packet import LETTERS, made

    found = options.open_workspace(workspace, None, None)
    chosen = found.task(task)
    named = list(dict.fromkeys(found.model(name, chosen) for name in models))
    if not 2 <= len(named) <= len(LETTERS):
        raise UsageError("a packet has two or three submissions.", hint="judge-tui packet A B --task T")
    if any(withheld(found, model, chosen) for model in named):
        blind = True
        SystemRandom().shuffle(named)
        click.echo(f"{chosen} is judged blind here: no name stands in the packet, and its order is drawn.")
    submissions = [found.submission(model, chosen) for model in named]
    path = output or Path(f"packet-{chosen}.md")
    orders = [submissions, submissions[::-1]] if both_orders else [submissions]
    packets = [made(found, order, blind=blind) for order in orders]
    for number, packet in enumerate(packets, 1):
        file = path if number == 1 else path.with_name(f"{path.stem}-{number}{path.suffix}")
        data = packet.text.encode()
        write_atomically(file, data)
        click.echo(f"{file}: {len(data):,} bytes.")
        for name in packet.left_out:
            click.echo(f"  left out: {name}")
    if any(packet.unchecked for packet in packets):
        what = f"{' '.join(map(quote, sorted(named)))} --task {quote(chosen)}"
        click.echo(f"It holds no evidence of what was not checked as it is now: judge-tui check {what}")
    told = [packet.key for packet in packets]
    if key is None:
        keys.keep(told)
        click.echo("The answer goes in by: judge-tui import-scores ANSWER")
    else:
        keys.write(told, key)
        way = f"judge-tui import-scores ANSWER --key {quote(str(key))}"
        click.echo(f"{key}: who is who. The answer goes in by: {way}")
