"""What the reader has chosen for the whole app: keys, the theme, and whether there are colours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from textual.app import App
from textual.color import Color
from textual.filter import Monochrome
from textual.theme import Theme

from judge_tui.tui.keys.bound_keys import key_called
from judge_tui.tui.keys.complaints import in_one_message
from judge_tui.tui.keys.keymap import hidden_keys, read_keymap
from judge_tui.tui.keys.preferences import Preferences, config_path, keep_theme
from judge_tui.tui.look.colorless import Colorless, no_color_asked
from judge_tui.tui.look.depth import Rounded
from judge_tui.tui.look.palette import themes_for
from judge_tui.tui.textual_private.drawing import own_colors_through

__all__ = ["PersonalApp"]

Result = TypeVar("Result")
#: Characters of a fault that are told: settings may quote any text.
_MOST_SAID = 300
#: What only a colour would tell of Textual's own widgets.
_COLORLESS = {
    "input-cursor-text-style": "reverse",
    "block-cursor-text-style": "reverse",
    "block-cursor-blurred-text-style": "bold",
}


class PersonalApp(App[Result]):
    """An app with the reader's own keys and theme.

    Attributes:
        keymap: Name of a key → the keys that the reader has chosen for it.
        faults: What is wrong with the settings, a sentence each.
    """

    keymap: Mapping[str, str]
    faults: tuple[str, ...] = ()
    _preferences: Preferences
    #: Whether the theme is to suit the terminal's own ground, and the one that did, which nobody has picked.
    _suits_ground, _suited = False, ""

    def take_preferences(self) -> None:
        """Read the settings and follow them; what cannot be followed is told once the screen stands."""
        colors = self.console.color_system
        for theme in themes_for(colors):
            self.register_theme(theme)
        self.no_color = no_color_asked()
        self._filters = [
            line_filter for line_filter in self._filters if not isinstance(line_filter, Monochrome)
        ]
        if self.no_color:
            self._filters.append(Colorless())
        elif colors == "256":
            self._filters.append(Rounded())
        self._preferences = Preferences.read()
        keys = read_keymap(self._preferences.keys, config_path().name)
        self.keymap = keys.keys
        self.set_keymap(dict(keys.keys))
        wanted, faults = self._preferences.theme_among(self.available_themes)
        found = self.available_themes[wanted]
        if colors == "standard":
            chosen = self._preferences.theme or self._preferences.theme_picked(self.available_themes)
            self._suits_ground = not (chosen and found.ansi)
            if not found.ansi:
                # its colours would be rounded to sixteen
                wanted = next(theme.name for theme in themes_for(colors) if theme.dark == found.dark)
        self.theme = wanted
        own_colors_through(self)
        said = (*self._preferences.faults, *faults, *keys.faults)
        self.faults = tuple(f if len(f) <= _MOST_SAID else f"{f[:_MOST_SAID]}…" for f in said)

    def begin_preferences(self) -> None:
        """Tell what is wrong with the settings, and remember a theme that is picked from now on."""
        self.theme_changed_signal.subscribe(self, self._keep_theme)
        self._complain(self.faults)
        if self._suits_ground:
            self.run_worker(self._suit_ground())

    async def _suit_ground(self) -> None:
        """Take the colours for a light ground where the terminal says that its own is light."""
        from judge_tui.tui.look.bars import plain_characters
        from judge_tui.tui.textual_private.answers import asked_for_ground

        if plain_characters():
            # a console, whose ground is dark; old ones write down what they are asked
            return
        begun = self.theme
        ground = await asked_for_ground(self)
        if ground is None or self.theme != begun:
            return
        red, green, blue = (round(255 * part) for part in ground)
        light = Color(red, green, blue).brightness > 0.5
        suited = next(theme.name for theme in themes_for(self.console.color_system) if theme.dark != light)
        if suited != begun:
            self._suited = self.theme = suited

    def _keep_theme(self, theme: Theme) -> None:
        if theme.name != self._suited:
            keep_theme(theme.name, self._preferences.theme)
        self._suited = ""

    def tell_hidden_keys(self, letters: Mapping[str, str]) -> None:
        """Tell which of the reader's keys are not heard in a rubric.

        Args:
            letters: Letter → the dimension that it selects.
        """
        hidden = tuple(hidden_keys(self.keymap, letters, config_path().name))
        self._complain(hidden)
        self.faults = (*self.faults, *(fault for fault in hidden if fault not in self.faults))

    def _complain(self, faults: Sequence[str]) -> None:
        if faults:
            file = config_path().name
            told = in_one_message(faults, file, *self.size, key_called(self, "everywhere.help"))
            self.notify(told, title=f"Settings: {file}", severity="warning", markup=False, timeout=12)

    def get_css_variables(self) -> dict[str, str]:
        """The theme's variables; without colours the cursors of Textual's widgets are reversed."""
        return super().get_css_variables() | (_COLORLESS if self.no_color else {})
