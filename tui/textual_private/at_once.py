"""Keys that need nobody else: they move what is in view, and have done so when their action returns.

A key goes from the widget in focus up to the app, a turn of the event loop for each, and what it has
sent on its way is waited for. A line that scrolls would be on that way for longer than it takes to draw.
Reaches for the bindings of a screen and the handlers of its widgets: nothing public says whose a key is.
"""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.widget import Widget

__all__ = ["AtOnce"]


class AtOnce(Widget):
    """A widget with such keys.

    Attributes:
        AT_ONCE: Names of actions that send no message, wait for nothing and leave the focus where it is.
    """

    AT_ONCE: ClassVar[frozenset[str]] = frozenset()

    _actions: dict[str, str] | None = None

    def at_once(self, key: str) -> str:
        """The action of a key that may be done at once; empty where the key has to go its whole way."""
        if self._actions is None:
            # the reader's keys are read once, before the first screen
            self._actions = {}
        if key not in self._actions:
            action = _first_action(self, key)
            self._actions[key] = action if action.partition("(")[0] in self.AT_ONCE else ""
        return self._actions[key]


def _first_action(widget: Widget, key: str) -> str:
    """The action that a key has in the widget in focus; empty where another part may take the key."""
    found = [
        (node, binding)
        for node, bindings in widget.screen._modal_binding_chain
        for binding in bindings.key_to_bindings.get(key, ())
    ]
    if not found or found[0][0] is not widget or any(binding.priority for _, binding in found):
        return ""
    if any(_listens(node, key) for node in widget.ancestors if isinstance(node, Widget)):
        return ""
    return found[0][1].action


def _listens(widget: Widget, key: str) -> bool:
    """Whether a widget does anything with a key that is not bound to it."""
    handlers = widget._get_dispatch_methods("on_key", events.Key(key, None))
    own = [method for _, method in handlers if method.__qualname__ != "Widget._on_key"]
    return bool(own) or any(hasattr(widget, f"{private}key_{key}") for private in ("", "_"))
