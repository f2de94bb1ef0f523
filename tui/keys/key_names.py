"""How keys are called: as a setting writes them, and as a hint shows them."""

from __future__ import annotations

__all__ = ["key_name", "key_setting"]

#: Characters that Textual has words for.
_SIGNS = {
    "exclamation_mark": "!",
    "quotation_mark": '"',
    "number_sign": "#",
    "dollar_sign": "$",
    "percent_sign": "%",
    "ampersand": "&",
    "apostrophe": "'",
    "left_parenthesis": "(",
    "right_parenthesis": ")",
    "asterisk": "*",
    "plus": "+",
    "comma": ",",
    "minus": "-",
    "full_stop": ".",
    "slash": "/",
    "colon": ":",
    "semicolon": ";",
    "less_than_sign": "<",
    "equals_sign": "=",
    "greater_than_sign": ">",
    "question_mark": "?",
    "at": "@",
    "left_square_bracket": "[",
    "backslash": "\\",
    "right_square_bracket": "]",
    "circumflex_accent": "^",
    "underscore": "_",
    "grave_accent": "`",
    "left_curly_bracket": "{",
    "vertical_line": "|",
    "right_curly_bracket": "}",
    "tilde": "~",
}
#: Keys without a character, in a hint.
_SHORT = {
    "escape": "esc",
    "pagedown": "pgdn",
    "pageup": "pgup",
    "down": "↓",
    "up": "↑",
    "left": "←",
    "right": "→",
    "backspace": "⌫",
    "delete": "del",
}


def key_setting(key: str) -> str:
    """A key as the settings write it: ``slash`` → ``/``, ``ctrl+right_square_bracket`` → ``ctrl+]``."""
    *modifiers, last = key.split("+")
    return "+".join([*modifiers, _SIGNS.get(last, last)])


def key_name(key: str) -> str:
    """A key as it is shown: ``ctrl+d`` → ``^d``, ``slash`` → ``/``."""
    *modifiers, last = key.split("+")
    last = _SIGNS.get(last, _SHORT.get(last, last))
    if modifiers == ["ctrl"]:
        return f"^{last}"
    return "+".join([*modifiers, last])
