"""Notes on real files that are edited at random: none wrong unmarked, nearly all on the right line."""

from __future__ import annotations

import operator
import random
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pytest

from judge_tui.judging.note import Note, new_note
from judge_tui.judging.placing import Files, Placed, place, restated, settled_note
from judge_tui.judging.text_index import TextIndex, indexed, said
from judge_tui.judging.way_of_lines import Earlier
from judge_tui.tui.code.equal_lines import equal_lines

from .random_edits import Edited, edit_once, edited, material, with_copies

_NOTES = 8
#: Of the notes whose lines are there still.
_SHARE = 0.95


class Window:
    """What follows the notes of one file: with the texts that went by, or by what is on the card alone."""

    def __init__(self, notes: Sequence[Note], text: str, *, live: bool) -> None:
        self.notes, self.live = list(notes), live
        self.texts = {indexed(text).fingerprint: indexed(text)}

    def follow(self, texts: dict[str, str]) -> list[Placed]:
        """Where the notes are after a change."""
        files = Files(sorted(texts), texts.get, self._earlier)
        found = [place(note, files) for note in self.notes]
        if self.live:
            for number, one in enumerate(found):
                if one.standing == "there" and one.note.file is not None:
                    self.notes[number] = restated(one.note, indexed(texts[one.note.file]))
            self.texts |= {indexed(text).fingerprint: indexed(text) for text in texts.values()}
        return found

    def _earlier(self, fingerprint: str, index: TextIndex) -> Earlier | None:
        old = self.texts.get(fingerprint) if self.live else None
        return Earlier(old, index, equal_lines) if old is not None else None


def _notes(file: Edited, rng: random.Random) -> list[Note]:
    index, notes = indexed(file.text), []
    while len(notes) < _NOTES:
        first = rng.choice(index.solid)
        last = min(first + rng.choice([0, 0, 0, 1, 2, 5, 20]), len(index) - 1)
        lines = (first + 1, (last if index.said[last] else first) + 1)
        notes.append(restated(new_note("bug", "n", file=file.name, lines=lines, source=index.lines), index))
    return notes


def _on_blank_lines(file: Edited, rng: random.Random) -> list[Note]:
    index = indexed(file.text)
    blank = [n for n in range(index.solid[0], index.solid[-1]) if not index.said[n]]
    lines = [rng.choice(blank) + 1 for _ in range(_NOTES)] if blank else []
    return [
        restated(new_note("bug", "n", file=file.name, lines=(n, n), source=index.lines), index) for n in lines
    ]


class Gap(NamedTuple):
    """What stands around a blank line: which lines, what they say, and the so-manieth it is of how many."""

    lines: tuple[int, int]
    said: tuple[str, str]
    nth: int
    many: int

    def is_now(self, now: Gap) -> bool:
        """Whether another is the same, for all that anybody could tell."""
        beside = any(map(operator.eq, self.lines, now.lines)) and self.said == now.said
        return beside and (now.many == 1 or (self.nth, self.many) == (now.nth, now.many))


def _gap(file: Edited, line: int) -> Gap:
    solid = [at for at, (_, text) in enumerate(file.lines) if text.strip()]
    above, below = max(n for n in solid if n < line), min(n for n in solid if n > line)
    around = file.lines[above], file.lines[below]
    says = said(around[0][1]), said(around[1][1])
    return Gap((around[0][0], around[1][0]), says, line - above, below - above - 1)


def _judged(note: Note, found: Placed, file: Edited, before: TextIndex) -> str:
    """``right``, ``wrong``, ``lost`` where its lines are there and it is marked elsewhere, or ``marked``."""
    assert note.lines is not None
    assert found.note.lines is not None
    first, last = (line - 1 for line in note.lines)
    now = file.at(first), file.at(last)
    here = tuple(line - 1 for line in found.note.lines)
    right = found.note.file == file.name and here == now
    one_end = here[0] == now[0] or here[1] == now[1]
    if not right and found.note.file == file.name and one_end and first != last:
        # lines that were put among them and say the same: nobody could tell
        told = indexed(file.text).said[here[0] : here[1] + 1]
        right = "".join(told) == "".join(before.said[first : last + 1])
    if found.standing == "there":
        return "right" if right else "wrong"
    there = None not in now and now[0] <= now[1] and not {first, last} & file.changed  # type: ignore[operator]
    return ("right" if right else "lost") if there else "marked"


def _tried(seeds: range, *, live: bool) -> Counter[str]:
    files = material()
    texts = {path: path.read_text("utf-8").split("\n") for path in files[::7]}
    tally: Counter[str] = Counter()
    for seed in seeds:
        rng = random.Random(seed)
        path = rng.choice(files)
        # an old state of the file under its old name would be the file, for all that anybody knows
        pool = [line for other, lines in texts.items() if other != path for line in lines]
        file, steps = edited(path, pool, rng)
        before, notes = indexed(file.text), _notes(file, rng)
        window = Window(notes, file.text, live=live)
        done: list[str] = []
        found: list[Placed] = []
        for step in islice(steps, rng.randint(1, 4)):
            done.append(step)
            found = window.follow(file.files)
        for note, one in zip(notes, found, strict=True):
            how = _judged(note, one, file, before)
            tally[how] += 1
            assert how != "wrong", (seed, file.name, done, note, one, file.at(note.lines[0] - 1))
    return tally


