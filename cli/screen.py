"""Whether there is a screen to draw on: a terminal, or a browser that ``serve`` speaks for."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

__all__ = ["in_browser", "on_screen"]

#: What Textual draws with behind ``serve``.
_DRIVER = "judge_tui.tui.browser_driver:BrowserDriver"


def in_browser(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of an app that is shown in a browser, made of that of the server."""
    shown = {"TEXTUAL_DRIVER": _DRIVER, "TEXTUAL_COLOR_SYSTEM": "truecolor"}
    return {**environment, **shown, "TERM": "xterm-256color", "COLORTERM": "truecolor"}


def on_screen() -> bool:
    """Whether a screen can be opened here."""
    if os.environ.get("TEXTUAL_DRIVER") == _DRIVER:
        return True
    return sys.stdin.isatty() and sys.stdout.isatty()
