"""Pictures of things that stand above each other: boxes in rows, arrows that run down and never up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

__all__ = ["Box", "Circle", "Picture", "drawn", "reduced", "rows_of"]

#: Pixels: of a letter, a line, the room within and between boxes, and between rows.
_LETTER, _LINE, _INSIDE, _BESIDE, _BETWEEN, _EDGE = 6.7, 17, 10, 16, 46, 24
_SWEEPS = 12
_INK = "#6b7a90"
_WIDEST = 1180


class Circle(ValueError):
    """Things that stand above each other in a circle."""


@dataclass(frozen=True, slots=True)
class Box:
    """A thing in a picture.

    Attributes:
        title: Its name.
        lines: What is said of it.
        strong: Whether it is a room of several files.
        high: Its height in pixels, where that does not follow from its lines.
    """

    title: str
    lines: tuple[str, ...] = ()
    strong: bool = True
    high: float = 0.0

    @property
    def width(self) -> float:
        """Its width in pixels."""
        return max(len(text) for text in (self.title, *self.lines)) * _LETTER + 2 * _INSIDE

    @property
    def height(self) -> float:
        """Its height in pixels."""
        return self.high or (1 + len(self.lines)) * _LINE + _INSIDE


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture, and where it ends.

    Attributes:
        body: SVG elements, without their frame.
        width: Pixels.
        height: Pixels.
    """

    body: str
    width: float
    height: float

    def framed(self, title: str) -> str:
        """The picture as a file.

        Args:
            title: What it shows, for those who do not see it.
        """
        wide, high = round(self.width), round(self.height)
        size = f'width="{wide}" height="{high}"'
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {wide} {high}" '
            f'role="img" aria-label="{escape(title, quote=True)}" font-family="monospace" font-size="11">\n'
            '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
            f'orient="auto"><path d="M0 0L8 4L0 8z" fill="{_INK}"/></marker></defs>\n'
            f'<rect {size} fill="#fbfbf9"/>\n{self.body}</svg>\n'
        )


def rows_of(below: Mapping[str, frozenset[str]]) -> list[list[str]]:
    """Things by rows: each stands below everything that leans on it, as high as that lets it.

    Args:
        below: Thing → what it leans on.

    Raises:
        Circle: Some lean on each other.
    """
    row: dict[str, int] = {}
    above = {name: {other for other in below if name in below[other]} for name in below}
    left = set(below)
    while left:
        free = {name for name in left if above[name] <= row.keys()}
        if not free:
            raise Circle(f"these lean on each other: {', '.join(sorted(left))}")
        row |= {name: max((row[other] + 1 for other in above[name]), default=0) for name in free}
        left -= free
    return [
        sorted(name for name in row if row[name] == at) for at in range(max(row.values(), default=-1) + 1)
    ]


