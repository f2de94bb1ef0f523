"""The author's own validator: ``validate(input, expected, got)``, asked in the author's jail."""

from __future__ import annotations

from typing import Any

from judge_tui.checks.challenges.author import Authors
from judge_tui.checks.errors import ChallengeFault
from judge_tui.checks.faults import Raised

__all__ = ["NOT_TEXT", "refusal"]

_VALIDATE = "validate"
#: What a validator is not asked about: it takes texts.
NOT_TEXT = "printed what is not UTF-8"
_MOST = 16 << 20


def refusal(authors: Authors, file: str, given: bytes, expected: bytes | None, got: bytes) -> str:
    """What the author's validator says against an answer; empty where it accepts it.

    Texts cross as ``str``; an answer that is not UTF-8 is refused without being asked about, and where the
    author's own files are not, all three cross as ``bytes``.

    Args:
        authors: The author's processes.
        file: The validator, relative to the challenge's folder.
        given: What the program read.
        expected: What the ``.ans`` file says; ``None`` where there is none.
        got: What the program printed.

    Raises:
        ChallengeFault: It raises something else than an assertion, or answers with no word.
        Skipped: It needs a package that is not installed.
    """
    if len(got) > _MOST:
        return f"printed {len(got) >> 20} MiB, and a validator is handed at most {_MOST >> 20}"
    texts: list[Any] = [given, expected, got]
    try:
        texts[:2] = [text if text is None else text.decode() for text in texts[:2]]
    except UnicodeDecodeError:
        pass
    else:
        try:
            texts[2] = got.decode()
        except UnicodeDecodeError as error:
            return f"{NOT_TEXT}: byte 0x{got[error.start]:02x} at offset {error.start}"
    author = authors.here()
    try:
        told = author.call(_VALIDATE, texts, file=file)
    except ChallengeFault as fault:
        cause = fault.__cause__
        if isinstance(cause, Raised) and cause.kind == "AssertionError":
            return cause.detail or f"an assertion of the validator's does not hold ({file}:{cause.line})"
        if fault.file is None:
            raise ChallengeFault(fault.message, file=file, line=fault.line, output=fault.output) from fault
        raise
    # what crosses may be a bool of NumPy's
    if told is None or (not isinstance(told, str) and told == True):  # noqa: E712
        return ""
    if isinstance(told, str):
        return told.strip() or "it is not accepted"
    if told == False:  # noqa: E712
        return "it is not accepted"
    raise ChallengeFault(
        f"{_VALIDATE} answers with a {type(told).__name__}: it must give nothing, true, false or a text.",
        file=file,
    )
