"""``judge-tui doctor``: what works on this machine, one line each, with the remedy."""

from __future__ import annotations

from pathlib import Path

import click

from judge_tui.cli import options
from judge_tui.cli.table import coloured, padded
from judge_tui.judging.plain import plain

__all__ = ["command"]

_SIGNS = {"ok": ("✓", "green"), "note": ("·", "bright_black"), "off": ("✗", "yellow")}


@click.command("doctor")
@options.workspace
def command(workspace: Path | None) -> None:
    """Say what works on this machine, and what to do about the rest."""
    from judge_tui.cli.diagnosis import EXAMINATIONS

    for name, examine in EXAMINATIONS.items():
        try:
            finding = examine(workspace)
        except Exception as error:  # one broken examination must not hide the others
            state, told, remedy = "off", f"cannot be examined: {type(error).__name__}: {error}", ""
        else:
            state, told, remedy = finding.state, finding.told, finding.remedy
        sign, colour = _SIGNS[state]
        mark = click.style(sign, fg=colour) if coloured() else sign
        click.echo(f"{mark} {padded(name, 13)} {plain(told)}" + (f"  → {plain(remedy)}" if remedy else ""))
