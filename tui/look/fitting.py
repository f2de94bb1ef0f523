"""Texts in cells: cut or padded to a width, and broken into lines."""

from __future__ import annotations

from judge_tui.tui.look.glyphs import neutral

__all__ = ["fit", "fit_middle", "wrapped"]


def fit(text: str, width: int, *, right: bool = False) -> str:
    """A text cut or padded to a width in cells, an ellipsis where it was cut."""
    from rich.cells import cell_len, set_cell_size

    text = neutral(text)
    if cell_len(text) > width:
        return set_cell_size(text, max(width - 1, 0)) + "…" if width > 0 else ""
    return " " * (width - cell_len(text)) + text if right else set_cell_size(text, width)


def fit_middle(text: str, width: int) -> str:
    """A text cut to a width in cells in its middle, its last component kept before its beginning: a path."""
    from rich.cells import cell_len, set_cell_size

    text = neutral(text)
    if cell_len(text) <= width:
        return text
    if width < 2:
        return set_cell_size(text, max(width, 0))
    least = cell_len(text[text.rfind("/", 0, -1) :])
    behind = min(max(least, (width - 1) * 2 // 3), width - 1)
    tail = text
    while cell_len(tail) > behind:
        tail = tail[1:]
    return f"{set_cell_size(text, width - 1 - cell_len(tail)).rstrip()}…{tail}"


def wrapped(text: str, width: int) -> list[str]:
    """A text broken into lines of at most ``width`` cells at spaces, paragraphs kept."""
    from rich.cells import cell_len, chop_cells

    lines: list[str] = []
    for paragraph in text.split("\n"):
        line = ""
        for word in neutral(paragraph).split(" "):
            joined = f"{line} {word}" if line else word
            if cell_len(joined) <= width:
                line = joined
                continue
            if line:
                lines.append(line)
            *full, line = chop_cells(word, max(width, 1)) or [""]
            lines += full
        lines.append(line)
    return lines
