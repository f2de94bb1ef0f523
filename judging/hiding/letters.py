"""Letters that are read as plain ones: those of other scripts that look the same, and escapes in code.

Plain Python; tables of what looks alike and rules by the characters' own names.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

__all__ = ["alike", "escaped", "plain", "seeming"]

#: Letters of ASCII in lower case, and of those that are taken for each other one.
_SEEMING = {ord(letter): letter.lower() for letter in string.ascii_uppercase} | {
    ord(sign): letter
    for letter, signs in {"l": "lI1i|!\u00a1", "o": "oO0", "a": "aA@4", "s": "sS5$", "e": "eE3"}.items()
    for sign in signs
}
_SEEMING_BYTES = bytes(ord(_SEEMING.get(point, chr(point))) for point in range(128)) + bytes(range(128, 256))
#: Letters of Cyrillic, Greek, Armenian and Cherokee beside those that they are taken for, in either case: a
#: name that is written in one of these scripts is the same in both. And letters that nobody sees.
_LOOK = dict(zip(
    "авезкмнорстухѕіјһүӏԁԛԝԍ" "αβεζηικμνορτυχωγ" "օոսցհ" "ᏀᏞᎷᏴᎢ",
    "abe3kmhopctyxsijhyldqwg" "abezhikmnoptyxwy" "onugh" "glmbt",
    strict=True,
)) | dict.fromkeys("\u115f\u1160\u2800\u3164\uffa0", " ")  # fmt: skip
#: Those are read as what their names say: small capitals, letters in boxes and flags, with a stroke, turned.
_NAMED = re.compile(
    r"(?:LATIN (?:SMALL |CAPITAL )?LETTER (?:SMALL CAPITAL |SCRIPT |OPEN |DOTLESS |TURNED |REVERSED )?|"
    r"(?:NEGATIVE |CROSSED )?(?:CIRCLED|SQUARED) LATIN CAPITAL LETTER |REGIONAL INDICATOR SYMBOL LETTER |"
    r"MODIFIER LETTER (?:SMALL|CAPITAL) (?:SCRIPT |OPEN )?)([A-Z])(?: WITH .*)?"
)
#: A character of ASCII as code writes it: ``\\x71``, ``\\u0071``, ``\\161``, ``&#113;``, ``%71``.
_ESCAPE = re.compile(
    r"\\x(?P<x>[2-7][0-9a-fA-F])|\\u\{?0*(?P<u>[2-7][0-9a-fA-F])(?:\}|(?![0-9a-fA-F]))|\\(?P<o>1[0-7]{2})"
    r"|&#x0*(?P<h>[2-7][0-9a-fA-F]);|&#0*(?P<d>\d{2,3});|%(?P<p>[4-7][0-9a-fA-F])"
)
_BASES = {"x": 16, "u": 16, "o": 8, "h": 16, "d": 10, "p": 16}


@lru_cache(maxsize=4096)
def alike(character: str) -> str:
    """The plain letter that a character is read as; the character itself where it is read as no other."""
    if character.isascii():
        return character
    look = _LOOK.get(character) or _LOOK.get(character.lower())
    if look is not None:
        return look
    named = _NAMED.fullmatch(unicodedata.name(character, ""))
    return named[1].lower() if named else character


def seeming(text: str) -> str:
    """A text of as many characters, in which one letter stands for all signs and figures of its looks."""
    if text.isascii():
        return text.encode().translate(_SEEMING_BYTES).decode()
    return text.translate(_SEEMING)


def escaped(text: str) -> bool:
    """Whether a text writes some of its characters as code does."""
    return ("\\" in text or "&#" in text or "%" in text) and _ESCAPE.search(text) is not None


def plain(text: str) -> Iterator[tuple[str, int, int]]:
    """Every character of a text, an escape read as what it stands for, with its first place and the next."""
    at = 0
    for match in _ESCAPE.finditer(text):
        for place in range(at, match.start()):
            yield text[place], place, place + 1
        point = int(match[match.lastgroup or 0], _BASES[match.lastgroup or ""])
        # signs stay as they are written, so that none of them parts words that it does not part
        if chr(point).isalnum() and point < 128:
            yield chr(point), *match.span()
        else:
            for place in range(*match.span()):
                yield text[place], place, place + 1
        at = match.end()
    for place in range(at, len(text)):
        yield text[place], place, place + 1
