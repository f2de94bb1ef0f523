"""The user's own folders and the present one, also where the system does not tell them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

__all__ = ["home_folder", "present_folder", "user_folder"]

_DEFAULTS = {"CACHE": ".cache", "CONFIG": ".config", "STATE": ".local/state"}


def home_folder() -> Path:
    """The user's home; ``/`` where there is neither ``$HOME`` nor such a user, as in a container."""
    try:
        return Path.home()
    except RuntimeError:
        return Path("/")


def present_folder() -> Path:
    """Where the program runs; ``/`` where that folder is gone."""
    try:
        return Path.cwd()
    except OSError:
        return Path("/")


def user_folder(kind: Literal["CACHE", "CONFIG", "STATE"]) -> Path:
    """The user's folder of a kind: ``$XDG_<kind>_HOME``, else the usual one below the home.

    A relative one counts for none, as the specification has it: it would be another one with every
    folder that the program is started in.
    """
    given = os.environ.get(f"XDG_{kind}_HOME", "")
    return Path(given) if os.path.isabs(given) else home_folder() / _DEFAULTS[kind]
