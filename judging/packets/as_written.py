"""Answers in a text as language models write them: bare, one after the other, or in fences among prose."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from judge_tui.checks.errors import WorkspaceError
from judge_tui.judging.exchange.one_value import no_key_twice, no_number

__all__ = ["answers_in", "looks_like_one"]

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*([^`\s]*)[ \t]*")
_SPACE = re.compile(r"\s*")
#: What a fence says that holds an answer.
_KINDS = ("", "json", "jsonl")


def answers_in(text: str, file: Path) -> list[tuple[int, dict[str, Any]]]:
    """The answers in a text, each with its line: those in its fences, else what it is as a whole.

    Args:
        text: What a model wrote.
        file: Where it is from, for messages.

    Raises:
        WorkspaceError: Something in it is no answer; with the line.
    """
    return list(_each(text, file))


def looks_like_one(text: str) -> bool:
    """Whether what a text says first seems to be an answer to a packet, and no record."""
    try:
        _, raw = next(_each(text, Path()))
    except (StopIteration, WorkspaceError):
        return False
    return "packet" in raw and "submissions" in raw and "record" not in raw


def _each(text: str, file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    fenced = [(line, body) for line, kind, body in _fences(text) if kind.lower() in _KINDS]
    for line, body in fenced or [(1, text)]:
        yield from _values(body, line, file)


def _fences(text: str) -> Iterator[tuple[int, str, str]]:
    """The line on which what is fenced begins, what the fence says that it is, and it."""
    opened, kind, first = "", "", 0
    inside: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        fence = _FENCE.fullmatch(line.rstrip("\r"))
        if not opened and fence:
            opened, kind, first, inside = fence[1], fence[2], number + 1, []
        elif opened and fence and fence[1].startswith(opened) and not fence[2]:
            yield first, kind, "\n".join(inside)
            opened = ""
        elif opened:
            inside.append(line)
    if opened:
        # cut off before its end: what is wrong with it is told
        yield first, kind, "\n".join(inside)


def _values(body: str, first: int, file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    decoder, at = json.JSONDecoder(object_pairs_hook=no_key_twice, parse_constant=no_number), 0
    line, counted = first, 0
    while (start := _SPACE.match(body, at).end()) < len(body):  # type: ignore[union-attr]
        line, counted = line + body.count("\n", counted, start), start
        try:
            value, at = decoder.raw_decode(body, start)
        except json.JSONDecodeError as error:
            number = first + error.lineno - 1
            raise WorkspaceError(f"is no JSON: {error.msg}.", file=file, line=number) from error
        except WorkspaceError as error:
            error.file, error.line = str(file), line
            raise
        except (RecursionError, ValueError) as error:
            raise WorkspaceError("is no JSON that can be read.", file=file, line=line) from error
        for one in value if isinstance(value, list) else [value]:
            if not isinstance(one, dict):
                raise WorkspaceError("is no object.", file=file, line=line)
            yield line, one
