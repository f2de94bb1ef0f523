"""What is wrong with the settings, in one message that fits on the screen."""

from __future__ import annotations

from collections.abc import Sequence

from judge_tui.tui.look.fitting import wrapped

__all__ = ["in_one_message"]

#: Columns of a message's edges, and rows of its title; messages have half of the screen.
_EDGES, _TITLE = 4, 1


def in_one_message(faults: Sequence[str], where: str, width: int, height: int, asks: str) -> str:
    """The faults, one below the other; of too many the first ones, how many are left, and where they stand.

    Args:
        faults: A sentence each.
        where: The file that they are in, which is said once.
        width: Columns of the terminal.
        height: Its rows.
        asks: The key of help, which shows all of them.
    """
    lines: list[str] = []
    columns, rows = max(width - _EDGES, 10), height // 2 - _TITLE
    for number, fault in enumerate(faults):
        told = wrapped(f"· {fault.removeprefix(f'{where}: ')}", columns)
        left = len(faults) - number
        if lines and len(lines) + len(told) + (left > 1) > rows:
            return "\n".join([*lines, *wrapped(f"and {left} more: {asks} shows them all", columns)])
        lines += told
    return "\n".join(lines)
