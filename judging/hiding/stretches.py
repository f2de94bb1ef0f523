"""Stretches of a line: (first, end) of each."""

from __future__ import annotations

from collections.abc import Iterable

from judge_tui.judging.hiding.block import BLOCK

__all__ = ["covered", "joined", "widened"]


def widened(span: tuple[int, int], width: int, room: int) -> tuple[int, int]:
    """A stretch of so many characters at least where the line has them, to the right, else to the left."""
    first, end = span
    end = max(end, min(first + width, room))
    return min(first, max(end - width, 0)), end


def joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Stretches in order, those that meet as one."""
    found: list[tuple[int, int]] = []
    for first, end in spans:
        if found and first <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((first, end))
    return found


def covered(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """A text with as many characters, those of some stretches hidden."""
    pieces: list[str] = []
    at = 0
    for first, end in spans:
        pieces += [text[at:first], BLOCK * (end - first)]
        at = end
    return "".join([*pieces, text[at:]])
