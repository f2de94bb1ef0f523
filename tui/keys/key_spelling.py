"""Keys as settings may write them and no terminal tells them: ``shift+a`` is ``A``, ``ctrl+i`` is ``tab``."""

from __future__ import annotations

from collections.abc import Sequence

from judge_tui.tui.keys.key_names import key_setting
from judge_tui.tui.textual_private.ansi_keys import ANSI_SEQUENCES_KEYS

__all__ = ["as_told", "instead"]

#: Characters that ctrl makes a control character of, beside letters.
_CONTROLLED = "@[\\]^_"


def instead(key: str) -> str | None:
    """What to write for a key that is never told by that name; None where it is, or is no key at all.

    Args:
        key: One key, as it is written.
    """
    modifiers, last = _parts(key)
    once = list(dict.fromkeys(modifiers))
    if once != modifiers:
        plainer = "+".join([*once, last])
        return instead(plainer) or plainer
    if len(last) != 1:
        return None
    if not last.isprintable():
        told = _control(last)
        return told and "+".join([*modifiers, told])
    if modifiers == ["shift"]:
        return last.upper() if last.isalpha() else "the sign that it types"
    if modifiers == ["ctrl"] and ((last.isascii() and last.isalpha()) or last in _CONTROLLED):
        told = _control(chr(ord(last.upper()) & 0x1F))
        return told if told != key else None
    return None


def as_told(key: str) -> str:
    """A key by the name that Textual tells it by: ``ctrl+]`` → ``ctrl+right_square_bracket``."""
    modifiers, last = _parts(key)
    if modifiers != ["ctrl"] or len(last) != 1 or last not in _CONTROLLED:
        return key
    keys = ANSI_SEQUENCES_KEYS[chr(ord(last) & 0x1F)]
    return keys[0].value if isinstance(keys, tuple) else key


def _parts(key: str) -> tuple[Sequence[str], str]:
    """Modifiers and what they are held with, which may be a plus itself."""
    head, _, last = key.rpartition("+")
    head = head if last else head.rstrip("+")
    return (head.split("+") if head else []), last or "+"


def _control(character: str) -> str | None:
    """What a control character is called in settings."""
    keys = ANSI_SEQUENCES_KEYS.get(character)
    return key_setting(keys[0].value) if isinstance(keys, tuple) else None