def reduced(below: Mapping[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    """The same without what follows from the rest: of a → b → c and a → c the last is left out.

    Args:
        below: Thing → what it leans on, without circles.
    """
    reached: dict[str, frozenset[str]] = {}
    for row in reversed(rows_of(below)):
        for name in row:
            reached[name] = below[name].union(*(reached[other] for other in below[name]))
    return {
        name: frozenset(
            other for other in direct if not any(other in reached[third] for third in direct - {other})
        )
        for name, direct in below.items()
    }


def drawn(boxes: Mapping[str, Box], below: Mapping[str, frozenset[str]]) -> Picture:
    """Boxes in rows with arrows from each to what it leans on.

    Args:
        boxes: Thing → its box.
        below: Thing → what it leans on.

    Raises:
        Circle: Some lean on each other.
    """
    rows, arrows = _with_gaps(
        [part for row in rows_of(below) for part in _fitting(row, boxes)], reduced(below)
    )
    held = {
        name: boxes.get(name) or Box("", high=max(boxes[other].height for other in row if other in boxes))
        for row in rows
        for name in row
    }
    rows = _untangled(rows, arrows)
    width = max(sum(held[name].width + _BESIDE for name in row) for row in rows) + 2 * _EDGE
    places: dict[str, tuple[float, float]] = {}
    top = float(_EDGE)
    for row in rows:
        left = (width - sum(held[name].width + _BESIDE for name in row) + _BESIDE) / 2
        for name in row:
            places[name] = left, top
            left += held[name].width + _BESIDE
        top += max(held[name].height for name in row) + _BETWEEN
    parts = [
        _arrow(held, places, (upper, lower), ends=lower in boxes)
        for upper, lowers in arrows.items()
        for lower in sorted(lowers)
    ]
    parts += [_box(boxes[name], *place) for name, place in places.items() if name in boxes]
    parts += [_passed(held[name], *place) for name, place in places.items() if name not in boxes]
    return Picture("".join(parts), width, top - _BETWEEN + _EDGE)


def _with_gaps(
    rows: Sequence[Sequence[str]], below: Mapping[str, frozenset[str]]
) -> tuple[list[list[str]], dict[str, frozenset[str]]]:
    """Rows with a gap for each arrow that crosses them, and the arrows from row to row."""
    filled = [list(row) for row in rows]
    at = {name: number for number, row in enumerate(rows) for name in row}
    arrows: dict[str, set[str]] = {name: set() for name in at}
    for upper, lowers in below.items():
        for lower in sorted(lowers):
            last = upper
            for number in range(at[upper] + 1, at[lower]):
                # arrows to the same box run together
                gap = f"{number} {lower}"
                if gap not in arrows:
                    filled[number].append(gap)
                    arrows[gap] = set()
                arrows[last].add(gap)
                last = gap
            arrows[last].add(lower)
    return filled, {name: frozenset(others) for name, others in arrows.items()}


def _untangled(rows: Sequence[Sequence[str]], below: Mapping[str, frozenset[str]]) -> list[list[str]]:
    """Rows in an order in which few arrows cross: each box near the middle of what it is tied to."""
    ordered = [list(row) for row in rows]
    ties = {name: sorted({*below[name], *(o for o in below if name in below[o])}) for name in below}
    for sweep in range(_SWEEPS):
        place = {name: (at + 0.5) / len(row) for row in ordered for at, name in enumerate(row)}
        for row in ordered[:: 1 if sweep % 2 else -1]:
            middle = {
                name: sum(place[other] for other in ties[name]) / len(ties[name])
                if ties[name]
                else place[name]
                for name in row
            }
            row.sort(key=lambda name, middle=middle: (middle[name], name))  # type: ignore[misc]
            place |= {name: (at + 0.5) / len(row) for at, name in enumerate(row)}
    return ordered


def _fitting(row: Sequence[str], boxes: Mapping[str, Box]) -> list[list[str]]:
    """A row, or several where it is too wide: those in one row lean on none of each other."""
    parts: list[list[str]] = [[]]
    room = float(_WIDEST)
    for name in row:
        room -= boxes[name].width + _BESIDE
        if room < 0 and parts[-1]:
            parts.append([])
            room = _WIDEST - boxes[name].width - _BESIDE
        parts[-1].append(name)
    return parts


def _arrow(
    boxes: Mapping[str, Box],
    places: Mapping[str, tuple[float, float]],
    between: tuple[str, str],
    *,
    ends: bool,
) -> str:
    """An arrow, or a piece of one that goes on through a gap."""
    upper, lower = between
    (left, top), (under_left, under_top) = places[upper], places[lower]
    x, y = left + boxes[upper].width / 2, top + boxes[upper].height
    to_x, to_y = under_left + boxes[lower].width / 2, under_top
    if to_y <= y:
        raise Circle(f"the arrow from {upper} to {lower} runs back up")
    bend = min((to_y - y) / 2, 60)
    path = f"M{x:.1f} {y:.1f}C{x:.1f} {y + bend:.1f} {to_x:.1f} {to_y - bend:.1f} {to_x:.1f} {to_y:.1f}"
    head = ' marker-end="url(#head)"' if ends else ""
    return f'<path d="{path}" fill="none" stroke="{_INK}" stroke-width="1"{head}/>\n'


def _passed(gap: Box, left: float, top: float) -> str:
    x = left + gap.width / 2
    return f'<path d="M{x:.1f} {top:.1f}V{top + gap.height:.1f}" stroke="{_INK}" stroke-width="1"/>\n'


def _box(box: Box, left: float, top: float) -> str:
    fill, edge = ("#e5eef2", "#2e6e8e") if box.strong else ("#ffffff", "#c8c8c0")
    frame = f'<rect x="{left:.1f}" y="{top:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" rx="4" '
    parts = [f'{frame}fill="{fill}" stroke="{edge}"/>\n']
    for at, text in enumerate((box.title, *box.lines)):
        style = 'font-weight="bold" fill="#24292f"' if not at else 'fill="#57606a"'
        x, y = left + _INSIDE, top + _LINE * (at + 1) - 2
        parts.append(f'<text x="{x:.1f}" y="{y:.1f}" {style} xml:space="preserve">{escape(text)}</text>\n')
    return "".join(parts)
