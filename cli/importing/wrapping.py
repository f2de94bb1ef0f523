"""Pieces of the ``challenge.py`` that is written beside a problem."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["in_docstring", "listed"]


def listed(sizes: Iterable[Mapping[str, Any]]) -> str:
    """Sizes as a list of Python's, one a line.

    Args:
        sizes: Name → number, text or tuple.
    """
    items = (
        f"    dict({', '.join(f'{name}={value!r}' for name, value in each.items())}),\n" for each in sizes
    )
    return f"[\n{''.join(items)}]"


def in_docstring(text: str) -> str:
    """A text without what would end a docstring, or mean something in one."""
    return re.sub(r'[\\"]', "", text)
