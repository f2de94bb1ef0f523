"""Random edits of real files that know which line has become which."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

__all__ = ["Edited", "edit_once", "edited", "material", "with_copies"]

ROOT = Path(__file__).parents[2]
_HEAD = re.compile(r"\s*(?:async def|def|class|__global__|static|template|void)\b")


def material() -> list[Path]:
    """Sources of this repository, the same on every machine: Python and CUDA of a usual length."""
    rooms = ("submissions", "checks/generic", "checks/binding", "judging", "tui/code", "cli")
    files = [
        path
        for room in rooms
        for path in sorted((ROOT / room).rglob("*"))
        if path.suffix in (".py", ".cu", ".md") and "__pycache__" not in path.parts
    ]
    return [path for path in files if 25 <= path.read_text("utf-8").count("\n") <= 450]


@dataclass
class Edited:
    """A file in the middle of an editing.

    Attributes:
        name: Its name now.
        lines: Its lines: which one it was at first, or a new number, and what it says now.
        changed: Lines that say something else now.
        others: Files beside it: name → text.
    """

    name: str
    lines: list[tuple[int, str]]
    changed: set[int] = field(default_factory=set)
    others: dict[str, str] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=lambda: count(1_000_000))
    end: str = "\n"

    @property
    def text(self) -> str:
        """What the file says now."""
        return self.end.join(line for _, line in self.lines) + self.end

    @property
    def files(self) -> dict[str, str]:
        """All files of the folder."""
        return {self.name: self.text, **self.others}

    def at(self, line: int) -> int | None:
        """Where a line of the beginning stands now, both 0-based."""
        return next((at for at, (number, _) in enumerate(self.lines) if number == line), None)


def _insert(file: Edited, rng: random.Random, pool: Sequence[str]) -> None:
    first = rng.randrange(len(pool))
    at = rng.randint(0, len(file.lines))
    new = [(next(file.numbers), line) for line in pool[first : first + rng.randint(1, 8)]]
    file.lines[at:at] = new


def _repeat(file: Edited, rng: random.Random, pool: Sequence[str]) -> None:
    """Lines of the same file a second time, as somebody does who begins a function with another one."""
    first, end = _block(file, rng)
    # not inside itself: nobody could tell then which lines were there before
    at = rng.choice([*range(first + 1), *range(end, len(file.lines) + 1)])
    file.lines[at:at] = [(next(file.numbers), line) for _, line in file.lines[first:end]]


def _block(file: Edited, rng: random.Random) -> tuple[int, int]:
    """A few lines, or a definition."""
    heads = [n for n, (_, line) in enumerate(file.lines) if _HEAD.match(line)]
    if heads and rng.random() < 0.5:
        first = rng.choice(heads)
        behind = next((n for n in heads if n > first), len(file.lines))
        return first, behind
    first = rng.randrange(max(len(file.lines), 1))
    return first, min(first + rng.randint(1, 10), len(file.lines))


def _delete(file: Edited, rng: random.Random, pool: Sequence[str]) -> None:
    first, end = _block(file, rng)
    if end - first < len(file.lines) - 5:
        del file.lines[first:end]


def _move(file: Edited, rng: random.Random, pool: Sequence[str]) -> None:
    first, end = _block(file, rng)
    block = file.lines[first:end]
    del file.lines[first:end]
    at = rng.randint(0, len(file.lines))
    file.lines[at:at] = block


def _change(file: Edited, rng: random.Random, pool: Sequence[str]) -> None:
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(file.lines))
        number, line = file.lines[at]
        if line.strip():
            file.changed.add(number)
            file.lines[at] = (number, f"{line} + {rng.randint(1, 99)}")


def _rename(file: Edited, rng: random.Random, pool: Sequence[str]) -> None:
    old = file.name
    file.name = f"renamed_{rng.randint(1, 99)}{Path(old).suffix}"
    if rng.random() < 0.5:
        first = rng.randrange(len(pool))
        file.others[old] = "\n".join(pool[first : first + 80]) + "\n"


def _name(file: Edited, rng: random.Random, pool: Sequence[str]) -> None:
    """One word of it is another one everywhere."""
    words = re.findall(r"[A-Za-z_]\w{3,}", file.text)
    if not words:
        return
    word = re.compile(rf"\b{rng.choice(words)}\b")
    for at, (number, line) in enumerate(file.lines):
        now = word.sub("other_name", line)
        if now != line:
            file.changed.add(number)
            file.lines[at] = (number, now)


def _reformat(file: Edited, rng: random.Random, pool: Sequence[str]) -> None:
    def tabs(line: str) -> str:
        rest = line.lstrip(" ")
        return "\t" * ((len(line) - len(rest)) // 4) + " " * ((len(line) - len(rest)) % 4) + rest

    def spaced(line: str) -> str:
        return re.sub(r"(?<=\w) ?([=+*/-]) ?(?=\w)", r" \1 ", line).replace("'", '"')

    ways: list[Callable[[str], str]] = [tabs, spaced, str.rstrip, lambda line: "    " + line]
    way = rng.choice(ways)
    file.lines = [(number, way(line)) for number, line in file.lines]
    if rng.random() < 0.3:
        file.end = "\r\n"
    if rng.random() < 0.5:
        at = [n for n in range(len(file.lines) - 1, -1, -1) if not file.lines[n][1].strip()]
        for n in at[::2]:
            file.lines.insert(n, (next(file.numbers), ""))


EDITS = (_insert, _insert, _repeat, _delete, _move, _change, _rename, _name, _reformat)


def edited(path: Path, pool: Sequence[str], rng: random.Random) -> tuple[Edited, Iterator[str]]:
    """A file, and an iterator that edits it once more with each step and says how.

    Nothing follows on a copy of lines: once the lines and their copy are edited apart, which of them are the
    old ones is known to nobody.
    """
    lines = path.read_text("utf-8").split("\n")[:-1]
    file = Edited(path.name, list(enumerate(lines)))

    def steps() -> Iterator[str]:
        while True:
            edit = rng.choice(EDITS)
            edit(file, rng, pool)
            yield edit.__name__
            if edit is _repeat:
                return

    return file, steps()


def with_copies(path: Path, rng: random.Random) -> Edited:
    """A file in which parts may stand a second time."""
    file = Edited(path.name, list(enumerate(path.read_text("utf-8").split("\n")[:-1])))
    for _ in range(rng.randint(0, 2)):
        _repeat(file, rng, ())
    return Edited(path.name, list(enumerate(line for _, line in file.lines)))


def edit_once(file: Edited, pool: Sequence[str], rng: random.Random) -> str:
    """Edit a file, and say how; copies are frequent."""
    edit = rng.choice((*EDITS, _repeat, _repeat))
    edit(file, rng, pool)
    return edit.__name__
