"""A chat answer: Markdown with the code in fences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from judge_tui.checks.lines import split_lines
from judge_tui.cli.bringing.brought import Brought, Refused, listed
from judge_tui.cli.bringing.fence_names import Above, language_of, named_above, named_inside
from judge_tui.cli.bringing.fences import MOST_FENCES, Fence, fences
from judge_tui.cli.bringing.heredocs import heredocs
from judge_tui.cli.bringing.joining import defined, elided, joined
from judge_tui.cli.bringing.languages import guessed, suffix_of
from judge_tui.cli.bringing.member_names import free_name, module_name, spelled
from judge_tui.cli.bringing.turns import asked
from judge_tui.judging.wording import counted

__all__ = ["ANSWER", "from_answer", "from_text"]

#: Where the answer itself is kept: what its prose says is judged too.
ANSWER = "answer.md"
_EXAMPLE = "example.py"
_C_FAMILY = frozenset({".c", ".cpp", ".cu"})
_THOUGHT = re.compile(r"[ \t]*</(?:think|thinking|thought|reasoning)>", re.I)


def from_text(text: str, task: str) -> Brought:
    """The files of what a model answered, whether it is Markdown with fences or code alone.

    Args:
        text: The answer.
        task: What an unnamed file is called after.

    Raises:
        Refused: It has too many fences.
    """
    lines = _lines(text)
    if fences(lines[_behind_thoughts(lines) :]):
        return from_answer(text, task)
    suffix = guessed(text)
    name = f"{module_name(task)}{suffix}" if suffix else ANSWER
    return Brought({name: text.encode("utf-8", "replace")} if text.strip() else {})


def from_answer(text: str, task: str) -> Brought:
    """The files of a chat answer, and the answer itself where it says more than they do.

    Args:
        text: The answer, in Markdown.
        task: What the file of fences without a name is called after.

    Raises:
        Refused: It has too many fences.
    """
    reading = _Reading(_lines(text), task)
    files = {name: content.encode("utf-8", "replace") for name, content in reading.files.items()}
    if reading.says_more or not files:
        files[free_name(ANSWER, files)] = text.encode("utf-8", "replace")
    return Brought(files, (), tuple(reading.told()))


def _lines(text: str) -> list[str]:
    return split_lines(text.removeprefix("\ufeff"))


def _behind_thoughts(lines: Sequence[str]) -> int:
    """Index of the first line behind what a model thought before it answered; drafts stand there."""
    ends = [number for number, line in enumerate(lines) if _THOUGHT.match(line)]
    if not ends:
        return 0
    first = next((line.strip().lower() for line in lines if line.strip()), "")
    opened = any(line.lstrip().lower().startswith("<th") for line in lines[: ends[-1]])
    return ends[-1] + 1 if first.startswith(("<th", "<reason")) or not opened else 0


class _Reading:
    """The fences of an answer, sorted into files."""

    def __init__(self, lines: Sequence[str], task: str) -> None:
        self.files: dict[str, str] = {}
        self._lines, self._task = lines, task
        self._named: dict[str, Fence] = {}
        self._unnamed: list[tuple[Fence, str]] = []
        self._left_out: list[str] = []
        self._notes: list[str] = []
        self._start = _behind_thoughts(lines)
        self._fences = [_moved(fence, self._start) for fence in fences(lines[self._start :])]
        if len(self._fences) > MOST_FENCES:
            raise Refused(f"holds more than {MOST_FENCES:,} fences.", hint="Bring each answer by itself.")
        self._sort()
        self._join()

    @property
    def says_more(self) -> bool:
        """Whether anything stands in the answer that is not as it is in the files."""
        beside = set(range(len(self._lines)))
        for fence in self._fences:
            beside -= set(range(fence.first, fence.last + 1))
        return bool(self._left_out or self._notes) or any(self._lines[number].strip() for number in beside)

    def told(self) -> Iterator[str]:
        """What whoever adds the answer has to know."""
        if self._start:
            yield f"what it thought before it answered, up to line {self._start}, is not looked into."
        if self._left_out:
            verb = "is" if len(self._left_out) == 1 else "are"
            yield f"{counted(len(self._left_out), 'fence')} {verb} no file: {listed(self._left_out)}."
        yield from self._notes
        last = self._fences[-1] if self._fences else None
        if last is not None and not last.closed:
            yield f"the last fence, of line {last.line}, has no end: the answer may have been cut off."

    def _sort(self) -> None:
        end = self._start
        questions = asked(self._lines, self._fences)
        for fence in self._fences:
            above, end = Above(self._lines, end, fence.first), fence.last + 1
            language = language_of(fence.info)
            if fence in questions:
                self._leave(fence, "what was asked")
            elif name := named_inside(fence) or named_above(above, language):
                self._name(name, fence)
            elif suffix := suffix_of(language, fence.text):
                self._unnamed.append((fence, suffix))
            elif not self._scripted(fence):
                self._leave(fence, language or "no language")

    def _scripted(self, fence: Fence) -> bool:
        """Take the files that a script of a shell writes; whether it writes any."""
        names: dict[str, None] = {}
        for name, lines, behind in heredocs(fence.lines):
            before = self._named[name].lines if behind and name in self._named else ()
            self._named[name] = replace(fence, lines=(*before, *lines))
            self.files[name] = self._named[name].text
            names[name] = None
        if names:
            self._notes.append(f"the script of line {fence.line} writes {listed(names)}.")
        return bool(names)

    def _name(self, name: str, fence: Fence) -> None:
        names = {spelled(other): other for other in self._named}
        known = names.get(spelled(name), name)
        before = self._named.get(known)
        if before is not None and before.lines != fence.lines:
            fence = self._again(known, before, fence)
        self._named[known] = fence
        self.files[known] = fence.text

    def _again(self, name: str, before: Fence, fence: Fence) -> Fence:
        """What a file is once its name has come again: the newer one, both, or what it was."""
        suffix = PurePosixPath(name).suffix
        old, new = defined(before, suffix), defined(fence, suffix)
        if elided(fence) and not elided(before):
            self._leave(fence, f"a part of {name}")
            return before
        if old and not new:
            # a fence beneath a heading that only speaks of the file
            self._unnamed.append((fence, suffix))
            return before
        if old and not old & new:
            self._notes.append(f"{name} goes on in line {fence.line}.")
            return replace(before, lines=(*before.lines, "", *fence.lines))
        self._notes.append(f"{name} is there again in line {fence.line}, and the last one is taken.")
        return fence

    def _leave(self, fence: Fence, what: str) -> None:
        self._left_out.append(f"line {fence.line} ({what})")

    def _join(self) -> None:
        family = {suffix for _, suffix in self._unnamed} & _C_FAMILY
        largest = next((suffix for suffix in (".cu", ".cpp", ".c") if suffix in family), "")
        groups: dict[str, list[Fence]] = {}
        for fence, suffix in self._unnamed:
            groups.setdefault(largest if suffix in _C_FAMILY else suffix, []).append(fence)
        for suffix, group in groups.items():
            self._joined(group, suffix)

    def _joined(self, group: Sequence[Fence], suffix: str) -> None:
        beside = [fence for name, fence in self._named.items() if name.endswith(suffix)]
        found = joined(group, suffix, beside)
        for fence, why in found.left_out:
            self._leave(fence, why)
        if found.kept:
            name = self._written(f"{module_name(self._task)}{suffix}", found.kept)
            if len(found.kept) > 1:
                self._notes.append(f"{name} is made of the fences of {_places(found.kept)}, in their order.")
            elif found.left_out:
                self._notes.append(f"{name} is the fence of {_places(found.kept)}, which is the whole.")
        if found.examples and suffix == ".py":
            example = self._written(_EXAMPLE, found.examples)
            self._notes.append(f"{example} has what only uses the rest, of {_places(found.examples)}.")
        else:
            for fence in found.examples:
                self._leave(fence, "it only uses the rest")

    def _written(self, wanted: str, fences: Sequence[Fence]) -> str:
        name = free_name(wanted, self.files)
        self.files[name] = "\n".join(fence.text for fence in fences)
        return name


def _places(fences: Sequence[Fence]) -> str:
    lines = [str(fence.line) for fence in fences]
    return f"line{'s' if len(lines) > 1 else ''} {listed(lines)}"


def _moved(fence: Fence, lines: int) -> Fence:
    return replace(fence, first=fence.first + lines, last=fence.last + lines)
