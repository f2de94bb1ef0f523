"""Texts in cells: cut or padded to a width, and broken into lines."""

from __future__ import annotations

from judge_tui.tui.look.glyphs import neutral

__all__ = ["fit", "wrapped"]


def fit(text: str, width: int, *, right: bool = False, keep_end: bool = False) -> str:
    """A text cut or padded to a width in cells, an ellipsis where it was cut."""
    from rich.cells import cell_len, set_cell_size

    text = neutral(text)
    if keep_end and cell_len(text) > width > 0:
        while cell_len(text) >= width:
            text = text[1:]
        return set_cell_size(f"…{text}", width)
    if cell_len(text) > width:
        return set_cell_size(text, max(width - 1, 0)) + "…" if width > 0 else ""
    return " " * (width - cell_len(text)) + text if right else set_cell_size(text, width)


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
