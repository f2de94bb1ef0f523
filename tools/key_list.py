"""Writes docs/keys.md: every key of the program by its name.

    python -m tools.key_list

The names are those that the program gives its keys; only the parts of the page are put in order here.
"""

from __future__ import annotations

from pathlib import Path
from string import punctuation

import judge_tui.tui.app  # noqa: F401  the classes name their keys as they are made
import judge_tui.tui.screens.compare  # noqa: F401
from judge_tui.tui.keys.key_names import key_name
from judge_tui.tui.keys.keymap import key_table, load_keys

__all__ = ["PAGE", "PARTS", "page", "written"]

PAGE = Path(__file__).resolve().parents[1] / "docs" / "keys.md"
#: Part of the program → what it is, in the order of the page.
PARTS = {
    "program": "The whole program",
    "home": "Home",
    "matrix": "Home: models × tasks",
    "filter": "Home: the line of the filter",
    "scores": "Home: the scores of a task as bars",
    "everywhere": "A comparison, wherever the focus is",
    "code": "The code",
    "counts": "Counts, in the code and in lists",
    "search": "The search line",
    "rubric": "The rubric (digits score, a dimension's key goes there)",
    "checks": "The checks",
    "lists": "Every list",
    "sheet": "Lists that fill the screen",
    "evidence": "The evidence of a check",
    "plot": "A curve in full",
    "differences": "Where the submissions differ",
    "diff": "One function beside its like",
    "notes": "The list of notes",
    "report": "The report",
    "statement": "What a task asks for",
    "matchup": "The matchup (digits type the margin on its line)",
    "picker": "Files, symbols, definitions, bookmarks",
    "line": "A line by its number",
    "export": "The file that the scoreboard or a report is written into",
    "editor": "Editors",
    "note": "The editor of a note: kind and severity, from within its text too",
    "question": "Questions",
    "conflict": "Another window changed the same",
    "theirs": "Undo over what another window wrote",
    "leave": "Leaving what cannot be saved",
    "waiting": "Waiting for something that takes seconds",
    "reveal": "The reveal",
    "help": "Help",
}
HEAD = """# Keys

Written by `python -m tools.key_list` from the program itself.

`~/.config/judge-tui/config.toml` gives a key of your own to any of these names, or several:

    [keys.code]
    next-function = ["ctrl+j", "f10"]

    [keys.everywhere]
    code-pane-a = ["A", "1"]

A key that means something else where it would be listened to is told when the program starts, and changes
nothing. Where letters are typed, letters stay letters. Keys are written as `x`, `X`, `?`, `ctrl+x`, `f5`,
`space`, `enter`. Keys of text fields themselves (the cursor, deleting, `ctrl+z`) are not in this list.

A digit begins a count, `12G`, in the code and in every list; in the rubric, and on the line of a matchup's
margin, digits are typed. One that you give to something else, as `1` to `code-pane-a`, begins none: there `;`
leads the count, `;12G`. Within the text of a note a letter is always typed; one that you give to its kind or
severity chooses in their fields alone.
"""


def written(key: str) -> str:
    """A key as the settings spell it."""
    *modifiers, last = key.split("+")
    shown = key_name(last)
    return "+".join([*modifiers, shown if shown in punctuation else last])


def page() -> str:
    """The page as it should be."""
    load_keys()
    table = key_table()
    assert {name.split(".")[0] for name in table} == set(PARTS)
    lines = [HEAD]
    for part, title in PARTS.items():
        lines += [f"## {title}: `[keys.{part}]`", "", "| name | keys |", "|---|---|"]
        for name, keys in table.items():
            if name.startswith(f"{part}."):
                shown = " ".join(f"`{written(key)}`" for key in keys)
                lines.append(f"| `{name.removeprefix(f'{part}.')}` | {shown} |")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page())
