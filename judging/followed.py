"""Where the lines of a note went that say something else now: kept beside what they said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from judge_tui.judging.context import Context, parse_context, render_context
from judge_tui.judging.document import storable

__all__ = ["Followed", "parse_followed", "render_followed"]

_KNOWN = frozenset({"file", "lines", "quote", "context", "gone"})


class Followed(Struct, frozen=True):
    """The place that the lines of a note were followed to, others standing in it by then.

    Attributes:
        file: File of the submission, relative.
        lines: First and last line, 1-based.
        quote: Text of the lines that stand there.
        context: What stands around them.
        gone: Whether nothing took their place: those lines are the ones that they stood beside.
        extra: Keys of the file that this version does not know.
    """

    file: str
    lines: tuple[int, int]
    quote: str = ""
    context: Context | None = None
    gone: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __hash__(self) -> int:
        # tables have no hash; what differs in them alone is told apart by equality
        return hash((self.file, self.lines, self.quote))

    @property
    def spot(self) -> Followed:
        """The place, whatever else of the file has changed: what a card need not be written anew for."""
        context = None if self.context is None else replace(self.context, text="")
        return replace(self, context=context)


def parse_followed(raw: object) -> Followed | None:
    """The place that a table says; ``None`` where it is none that is known."""
    if not isinstance(raw, Mapping):
        return None
    file, lines, quote = raw.get("file"), raw.get("lines"), raw.get("quote", "")
    context, gone = parse_context(raw.get("context")), raw.get("gone", False)
    if not (isinstance(file, str) and isinstance(quote, str) and isinstance(lines, list) and len(lines) == 2):
        return None
    if not (all(type(n) is int and n >= 1 for n in lines) and isinstance(gone, bool)):
        return None
    if context is None and "context" in raw:
        return None
    extra = {key: value for key, value in raw.items() if key not in _KNOWN}
    return Followed(file, (min(lines), max(lines)), quote, context, gone, extra)


def render_followed(followed: Followed) -> dict[str, Any]:
    """The place as a table; what is empty is left out."""
    raw: dict[str, Any] = {"file": storable(followed.file), "lines": list(followed.lines)}
    if followed.quote:
        raw["quote"] = storable(followed.quote)
    if followed.gone:
        raw["gone"] = True
    if followed.context is not None:
        raw["context"] = render_context(followed.context)
    return raw | dict(followed.extra)
