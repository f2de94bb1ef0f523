"""``judge-tui serve``: Home or a comparison in a browser."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path

import click

from judge_tui.checks.errors import UsageError
from judge_tui.checks.own_process import python
from judge_tui.cli import options
from judge_tui.cli.screen import in_browser
from judge_tui.cli.web.address import Address
from judge_tui.cli.web.admission import LEAST_TOKEN, Admission, new_token
from judge_tui.judging.plain import plain
from judge_tui.judging.read_only import ASKED

__all__ = ["PROGRAM", "command"]

#: How an app is started, one per page.
PROGRAM = python("-m", "judge_tui.cli")
#: Commands that open a screen.
_SHOWN = ("home", "compare")
_TOKEN = "JUDGE_TUI_TOKEN"


@click.command("serve", context_settings={"ignore_unknown_options": True})
@click.argument(
    "arguments", nargs=-1, type=click.UNPROCESSED, metavar="[home | compare MODEL MODEL [MODEL]] [OPTIONS]"
)
@click.option(
    "--host", metavar="HOST", default="127.0.0.1", show_default=True,
    help="The address to listen on.",
)  # fmt: skip
@click.option(
    "--port", type=click.IntRange(0, 65535), metavar="N", default=8000, show_default=True,
    help="The port; 0 for any that is free.",
)  # fmt: skip
@click.option(
    "--token", metavar="TEXT", envvar=_TOKEN,
    help=f"What a browser has to bring; drawn by lot by default. Also ${_TOKEN}.",
)  # fmt: skip
@click.option("--no-token", is_flag=True, help="Let everybody on this machine in.")
@click.option(
    "--read-only", is_flag=True,
    help="For people who only look: nothing is written by anybody, and no check runs.",
)  # fmt: skip
@click.option(
    "--pages", type=click.IntRange(1, 100), metavar="N", default=8, show_default=True,
    help="Pages at a time; each is an app with an engine of its own.",
)  # fmt: skip
@options.workspace
@click.pass_context
def command(
    context: click.Context,
    arguments: tuple[str, ...],
    host: str,
    port: int,
    token: str | None,
    no_token: bool,
    read_only: bool,
    pages: int,
    workspace: Path | None,
) -> int:
    """Show Home, or a comparison, in a browser. Ctrl-C ends it.

    What follows is given to that command: judge-tui serve compare glm5 qwen36 --task kv. Every tab of the
    browser is an app of its own, and closing it saves.
    """
    shown, judge = _shown(context, arguments, workspace)
    if token is not None and len(token) < LEAST_TOKEN:
        raise UsageError(
            f"a token takes {LEAST_TOKEN} characters or more.", hint="Leave it out and one is drawn by lot."
        )
    try:
        from judge_tui.cli.web.serving import serve
    except ModuleNotFoundError as error:
        if (error.name or "judge_tui").startswith("judge_tui"):
            raise
        raise UsageError(
            f"serving takes {error.name}, which is not installed.", hint="pip install 'judge-tui[serve]'"
        ) from error
    address = Address.taken(host, port)
    if no_token and not address.here:
        for socket in address.sockets:
            socket.close()
        raise UsageError(
            f"{plain(host)} can be reached from elsewhere: it takes a token.", hint="Leave --no-token out."
        )
    token = None if no_token else token or new_token()
    environment = {name: value for name, value in os.environ.items() if name != _TOKEN}
    serve(
        (*PROGRAM, *shown),
        in_browser(environment) | ({ASKED: "1"} if read_only else {}),
        address,
        Admission(token, host, address.port),
        pages=pages,
        banner=_banner(judge, read_only=read_only),
        ready=lambda: _tell_address(address, token),
        told=lambda words: click.echo(words, err=True),
    )
    return 0


def _banner(judge: str, *, read_only: bool) -> str:
    """What the page says above the app: as whom one writes there."""
    if read_only:
        return "Read only: nothing that you do here is kept."
    return f"You judge as {plain(judge)}: what you do here is saved under that name."


def _shown(
    context: click.Context, arguments: tuple[str, ...], workspace: Path | None
) -> tuple[tuple[str, ...], str]:
    """The command line of an app, and its judge; what is off in it is told here, not on a page.

    Raises:
        JudgeError: It names something that is not there.
    """
    if not arguments or arguments[0].startswith("-"):
        arguments = ("home", *arguments)
    name, *rest = arguments
    if name not in _SHOWN:
        raise UsageError(
            f"a browser shows {' or '.join(_SHOWN)}, not {plain(name)}.", hint="See: judge-tui serve --help"
        )
    if workspace is not None:
        rest = ["--workspace", str(workspace), *rest]
    module = import_module(f"judge_tui.cli.{name}")
    # make_context takes the list apart
    with module.command.make_context(name, [*rest], parent=context.parent) as inner:
        *_, judge = module.meant(**inner.params)
    return (name, *rest), judge


def _tell_address(address: Address, token: str | None) -> None:
    from urllib.parse import quote

    click.echo(f"judge-tui: open {address.url}" + (f"?token={quote(token, safe='')}" if token else ""))
    if not address.here:
        click.echo("  What is sent is not encrypted; ssh -L to 127.0.0.1 keeps it to yourself.")
    click.echo("  Ctrl-C ends it.")
    sys.stdout.flush()
