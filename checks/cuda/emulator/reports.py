"""What a program told of its cases, read without trusting it.

The emulator's program signs each line with a key that is handed to it before anything of the submission
runs, and the line holds a digest of the answers. What is not signed was written by somebody else; a case
of which two lines tell has no answer.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any, cast, get_args

from judge_tui.checks.cuda.emulator import symbols
from judge_tui.checks.cuda.emulator.cases import Answer, Event, Severity
from judge_tui.checks.sandbox.programs import Ran

__all__ = ["FORGED", "answer_of", "began", "digest", "lines_of", "reports", "silent"]

#: How a case ended of which more than its own line tells.
FORGED = "wrote into the emulator's report"
_MOST_EVENTS = 64
_MOST_TEXT = 300
_MARK = 64
#: What the program's own main says before it takes a case.
_BEGAN = {"began": True}


def lines_of(data: bytes, key: bytes | None = None) -> list[tuple[Mapping[str, Any], bool]]:
    """The objects in a report, each with whether it bears the mark of its run.

    Args:
        data: The report; what is malformed is left out.
        key: What lines are signed with; ``None`` where they are not.
    """
    found: list[tuple[Mapping[str, Any], bool]] = []
    for line in data.split(b"\n"):
        signed = key is not None and _signed(line, key)
        try:
            told = json.loads((line[_MARK + 1 :] if signed else line).decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            continue
        if isinstance(told, dict):
            found.append((told, signed or key is None))
    return found


def _signed(line: bytes, key: bytes) -> bool:
    mark, _space, said = line.partition(b" ")
    return hmac.compare_digest(mark, hmac.new(key, said, hashlib.sha256).hexdigest().encode())


def began(lines: list[tuple[Mapping[str, Any], bool]]) -> bool:
    """Whether the program's own main began."""
    return any(genuine and told == _BEGAN for told, genuine in lines)


def reports(lines: list[tuple[Mapping[str, Any], bool]]) -> dict[int, Mapping[str, Any] | None]:
    """Case → what was told of it; ``None`` where somebody else told something as well."""
    found: dict[int, Mapping[str, Any] | None] = {}
    for told, genuine in lines:
        number = told.get("case")
        if isinstance(number, int):
            found[number] = told if genuine and number not in found else None
    return found


def digest(*parts: bytes) -> str:
    """What a signed line says of the answers that it is about."""
    return hashlib.sha256(b"".join(parts)).hexdigest()


def answer_of(told: Mapping[str, Any] | None, ran: Ran) -> Answer:
    """The answer to a case, without its arrays.

    Args:
        told: What the report says of it.
        ran: How the program ended.
    """
    if told is None:
        return Answer("crashed", ended=FORGED, output=ran.output)
    status = told.get("status")
    if status not in ("done", "refused", "failed", "crashed", "timed_out"):
        return Answer("crashed", ended="the program's own report is malformed", output=ran.output)
    events = told.get("events")
    listed = events[:_MOST_EVENTS] if isinstance(events, list) else []
    return Answer(
        status,
        _number(told.get("code")),
        _number(told.get("device_error")),
        events=tuple(_event(each) for each in listed if isinstance(each, dict)),
        peak_bytes=_number(told.get("peak_bytes")),
        seconds=_real(told.get("seconds")),
        cpu_seconds=_real(told.get("cpu_seconds")),
        ended=_how(status, ran),
        output=ran.output,
        input_bytes=_number(told.get("input_bytes")),
    )


def _how(status: str, ran: Ran) -> str:
    if status == "timed_out":
        return "did not end within its budget"
    return ran.ended if status == "crashed" else ""


def _event(told: Mapping[str, Any]) -> Event:
    severity = told.get("severity")
    file, line = _place(told, "")
    other_file, other_line = _place(told, "other_")
    return Event(
        _text(told.get("kind")),
        cast(Severity, severity) if severity in get_args(Severity) else "note",
        _text(told.get("text")),
        file,
        line,
        _number(told.get("block")),
        _number(told.get("thread")),
        _number(told.get("count")),
        other_file,
        other_line,
    )


def _place(told: Mapping[str, Any], prefix: str) -> tuple[str, int]:
    """File and line, or the marker of an address that is yet to be looked up."""
    if f"{prefix}pc" in told:
        return symbols.ADDRESS, _number(told[f"{prefix}pc"])
    return symbols.plain(_text(told.get(f"{prefix}file"))), _number(told.get(f"{prefix}line"))


def _number(value: Any) -> int:
    return value if isinstance(value, int) and abs(value) < 1 << 62 else 0


def _real(value: Any) -> float:
    return float(value) if isinstance(value, (int, float)) and abs(value) < 1e9 else 0.0


def _text(value: Any) -> str:
    text = value[:_MOST_TEXT] if isinstance(value, str) else ""
    return "".join(c if c.isprintable() else "?" for c in text)


def silent(ran: Ran) -> Answer:
    """The answer to a case that the process ended in.

    Args:
        ran: How it ended.
    """
    if ran.timed_out:
        return Answer("timed_out", ended=ran.ended, seconds=ran.seconds, output=ran.output)
    return Answer("crashed", ended=ran.ended, seconds=ran.seconds, output=ran.output)
