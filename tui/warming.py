"""What a key will need first is loaded in a thread while the reader looks at the code, and types nothing."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from importlib import import_module
from typing import Any

from textual.app import App
from textual.dom import DOMNode

from judge_tui.tui.keys.type_ahead import TypeAhead
from judge_tui.tui.textual_private.warm_styles import parse_ahead

__all__ = ["warm"]

#: Modules, and the widgets in them whose styles are parsed: what is opened first comes first.
_FIRST = (
    ("judge_tui.tui.screens.text_editor", ("TextEditor", "ProseArea")),
    ("textual.containers", ("Vertical",)),
    ("textual.widgets", ("TextArea", "Static")),
    ("judge_tui.tui.screens.note_editor", ("NoteEditor",)),
    ("judge_tui.tui.screens.evidence", ("EvidenceScreen",)),
    ("judge_tui.tui.screens.picker", ("Picker",)),
    ("textual.widgets", ("Input",)),
)
#: Seconds between two of them, which the screen has for itself.
_PAUSE_S = 0.002
#: Seconds between two looks whether it goes on.
_LOOK_S = 0.1


def warm(app: App[Any]) -> None:
    """Load what the first keys open, in a thread of its own."""
    threading.Thread(target=_load, args=(app,), name="warming", daemon=True).start()


def _load(app: App[Any]) -> None:
    for module, names in _FIRST:
        while app.is_running and not _looked_at(app):
            time.sleep(_LOOK_S)
        # what is off with it is told by the key that needs it
        with suppress(Exception):
            loaded = import_module(module)
            kinds = [kind for name in names if isinstance(kind := getattr(loaded, name), type)]
            parse_ahead(app, [kind for kind in kinds if issubclass(kind, DOMNode)])
        time.sleep(_PAUSE_S)


def _looked_at(app: App[Any]) -> bool:
    """Whether nobody types: who does needs the interpreter himself."""
    return not isinstance(app, TypeAhead) or app.resting
