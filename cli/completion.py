"""``judge-tui completion``: the completion script of a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

__all__ = ["command"]


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script of a shell.

    \b
      bash:  eval "$(judge-tui completion bash)"     in ~/.bashrc
      zsh:   eval "$(judge-tui completion zsh)"      in ~/.zshrc
      fish:  judge-tui completion fish > ~/.config/fish/completions/judge-tui.fish
    """
    from judge_tui.cli.root import root
    from judge_tui.cli.run import COMPLETE, PROGRAM

    made = get_completion_class(shell)
    if made is None:
        raise click.UsageError(f"there is no completion for {shell}.")
    click.echo(made(root, {}, PROGRAM, COMPLETE).source())
