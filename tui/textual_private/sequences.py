"""Where a sequence that a terminal sends ends, whether anybody knows it or not.

Terminals send more than any list has, and what is broken as well: parameters that are no numbers, signs of
other alphabets among them, answers that nobody has asked for. What is read here is only how far one reaches.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Literal

from msgspec import Struct

from judge_tui.tui.textual_private.ansi_keys import ANSI_SEQUENCES_KEYS

__all__ = ["CSI", "ESC", "Reading", "Was", "late_begun", "late_end", "reading"]

ESC = "\x1b"
CSI = "\x1b["
_KEYS = [known for known in ANSI_SEQUENCES_KEYS if known.startswith(CSI)]
_LONGEST_KEY = max(map(len, _KEYS))
#: Keys of Linux's console, which look complete before they are.
_CONSOLE = CSI + "["
#: What Alt and another key send, and what has a name of its own: ``alt+backspace``, ``alt+left``.
_ALT_KEYS = frozenset(
    sequence[1]
    for sequence, keys in ANSI_SEQUENCES_KEYS.items()
    if len(sequence) == 2 and sequence[0] == ESC and isinstance(keys, tuple)
)

#: A control sequence from beginning to end (ECMA-48, 5.4): parameters, intermediate bytes, one final byte.
#: In a broken one they stand in any order: as terminals do, all up to the final byte is taken for it.
_CONTROL = re.compile(r"\x1b\[[ -?]*[@-~]")
_BODY = re.compile(r"\x1b\[[ -?]*")
_PRINTED = re.compile(r"\x1b[^\x00-\x1f\x7f-\x9f]*")
#: Signs of other alphabets in it: right behind its beginning, or with a parameter behind them.
_FOREIGN = re.compile(r"(?<=\x1b\[)[^\x00-\x9f]+|[^\x00-\x9f]+(?=[0-?])")
#: A report of the mouse in three bytes.
_THREE = re.compile(r"\x1b\[M[^\x00-\x1f\x7f]{3}")
_THREE_BEGUN = re.compile(r"\x1b\[M[^\x00-\x1f\x7f]{0,2}")
#: What programs write where they have no number.
_NO_NUMBERS = (
    "NaN", "nan", "Infinity", "infinity", "Inf", "inf", "undefined", "null", "NULL", "None", "nil", "true",
    "false",
)  # fmt: skip
_WORD = "|".join(_NO_NUMBERS)
_WORD_BEGUN = "|".join(sorted({word[:end] for word in _NO_NUMBERS for end in range(1, len(word) + 1)}))
_NUMBER = r"[+-]?[0-9]*(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?"
_PART = rf"(?:[+-]?(?:{_WORD})|{_NUMBER})"
_PARTS = rf"\x1b\[[<=>?]*(?:{_PART}[;:])*"
#: Other letters in place of a number, where another number follows.
_FEW = "[A-Za-z0-9.+-]"
_LETTERS = rf"(?>{_PART}(?=[;:])|{_FEW}{{1,12}}(?=[;:](?:{_FEW}{{0,12}}[;:]){{0,8}}[+-]?(?:[0-9]|{_WORD})))"
_BROKEN_FORMS = {
    "with words": rf"{_PARTS}{_PART}[ -/]*[@-~]",
    "words begun": rf"{_PARTS}(?:(?:{_PART})[ -/]*|[+-]?(?:{_WORD_BEGUN})|[+-]?[0-9.]+[eE][+-]?[0-9]*)",
    "with letters": rf"\x1b\[[<=>?]*(?:{_LETTERS}[;:])+{_PART}[ -/]*[@-~]",
    "letters begun": rf"\x1b\[[<=>?]*(?:{_FEW}{{0,12}}[;:]){{0,9}}(?:{_FEW}{{1,12}}|[+-]?(?:{_WORD_BEGUN})?)",
}


@cache
def _broken(form: str) -> re.Pattern[str]:
    """How a broken sequence is spelt; no program starts with one."""
    return re.compile(_BROKEN_FORMS[form])


#: A string from beginning to end: an answer of a terminal, as no key is.
_STRING = re.compile(
    r"\x1b(?:\][^\x00-\x1f\x7f-\x9f]*(?:\x07|\x1b\\|\x9c)|[P^_X][^\x00-\x1f\x7f-\x9f]*(?:\x1b\\|\x9c))"
)
_STRING_BEGUN = re.compile(
    r"\x1b(?:\](?:[^\]\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*)?|[P^_X][^\x00-\x1f\x7f-\x9f]*)\x1b?"
)
_STRING_BODY = re.compile(r"\x1b[]P^_X][^\x00-\x1f\x7f-\x9f]*")
#: Beginnings of strings that nobody types.
_LIKELY = re.compile(r"\x1b(?:\][0-9]|P[0-?!$+]|_G)")
#: A key with others held down, as some terminals send it.
_MODIFIED = re.compile(r"\x1bO[2-8][A-DFHP-S](?=\x1b|\Z)")
#: A sequence whose Escape was taken for the key, since the rest came late: what nobody types.
_TOLD = re.compile(
    r"\x1b(?:\[(?:[<=>?][ -?]*[@-~]|[0-9]+(?:[;:][0-9]*)+[ -/]*[@-~]|[0-9]+[n~]|[A-DFHIO])|O[A-DFHP-S])"
)
_TOLD_BEGUN = re.compile(
    r"\x1b(?:\[(?:[<=>?][ -?]*|[0-9][0-9;:]*[ -/]*)?|O|[\^X]"
    r"|(?:\](?:[0-9]+(?:;[^\x00-\x1f\x7f-\x9f]*)?)?|P(?:[0-?!$+][^\x00-\x1f\x7f-\x9f]*)?"
    r"|_(?:G[^\x00-\x1f\x7f-\x9f]*)?)\x1b?)"
)
#: What becomes of a beginning before the rest comes: it is told as the keys that it is spelt with, dropped as
#: a sequence that nobody knows, or told as one that is known.
Was = Literal["keys", "dropped", "known"]


class Reading(Struct, frozen=True):
    """What a text begins with.

    Attributes:
        kind: A ``whole`` sequence; one that is ``lost``, since it does not go on; an ``open`` one, of which
            more may come; or the key ``escape``, behind which text follows.
        end: Where it ends.
        likely: Of an open one, whether it is more than what may have been typed.
    """

    kind: Literal["whole", "lost", "open", "escape"]
    end: int
    likely: bool = False


_ESCAPE = Reading("escape", 1)


def reading(text: str, known: Callable[[str], bool], *, ended: bool, at_once: bool) -> Reading:
    """How far a sequence reaches.

    Args:
        text: What has come, from Escape on.
        known: Whether somebody makes something of a control sequence.
        ended: Whether no more of it will come.
        at_once: Whether Escape and what follows arrived together, as the stroke of a key does.
    """
    second = text[1:2]
    if not second:
        return _ESCAPE if ended else Reading("open", 1)
    if second == "[":
        return _control(text, known, ended=ended)
    if second in "]P^_X":
        return _string(text, ended=ended)
    if second == "O":
        return _single_shift(text, ended=ended)
    # and nothing but another stroke with it
    stroke = at_once and second in _ALT_KEYS and second != ESC and text[2:3] in ("", ESC)
    return Reading("whole", 2) if stroke else _ESCAPE


def _single_shift(text: str, *, ended: bool) -> Reading:
    if text[:3] in ANSI_SEQUENCES_KEYS:
        return Reading("whole", 3)
    if _MODIFIED.match(text):
        return Reading("whole", 4)
    if not ended and (text == "\x1bO" or (len(text) == 3 and text[2] in "2345678")):
        return Reading("open", len(text), likely=len(text) == 2)
    return _ESCAPE


def _string(text: str, *, ended: bool) -> Reading:
    if whole := _STRING.match(text):
        return Reading("whole", whole.end())
    likely = _LIKELY.match(text) is not None
    if not ended and _STRING_BEGUN.fullmatch(text):
        return Reading("open", len(text), likely or len(text) == 2)
    body = _STRING_BODY.match(text)
    return Reading("lost", body.end()) if likely and body is not None else _ESCAPE


def _control(text: str, known: Callable[[str], bool], *, ended: bool) -> Reading:
    if three := _THREE.match(text):
        return Reading("whole", three.end())
    printed = _PRINTED.match(text)
    assert printed is not None
    # what cannot stand in one ends it as a pause does
    ended, text = ended or printed.end() < len(text), printed[0]
    if len(text) == 2:
        return _ESCAPE if ended else Reading("open", 2, likely=True)
    if text.startswith(_CONSOLE):
        return _of_console(text, ended=ended)
    if begun := _THREE_BEGUN.fullmatch(text):
        return Reading("lost" if ended else "open", begun.end(), likely=True)
    plain = _FOREIGN.sub(lambda signs: "?" * len(signs[0]), text)
    control = _CONTROL.match(plain)
    key = next((n for n in range(3, _LONGEST_KEY + 1) if text[:n] in ANSI_SEQUENCES_KEYS), 0)
    if control is None:
        return Reading("whole", key) if key else _unfinished(text, plain, ended=ended)
    return _with_words(text, plain, control.end(), ended=ended, meant=known(text[: control.end()])) or (
        Reading("whole", key or control.end())
    )


def _with_words(text: str, plain: str, end: int, *, ended: bool, meant: bool) -> Reading | None:
    """What a sequence is in which words or letters may stand for numbers; ``None`` where it ends before them.

    Args:
        text: The sequence, and what follows it.
        plain: The same, without signs of other alphabets.
        end: Where it ends, if no letter stands in it but the last.
        ended: Whether no more of it will come.
        meant: Whether somebody makes something of it then.
    """
    words = _broken("with words").match(plain)
    has_words = words is not None and words.end() > end
    if _broken("words begun").fullmatch(plain):
        if not ended:
            return Reading("open", len(text), likely=has_words or text[2] == "<")
        if has_words or text[2] == "<":
            return Reading("lost", len(text))
    if words is not None and has_words:
        return Reading("whole", words.end())
    if meant:
        return None
    if not ended and _broken("letters begun").fullmatch(plain):
        return Reading("open", len(text))
    broken = _broken("with letters").match(plain)
    return Reading("whole", broken.end()) if broken and broken.end() > end else None


def _of_console(text: str, *, ended: bool) -> Reading:
    if len(text) == 3:
        return Reading("lost", 3) if ended else Reading("open", 3, likely=True)
    return Reading("whole", 4) if "@" <= text[3] <= "~" else Reading("lost", 3)


def _unfinished(text: str, plain: str, *, ended: bool) -> Reading:
    body = _BODY.match(plain)
    assert body is not None
    rest = text[body.end() :]
    if not ended and all(sign > "\x9f" for sign in rest):
        return Reading("open", len(text), likely=not rest)
    return Reading("lost", body.end()) if body.end() > 2 else _ESCAPE


def late_end(text: str, was: Was) -> int:
    """Where a sequence ends whose beginning is done with, the rest having come late; 0 where it is none.

    Args:
        text: The beginning, and what came.
        was: What became of the beginning.
    """
    plain = _FOREIGN.sub(lambda signs: "?" * len(signs[0]), text)
    forms = [_STRING, _TOLD] if was == "keys" else [_broken("with words")]
    forms += [_broken("with letters")] if was != "known" else []
    return max((found.end() for form in forms if (found := form.match(plain))), default=0)


def late_begun(text: str, was: Was) -> bool:
    """Whether more of such a sequence may come."""
    if was == "keys":
        return _TOLD_BEGUN.fullmatch(text) is not None
    forms = ["words begun", "letters begun"] if was == "dropped" else ["words begun"]
    return any(_broken(form).fullmatch(text) for form in forms)
