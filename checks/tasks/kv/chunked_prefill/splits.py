"""Sizes of chunks that a prompt is cut into, and where they are told."""

from __future__ import annotations

from typing import Any

from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.faults import Fault
from judge_tui.checks.submission import ADAPTER

__all__ = ["AGAIN", "NOTHING", "TOKENS", "at_size", "place", "splits"]

NOTHING = "nothing takes a prompt in chunks"
#: Of a prompt.
TOKENS = 11
#: Tokens per chunk: one, splits that leave 1, 2 and 3 over, the whole, and more than there is.
_SPLITS = (1, 2, 3, 4, 5, 10, TOKENS, TOKENS + 5)
#: Tokens of each call where nothing cuts a prompt: two chunks, three, and two with a step between them.
AGAIN = ((4, 7), (3, 4, 4), (5, 1, 5))


def splits(chunked: Binding) -> tuple[int, ...]:
    """Chunk sizes that can be asked for; one where the code has its own."""
    return _SPLITS if chunked.takes("chunk") or chunked.takes("chunks") else (4,)


def place(chunked: Binding) -> dict[str, Any]:
    """File and line of what takes a prompt in chunks; an adapter is no place to look."""
    return {} if chunked.file == ADAPTER else {"file": chunked.file, "line": chunked.line or None}


def at_size(fault: Fault, size: int) -> Fault:
    """The fault, with the size of the chunks that it came at."""
    fault.message = f"{fault.message} (chunks of {size})"
    return fault
