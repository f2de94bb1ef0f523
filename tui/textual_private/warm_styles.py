"""Default styles of widgets, parsed before the first of them is shown.

Reaches for what a stylesheet keeps of what it has parsed: Textual keeps so little of it that a screen of many
widgets is parsed anew with each kind of widget that comes to it, and parses none ahead of time.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from textual.app import App
from textual.cache import LRUCache
from textual.dom import DOMNode

__all__ = ["keep_parsed", "parse_ahead"]

#: Styles of so many kinds of widgets are kept: more than there are.
_KEPT = 512


def keep_parsed(app: App[Any]) -> None:
    """Have all that is parsed kept, as long as the theme is the same."""
    app.stylesheet._parse_cache = LRUCache(_KEPT)


def parse_ahead(app: App[Any], kinds: Iterable[type[DOMNode]]) -> None:
    """Parse the styles of some kinds of widgets, with those of their bases; may be done in a thread."""
    for kind in kinds:
        # only the class is looked at
        for read_from, css, tie_breaker, scope in object.__new__(kind)._get_default_css():
            app.stylesheet._parse_rules(css, read_from, True, tie_breaker, scope)
