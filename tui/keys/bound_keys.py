"""Which keys a part of the screen answers to, with those of the reader's choice, and how they are called."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from msgspec import Struct
from textual.binding import Binding
from textual.dom import DOMNode
from textual.screen import Screen

from judge_tui.judging.read_only import holds
from judge_tui.tui.keys.key_names import key_name
from judge_tui.tui.keys.keymap import key_table, remapped

__all__ = ["KeyPart", "key_called", "key_for", "key_parts", "keys_for", "listed", "own_bindings"]


def own_bindings(node: DOMNode) -> list[Binding]:
    """The bindings that this app gives to a part of it, with the reader's keys; Textual's own left out.

    A part's ``own_words``, action → words, say what keys do where that is not the same everywhere.
    """
    found: dict[str, Binding] = {}
    chosen: Mapping[str, str] = getattr(node.app, "keymap", {})
    for kind in type(node).__mro__:
        if kind.__module__.startswith("judge_tui."):
            for binding in remapped(Binding.make_bindings(vars(kind).get("BINDINGS", ())), chosen):
                found.setdefault(binding.key, binding)
    words: Mapping[str, str] = getattr(node, "own_words", {})
    if not words:
        return list(found.values())
    return [replace(one, description=words.get(one.action, one.description)) for one in found.values()]


def key_for(node: DOMNode, action: str) -> str:
    """The key that does something in a part of the screen, as it is shown; empty where there is none."""
    return next((key_name(b.key) for b in own_bindings(node) if b.action == action), "")


def key_called(node: DOMNode, name: str) -> str:
    """The key of a name, as ``code.next-match``, wherever it is listened to."""
    chosen: Mapping[str, str] = getattr(node.app, "keymap", {})
    return key_name(chosen[name].split(",")[0] if name in chosen else key_table()[name][0])


def keys_for(node: DOMNode, *actions: str) -> str:
    """The keys of several actions, as ``n/N``."""
    return "/".join(filter(None, (key_for(node, action) for action in actions)))


class KeyPart(Struct, frozen=True):
    """A part of a screen that answers to keys.

    Attributes:
        title: What it is called.
        node: Whose bindings they are.
        enter: Brings it into view and gives it the focus; ``None`` where the keys work everywhere.
        signs: What it shows instead of words, each with its meaning.
    """

    title: str
    node: DOMNode
    enter: Callable[[], object] | None = None
    signs: Sequence[tuple[str, str]] = ()


def key_parts(screen: Screen[object]) -> Sequence[KeyPart]:
    """The parts of a screen that answer to keys, the one in focus first."""
    told: Callable[[], Sequence[KeyPart]] | None = getattr(screen, "key_parts", None)
    if told is not None:
        return told()
    nodes = [node for node in (screen.focused, screen) if node is not None]
    return [KeyPart("", node) for node in nodes if own_bindings(node)]


#: Actions that write, or run what does: where one only looks they are hinted at nowhere.
_WRITING = frozenset({
    *("note", "undo", "redo", "digit", "edit", "adjust", "next_unscored", "clear", "earlier", "verdict"),
    *("ahead", "tie", "accept", "accept_all", "remove", "add", "reconsider", "carry", "copy", "place"),
    *("drop", "rerun", "rerun_all", "cancel", "backend", "adapter", "auto", "write", "edit_round"),
    *("export", "save"),
})  # fmt: skip


def listed(bindings: Iterable[Binding]) -> list[tuple[str, str, bool]]:
    """Keys, what they do, and whether that is hinted at; one entry per action."""
    actions: dict[str, tuple[list[str], str, bool]] = {}
    for binding in bindings:
        if binding.description:
            hinted = binding.show and not (holds() and binding.action.partition("(")[0] in _WRITING)
            keys, _, _ = actions.setdefault(binding.action, ([], binding.description, hinted))
            shown = binding.key_display or key_name(binding.key)
            if shown not in keys:
                keys.append(shown)
    return [(" ".join(keys), text, shown) for keys, text, shown in actions.values()]
