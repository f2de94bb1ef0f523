"""Every action by its name, in the palette, and what ctrl+c says of leaving."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, ClassVar, TypeVar

from textual.app import App, SystemCommand
from textual.binding import Binding
from textual.screen import Screen

from judge_tui.tui.keys.bound_keys import KeyPart, key_for, key_parts, own_bindings
from judge_tui.tui.keys.key_names import key_name

if TYPE_CHECKING:
    from textual.command import Provider

__all__ = ["CommandedApp"]

Result = TypeVar("Result")
#: Textual's own commands that this app has no action for: zoom, help and quit are ours.
_TEXTUALS = {"Theme", "Screenshot"}
#: What leaves a screen, and with it the program where there is no other.
_LEAVING = {"quit", "app.quit"}


def _lines() -> type[Provider]:
    # the palette is read in when it is asked for
    from judge_tui.tui.command_lines import CommandLines

    return CommandLines


class CommandedApp(App[Result]):
    """An app whose palette holds what its keys do."""

    COMMANDS: ClassVar = {_lines}

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Every action by its name: those of the part in focus, of the whole screen, of the other parts."""
        here = (screen.focused, screen)
        for part in sorted(key_parts(screen), key=lambda part: part.node not in here):
            # a digit alone is nothing to be picked from a list
            keys = [binding for binding in own_bindings(part.node) if binding.id]
            actions = {binding.action: binding for binding in reversed(keys)}
            of = "" if part.node in here else f"{part.title.split(' (')[0]}: "
            for action, binding in reversed(actions.items()):
                if action == "begin_count":
                    # nothing to be done by itself
                    continue
                words = binding.description
                yield SystemCommand(
                    of + (words if of else words[:1].upper() + words[1:]),
                    f"key: {key_name(binding.key)}",
                    partial(self._command, part, action),
                )
        leaving = _leaving(screen)
        if leaving is None or not _quits(leaving):
            yield SystemCommand("Quit", f"key: {key_for(self, 'quit')}", self.action_quit)
        yield from (one for one in super().get_system_commands(screen) if one.title in _TEXTUALS)

    def _command(self, part: KeyPart, action: str) -> None:
        """Do what a key of a part would do, wherever the focus is."""
        if part.enter is not None and not part.node.has_pseudo_class("focus"):
            part.enter()
        self.call_later(self.run_action, action, part.node)

    def action_help_quit(self) -> None:
        """Say which key leaves the program from here; where another only leads back to Home, say that too."""
        always, leaving = key_for(self, "quit"), _leaving(self.screen)
        if leaving is None or _is_dimension(self.screen, leaving):
            told = f"{always} quits the program."
        elif _quits(leaving):
            told = f"{key_name(leaving.key)} quits the program."
        else:
            told = f"{always} quits the program, {key_name(leaving.key)} leads {leaving.description}."
        self.notify(told, title="Do you want to quit?", markup=False)


def _leaving(screen: Screen[object]) -> Binding | None:
    """The key that leaves a screen."""
    return next((one for one in own_bindings(screen) if one.action in _LEAVING), None)


def _quits(leaving: Binding) -> bool:
    """Whether a key that leaves the screen leaves the program."""
    return leaving.description == "quit"


def _is_dimension(screen: Screen[object], binding: Binding) -> bool:
    """Whether a key goes to a dimension of the rubric where the focus is."""
    # Home has no rubric, and pays nothing for it
    from judge_tui.tui.widgets.rubric_pane import RubricLines

    focused = screen.focused
    return isinstance(focused, RubricLines) and any(
        dimension.key == key_name(binding.key) for dimension in focused.session.rubric.dimensions
    )
