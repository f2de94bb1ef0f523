"""The reader's own settings: a file that they write, and the theme that they have picked last.

``$XDG_CONFIG_HOME/judge-tui/config.toml``::

    theme = "judge-light"

    [keys.code]
    next-function = "ctrl+j"

Settings belong to the reader and not to the workspace, whose ``judge-tui.toml`` several people share.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Container, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from judge_tui.checks.folders import user_folder
from judge_tui.judging.read_only import holds

__all__ = ["Preferences", "config_path", "keep_choice", "keep_theme", "kept_choice", "kept_theme"]

DEFAULT_THEME = "judge-dark"
_MOST = 1 << 20


def config_path() -> Path:
    """Where the settings are."""
    return user_folder("CONFIG") / "judge-tui" / "config.toml"


class Preferences(Struct, frozen=True):
    """What the settings say.

    Attributes:
        theme: Name of a theme; empty when none is named.
        keys: What stands under ``[keys]``, unparsed.
        faults: What is wrong with them, a sentence each.
    """

    theme: str = ""
    keys: Mapping[str, Any] = field(default_factory=dict)
    faults: tuple[str, ...] = ()

    @classmethod
    def read(cls, path: Path | None = None) -> Preferences:
        """Read the settings; a fault costs what it is in and never the start."""
        path = path or config_path()
        try:
            with path.open("rb") as file:
                raw = tomllib.loads(file.read(_MOST).decode("utf-8-sig"))
        except FileNotFoundError:
            return cls()
        except OSError as error:
            return cls(faults=(f"{path.name} cannot be read: {error.strerror}.",))
        except (ValueError, RecursionError) as error:
            return cls(faults=(f"{path} is not valid TOML: {error}.",))
        faults = [f"{path.name}: '{key}' is no setting." for key in raw if key not in ("theme", "keys")]
        theme = raw.get("theme", "")
        if not isinstance(theme, str):
            faults.append(f"{path.name}: 'theme' must be a text.")
            theme = ""
        return cls(theme, raw.get("keys", {}), tuple(faults))

    def theme_picked(self, known: Container[str]) -> str:
        """The theme that was picked last; empty where none was, or the settings name another one since."""
        picked, then = kept_theme()
        return picked if picked in known and then == self.theme else ""

    def theme_among(self, known: Container[str]) -> tuple[str, tuple[str, ...]]:
        """The theme to begin with, and what is wrong with the one that was named.

        The one picked last wins, until the settings name another one than when it was picked.
        """
        if picked := self.theme_picked(known):
            return picked, ()
        if not self.theme or self.theme in known:
            return self.theme or DEFAULT_THEME, ()
        name = config_path().name
        return DEFAULT_THEME, (f"{name}: there is no theme {self.theme!r}; the command palette lists them.",)


def _state(name: str = "theme") -> Path:
    return user_folder("STATE") / "judge-tui" / f"{name}.json"


def kept_choice(name: str) -> str:
    """What the reader has chosen last of something; empty where nothing was."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        return str(json.loads(_state("choices").read_text("utf-8"))[name])
    return ""


def keep_choice(name: str, chosen: str) -> None:
    """Remember a choice over restarts; a state folder that cannot be written to forgets it."""
    raw: dict[str, object] = {}
    with suppress(OSError, ValueError, TypeError):
        raw = dict(json.loads(_state("choices").read_text("utf-8")))
    _write(_state("choices"), {**raw, name: chosen})


def kept_theme() -> tuple[str, str]:
    """The theme that was picked last, and what the settings named then; empty texts for none."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        raw = json.loads(_state().read_text("utf-8"))
        return str(raw["theme"]), str(raw["config"])
    return "", ""


def keep_theme(theme: str, configured: str) -> None:
    """Remember a theme over restarts; a state folder that cannot be written to forgets it."""
    _write(_state(), {"theme": theme, "config": configured})


def _write(path: Path, raw: Mapping[str, object]) -> None:
    if holds():
        return
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(".tmp")
        temporary.write_text(json.dumps(raw), "utf-8")
        os.replace(temporary, path)
