"""Bytes of a terminal that are no UTF-8: Textual's driver ends the program at the first.

A file dropped on a terminal, a line that loses bytes, or a program beside this one that writes into it
sends such. They are nothing that was typed, and are left out.
"""

from __future__ import annotations

import codecs
from functools import partial
from typing import Any

from textual.drivers import linux_driver

__all__ = ["take_any_bytes"]


def take_any_bytes() -> None:
    """Have Textual's driver read what is UTF-8 of whatever comes."""

    def patiently(encoding: str) -> Any:
        return partial(codecs.getincrementaldecoder(encoding), "ignore")

    linux_driver.getincrementaldecoder = patiently  # type: ignore[attr-defined]