def _holds(tally: Counter[str], share: float = _SHARE) -> None:
    assert tally["right"] + tally["marked"] >= share * tally.total(), tally
    assert tally["right"] >= (share - 0.02) * (tally["right"] + tally["lost"]), tally


@pytest.mark.parametrize("live", [False, True], ids=["by the card", "while it is open"])
def test_no_note_is_on_a_wrong_line_unmarked_and_nearly_all_are_on_the_right_one(live: bool) -> None:
    # so few of them, on files that change with every commit, may have a share three deviations lower
    _holds(_tried(range(40), live=live), _SHARE - 0.04)


@pytest.mark.parametrize("live", [False, True], ids=["by the card", "while it is open"])
def test_no_note_on_a_blank_line_is_at_another_one_unmarked(live: bool) -> None:
    files, pool = material(), ["x = 1", "", "", "def other():", "    return out", ""]
    right = 0
    for seed in range(60):
        rng = random.Random(seed)
        file, steps = edited(rng.choice(files), pool, rng)
        notes = _on_blank_lines(file, rng)
        gaps = [_gap(file, note.lines[0] - 1) for note in notes if note.lines]
        window = Window(notes, file.text, live=live)
        found: list[Placed] = []
        for _ in islice(steps, rng.randint(1, 4)):
            found = window.follow(file.files)
        for gap, one in zip(gaps, found, strict=True):
            assert one.note.lines is not None
            if one.standing == "there":
                assert gap.is_now(_gap(file, one.note.lines[0] - 1)), (seed, one)
                right += 1
    assert right > 240


class Restarted:
    """Notes of which nothing is known but what was on the card when it was saved last.

    Args:
        file: What they are on. Parts of it stand twice, exactly.
        rng: Draws the notes.

    Attributes:
        tally: What became of them after each edit.
    """

    def __init__(self, file: Edited, rng: random.Random) -> None:
        self._file, self._before = file, indexed(file.text)
        self._first = _notes(file, rng)
        self._saved = list(self._first)
        # copied while they were in doubt: which of the copies they are on is known to nobody
        self._lost: set[int] = set()
        self.tally: Counter[str] = Counter()

    def open_and_save(self, done: str) -> str:
        """Look for the notes after an edit, and save them; what is wrong with one of them, else nothing."""
        files, fault = Files(sorted(self._file.files), self._file.files.get), ""
        for number, (first, saved) in enumerate(zip(self._first, self._saved, strict=True)):
            found = place(saved, files)
            how = _judged(first, found, self._file, self._before)
            if how == "wrong" and (
                number in self._lost or _is_all_that_was_written_down(saved, found, files)
            ):
                how = "unknown"
            if how == "wrong":
                fault = f"{saved} {found}"
            if how in ("wrong", "unknown") or (found.standing != "there" and done == "_repeat"):
                self._lost.add(number)
            self.tally[how] += 1
            self._saved[number] = settled_note(saved, found, files)
        return fault


def _is_all_that_was_written_down(saved: Note, found: Placed, files: Files) -> bool:
    """Whether around a place stands all that stood around a note: copies have been exchanged."""
    index = files.index(str(found.note.file))
    assert index is not None
    was, now = saved.context, restated(found.note, index).context
    assert was is not None
    assert now is not None
    told = [[said(line) for line in (*each.before[:3], *each.after[:3])] for each in (was, now)]
    return told[0] == told[1] and was.within == now.within


def _restarted(files: Sequence[Path], seeds: range) -> Counter[str]:
    texts = {path: path.read_text("utf-8").split("\n") for path in files[::7]}
    tally: Counter[str] = Counter()
    for seed in seeds:
        rng = random.Random(seed)
        path = rng.choice(files)
        pool = [line for other, lines in texts.items() if other != path for line in lines]
        file = with_copies(path, rng)
        notes, done = Restarted(file, rng), list[str]()
        for _ in range(rng.randint(2, 6)):
            done.append(edit_once(file, pool, rng))
            fault = notes.open_and_save(done[-1])
            assert not fault, (seed, path, done, fault)
        tally += notes.tally
    return tally


def test_no_note_on_code_that_stands_twice_is_on_a_wrong_line_unmarked_over_restarts() -> None:
    # these files change seldom
    tally = _restarted([path for path in material() if "submissions" in path.parts], range(40))
    assert tally["right"] > 900
    assert tally["right"] >= (_SHARE - 0.04) * (tally["right"] + tally["lost"]), tally


@pytest.mark.campaign
def test_chains_of_restarts_leave_no_note_on_a_wrong_line_unmarked() -> None:
    tally = _restarted(material(), range(2000))
    assert tally["unknown"] <= 0.005 * tally.total(), tally
    assert tally["right"] >= (_SHARE - 0.01) * (tally["right"] + tally["lost"]), tally


@pytest.mark.campaign
@pytest.mark.parametrize("live", [False, True], ids=["by the card", "while it is open"])
def test_five_hundred_random_edits_leave_no_note_on_a_wrong_line_unmarked(live: bool) -> None:
    tally = _tried(range(500), live=live)
    _holds(tally)
    assert tally["right"] > 3_000
