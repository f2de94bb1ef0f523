"""Characters that are typed and that Python does not print: they are text all the same.

Stands in for ``Key.is_printable``, by which Textual's editors choose what they insert: to ``str.isprintable``
a joiner of letters, a no-break space, the blank of Chinese and Japanese, a sign of a private font and an
emoji newer than Python are all none. What is pasted is inserted whole.
"""

from __future__ import annotations

from textual import events

from judge_tui.tui.textual_private.pasting import plain

__all__ = ["as_text"]


def as_text(event: events.Key) -> events.Key | events.Paste:
    """A key as what it types, where no editor would take it; those that a paste loses too stay keys."""
    typed = event.character
    if typed is None or event.is_printable or event.key.startswith("ctrl+") or typed in "\t\n":
        return event
    return events.Paste(typed) if plain(typed) == typed else event
