"""What stands around the lines of a note: it tells them from others that say the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import takewhile
from typing import Any

from msgspec import Struct, field

from judge_tui.judging.document import storable
from judge_tui.judging.text_index import TextIndex, said

__all__ = [
    "CHARACTERS",
    "FEW",
    "UNKNOWN",
    "Context",
    "context_of",
    "edge",
    "full",
    "loose",
    "near",
    "parse_context",
    "render_context",
    "same",
    "saying",
    "slots",
]

#: Lines that are kept before and behind; more where they stand nearby a second time, up to the second number.
FEW, _MANY = 3, 8
#: Stands for the fingerprint of a file that nobody knows: the note was in doubt when its card was saved.
UNKNOWN = "unknown"
#: Of a line only its beginning is kept.
CHARACTERS = 160


_KNOWN = frozenset({"within", "before", "after", "ends", "endings", "equal", "twins", "text"})


class Context(Struct, frozen=True):
    """Where a note was when its lines were known for certain.

    Attributes:
        within: The definitions around it, as ``KVCache.append``; empty on the outermost level.
        before: The lines before it, the nearest first, blank ones left out; fewer than three at an edge.
        after: The lines behind it, in the same way.
        ends: The last line, of a range that is longer than what is quoted of it; empty else.
        endings: How many lines of the file say what it ends with; 0 where nobody knows.
        equal: Which of those places it is that say the same: the so-manieth of how many in its definition,
            and how many there are in the file. Of blank lines, the so-manieth of how many that stand
            together, and in how many places of the file such ones do between the same lines.
        twins: Around how many of those places all the kept lines are the same, and how many of these are
            around the next best; ``None`` where that was not written down.
        text: Fingerprint of the file (see :class:`~judge_tui.judging.text_index.TextIndex`).
        extra: Keys of the file that this version does not know.
    """

    within: str = ""
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    ends: str = ""
    endings: int = 0
    equal: tuple[int, int, int] = (1, 1, 1)
    twins: tuple[int, int] | None = (1, 0)
    text: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __hash__(self) -> int:
        # tables have no hash; what differs in them alone is told apart by equality
        return hash((self.within, self.before, self.after))


def context_of(index: TextIndex, first: int, last: int, equal: Sequence[int], *, quoted: bool) -> Context:
    """The context of some lines.

    Args:
        index: The text.
        first: First line, 0-based.
        last: Last line.
        equal: First lines of all places that say the same, this one among them.
        quoted: Whether all of the lines are.
    """
    within = index.within[first]
    inside = [place for place in equal if same(index.within[place], within)]
    count = FEW if len(equal) < 2 else _MANY
    before, after = (_raw(index, each) for each in (index.before(first, count), index.behind(last, count)))
    alike = [_alike(index, place, last - first, (before, after)) for place in equal]
    whole = full(before) + full(after)
    others = max((slots for slots in alike if slots < whole), default=0)
    return Context(
        within,
        before,
        after,
        "" if quoted else _cut(index.lines[last]),
        0 if quoted else len(saying(_cut(index.lines[last]), index)),
        (*_nth(first, inside), max(len(equal), 1)),
        (max(sum(slots == whole for slots in alike), 1), others),
        index.fingerprint,
    )


def _nth(first: int, places: Sequence[int]) -> tuple[int, int]:
    """Which of some places one is, and how many they are."""
    return (places.index(first) + 1 if first in places else 1), max(len(places), 1)


def _alike(index: TextIndex, first: int, size: int, kept: tuple[Sequence[str], Sequence[str]]) -> int:
    """How many of the kept lines stand around a place too."""
    before, after = kept
    last = min(first + size, len(index) - 1)
    return slots(before, index.before(first, len(before) + 1), index) + slots(
        after, index.behind(last, len(after) + 1), index
    )


def _raw(index: TextIndex, numbers: Sequence[int]) -> tuple[str, ...]:
    return tuple(_cut(index.lines[number]) for number in numbers)


def _cut(line: str) -> str:
    return line.strip()[:CHARACTERS]


def near(index: TextIndex, number: int, kept: str) -> bool:
    """Whether a line of a text says what a kept one does."""
    told = _said(kept)
    here = index.said[number]
    return here == told or (len(kept) >= CHARACTERS and here.startswith(told))


@lru_cache(maxsize=4096)
def _said(kept: str) -> str:
    return said(kept)


def saying(kept: str, index: TextIndex) -> Sequence[int]:
    """Lines of a text that say what a kept one does."""
    told = said(kept)
    if len(kept) < CHARACTERS:
        return index.at(told)
    return [number for number in index.solid if index.said[number].startswith(told)]


def edge(kept: Sequence[str]) -> bool:
    """Whether kept lines end where the file does."""
    return len(kept) < FEW


def slots(kept: Sequence[str], there: Sequence[int], index: TextIndex) -> int:
    """How many kept lines, from the nearest on, stand in just their places; an edge of the file counts."""
    count = sum(1 for _ in takewhile(bool, (near(index, n, k) for n, k in zip(there, kept, strict=False))))
    return count + (edge(kept) and count == len(kept) and len(there) == len(kept))


def full(kept: Sequence[str]) -> int:
    """What :func:`slots` comes to where all of the kept lines stand in their places."""
    return len(kept) + edge(kept)


def loose(kept: Sequence[str], there: Sequence[int], index: TextIndex) -> int:
    """How many of the kept lines stand there in their order."""
    at = count = 0
    for line in kept:
        found = next((n for n in range(at, len(there)) if near(index, there[n], line)), None)
        if found is not None:
            at, count = found + 1, count + 1
    return count


def same(within: str, wanted: str) -> bool:
    """Whether two definitions are one; what it stands in may have come or gone."""
    if within == wanted:
        return True
    return bool(within and wanted) and (within.endswith("." + wanted) or wanted.endswith("." + within))


def parse_context(raw: object) -> Context | None:
    """The context that a table says; ``None`` where it is none that is known."""
    if not isinstance(raw, Mapping):
        return None
    texts = [raw.get(key, "") for key in ("within", "ends", "text")]
    lists = [raw.get(key, []) for key in ("before", "after")]
    equal = raw.get("equal", [1, 1, 1])
    if not all(isinstance(text, str) for text in texts) or not all(map(_are_texts, lists)):
        return None
    if not isinstance(equal, list) or len(equal) != 3 or not all(type(n) is int and n > 0 for n in equal):
        return None
    endings = raw.get("endings", 0)
    if equal[0] > equal[1] or type(endings) is not int or endings < 0:
        return None
    extra = {key: value for key, value in raw.items() if key not in _KNOWN}
    twins = raw.get("twins", None if "equal" in raw else [1, 0])
    if twins is not None and not _are_twins(twins):
        return None
    return Context(
        texts[0],
        tuple(lists[0]),
        tuple(lists[1]),
        texts[1],
        endings,
        tuple(equal),
        None if twins is None else tuple(twins),
        texts[2],
        extra,
    )


def _are_twins(value: object) -> bool:
    """Whether it is how many places, and how many lines."""
    if not isinstance(value, list) or len(value) != 2 or not all(type(n) is int for n in value):
        return False
    return int(value[0]) >= 1 and int(value[1]) >= 0


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def render_context(context: Context) -> dict[str, Any]:
    """The context as a table; what is empty is left out."""
    raw: dict[str, Any] = {
        "within": storable(context.within),
        "before": list(map(storable, context.before)),
        "after": list(map(storable, context.after)),
        "ends": storable(context.ends),
        "endings": context.endings,
        "equal": list(context.equal) if context.equal != (1, 1, 1) else [],
        "twins": list(context.twins) if context.twins and context.equal != (1, 1, 1) else [],
        "text": context.text,
    }
    return {key: value for key, value in raw.items() if value} | dict(context.extra)
