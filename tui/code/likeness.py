"""How alike two definitions are: by name, by the words that they are made of, by what stands around them.

Plain Python; ask in a thread.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from keyword import kwlist
from math import log, sqrt

from msgspec import Struct, field

from judge_tui.tui.code.source import Source
from judge_tui.tui.code.symbols import Symbol

__all__ = ["Comparison", "Definition", "definitions"]

#: What a likeness is made of: names, words, the definition around.
_NAME, _WORDS, _AROUND = 0.5, 0.35, 0.15
#: How much less a name says between methods of classes that are called differently.
_ELSEWHERE = 0.2
#: Less alike is no match.
_LEAST = 0.5
#: How much content has to be shared where names share a word that tells something, and where they share none.
_AKIN, _UNLIKE = 0.1, 0.22
#: How alike names are, one of which holds all that the other one tells, so that they need no content.
_CONTAINED = 0.65
#: So many shared words are half a proof.
_HALF = 5
#: Lines of a definition, characters of a line and different words by which it is told from others;
#: what stands deeper than so many definitions has no words of its own.
_LINES, _COLUMNS, _DISTINCT, _DEEPEST = 5_000, 1_000, 200, 16
_WORD = re.compile(r"[A-Za-z_]\w*|\d+")
#: Words of every definition, which tell none from another.
_COMMON = frozenset(kwlist) | {"self", "cls", "this", "auto", "const", "float", "int", "void"}
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+")
#: What is done, and not to what: parts of names that tell nothing by themselves.
_VAGUE = {
    "add",
    "compute",
    "do",
    "get",
    "has",
    "init",
    "is",
    "make",
    "of",
    "print",
    "run",
    "set",
    "test",
    "to",
}


class Definition(Struct, frozen=True):
    """A definition as it is held against others.

    Attributes:
        name: Its name, without what spelling adds.
        kind: As of :class:`Symbol`.
        around: The name of the definition that it stands in, likewise.
        parts: What its name is made of, as far as it tells something.
        words: What it is made of, and how often.
        length: Of ``words`` as a vector.
    """

    name: str
    kind: str
    around: str
    parts: frozenset[str]
    words: Counter[str]
    length: float = field(default=0.0)


def definitions(source: Source, symbols: Sequence[Symbol]) -> Iterator[Definition]:
    """The definitions of a file, in its order."""
    open_: list[Symbol] = []
    for symbol in symbols:
        while open_ and open_[-1].depth >= symbol.depth:
            open_.pop()
        around = _plain(open_[-1].name) if open_ else ""
        open_.append(symbol)
        words = _words(source, symbol) if symbol.depth < _DEEPEST else Counter()
        length = sqrt(sum(count * count for count in words.values()))
        parts = frozenset(map(str.lower, _PART.findall(symbol.name))) - _VAGUE
        yield Definition(_plain(symbol.name), symbol.kind, around, parts, words, length)


def _words(source: Source, symbol: Symbol) -> Counter[str]:
    """The words that a definition is made of, and how often each; of very many the most frequent."""
    known = _COMMON | {symbol.name}
    words: Counter[str] = Counter()
    for line in source.lines[symbol.line : min(symbol.end + 1, symbol.line + _LINES)]:
        words.update(word for word in _WORD.findall(line[:_COLUMNS]) if word not in known)
    return words if len(words) <= _DISTINCT else Counter(dict(words.most_common(_DISTINCT)))


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


class Comparison:
    """The definitions of two files, each held against the other's."""

    def __init__(self, ours: Sequence[Definition], theirs: Sequence[Definition]) -> None:
        self._sides = ours, theirs
        self._weighed: tuple[dict[int, Mapping[str, float]], ...] = ({}, {})

    def __call__(self, a: int, b: int) -> float:
        """How alike two definitions are, from 0 to 1; 0 where they are no match."""
        one, other = self._sides[0][a], self._sides[1][b]
        alike = _likeness(one, other)
        if alike < _LEAST:
            return 0.0
        wanted = _wanted(one, other)
        return alike if not wanted or self._shared(a, b) >= wanted else 0.0

    def _shared(self, a: int, b: int) -> float:
        """From 0 to 1: how much of what they are made of two definitions share; of little that is little.

        A word says the more, the fewer definitions hold it.
        """
        ours, theirs = self._weights(0, a), self._weights(1, b)
        words = ours.keys() & theirs.keys()
        return sum(ours[word] * theirs[word] for word in words) * len(words) / (len(words) + _HALF)

    def _weights(self, side: int, index: int) -> Mapping[str, float]:
        known = self._weighed[side]
        if index not in known:
            words = self._sides[side][index].words
            weights = {word: (1 + log(count)) * self._rarity[word] for word, count in words.items()}
            length = sqrt(sum(weight * weight for weight in weights.values()))
            known[index] = {word: weight / length for word, weight in weights.items()}
        return known[index]

    @cached_property
    def _rarity(self) -> Mapping[str, float]:
        holding = Counter(word for side in self._sides for definition in side for word in definition.words)
        count = sum(map(len, self._sides))
        return {word: log(1 + count / held) for word, held in holding.items()}


def _likeness(a: Definition, b: Definition) -> float:
    """From 0 to 1, by all that there is to go by."""
    from rapidfuzz.fuzz import ratio

    name, around = ratio(a.name, b.name) / 100, float(a.around == b.around)
    if a.around and b.around:
        around = ratio(a.around, b.around) / 100
        # many classes have a get of their own
        name *= 1 - _ELSEWHERE * (1 - around)
    if _NAME * name + _WORDS + _AROUND * around < _LEAST:
        return 0.0
    shared = sum(a.words[word] * b.words[word] for word in a.words.keys() & b.words.keys())
    words = shared / (a.length * b.length) if shared else 0.0
    return _NAME * name + _WORDS * words + _AROUND * around


def _wanted(a: Definition, b: Definition) -> float:
    """How much of :meth:`Comparison._shared` two definitions need beside their names to be a match."""
    from rapidfuzz.fuzz import ratio

    if a.name == b.name:
        return 0.0
    shared = a.parts & b.parts
    if not shared:
        # get and get_seq_len
        return _UNLIKE
    contained = shared in (a.parts, b.parts) and ratio(a.name, b.name) >= 100 * _CONTAINED
    return 0.0 if contained else _AKIN
