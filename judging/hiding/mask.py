"""Hides the names of models in any text, each character by one ``▒``, so that lines keep their width.

A name is hidden in every spelling: whatever the case, with or without a dash of any kind, ``_``, a blank, a
dot between its parts, in wide letters or those of another script that look the same, with signs and figures
for letters, written as escapes, in two literals, with marks of emphasis or invisible characters inside, or
broken over two lines. Its words are hidden alone too (``Qwen`` of ``Qwen3-6``), with the letters that stand
against them and a version behind them, since ``ChatGLM`` and ``glm4`` tell as much. Words that tell no model
apart (``model``, ``mini``, ``flash``) stay. Where models have several attempts, their numbers are hidden as
well (``@2``).
Plain Python; nothing here knows a screen.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache

from judge_tui.checks.attempts import attempt_of
from judge_tui.checks.errors import JudgeError
from judge_tui.judging.hiding.letters import alike, escaped, plain, seeming
from judge_tui.judging.hiding.numbers import Numbers
from judge_tui.judging.hiding.stretches import covered, joined, widened
from judge_tui.judging.hiding.usual import COMMON
from judge_tui.judging.workspace import Workspace

__all__ = ["Mask", "telling_names"]

#: Between the parts of a name: of one that stands alone, of one made of usual words (``mini - max`` is a
#: difference), and of any other.
_SHORT_GAP = r"[-_ .:/\t]{0,2}"
_USUAL_GAP = rf"(?:{_SHORT_GAP}|-{{3,9}}|_{{3,9}}| {{3,9}}|\.{{3,9}})"
_GAP = r"[-_ .:/\t+~*'`]{0,9}"
#: Emphasis within a word, the seam of two literals, and what breaks one at the end of a line.
_WITHIN = re.compile(
    r"(?<=[^\W\d_])(?:\*{2,3}|_{2,3}|~~|`|[-\\][ \t]*\n[ \t]*"
    r"|[\"'][ \t]*[+,.]?[ \t]*\\?\n?[ \t]*[\"'])(?=[^\W\d_])"
)
#: What goes on behind a name: versions and sizes, ``-2.5``, `` 4``, ``_v3``, ``27b``.
_VERSION = re.compile(r"(?:[-_ .:/]?[a-z]{0,2}\d+(?:[-_.]\d+)*(?:[a-z](?![a-z]))?)+")
#: Letters that are hidden with a name because they stand against it, at most.
_AGAINST = 40
#: The end of a line within a paragraph.
_ONE_END = re.compile(r"(?<!\n)\n(?![ \t]*\n)")
_LEAST_WORD = 3
#: Behind the first letter of a pattern: no letter or digit stands before it.
_ALONE = r"(?<![^\W_].)"
#: Shorter names, in letters and digits, are hidden only where they stand alone, or as words of ``camelCase``.
_SHORT = 4
#: Letters that are written without blanks between words: nothing stands alone there, and two are a name.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u11ff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_MINUS = "\N{MINUS SIGN}"
_NONE = re.compile(r"(?!)")
_UNSEEN = ("Cc", "Cf", "Cs", "Mn", "Me")
_PIECES = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\dA-Z_]+|\d+|[^\W\d_]+")
_WORDS = re.compile(r"[^\W\d_]+")

#: Stands where a text was cut to fit, and what stands before it.
_CUT = "…"
_BEFORE_CUT = re.compile(rf"([^\s{_CUT}]{{2,60}}){_CUT}")


def telling_names(workspace: Workspace) -> tuple[str, ...]:
    """Every spelling of every model of a workspace: folders, titles, aliases, what submissions say, and more.

    Models that are not compared are among them: a name that is left standing tells by exclusion.

    Raises:
        WorkspaceError: ``judge-tui.toml`` is malformed.
    """
    settings, models = workspace.settings, workspace.contestants()
    names = [*models, *settings.titles.values(), *settings.also_hidden]
    names += [alias for alias, target in settings.aliases.items() if target in models]
    for model in models:
        for task in workspace.submitted(model):
            with suppress(JudgeError):
                names.append(workspace.submission(model, task).meta.model)
    return tuple(dict.fromkeys(name.strip() for name in names if name.strip()))


class Mask:
    """Hides names.

    Args:
        names: The names, in any spelling of each.
        width: Characters that are hidden at least, with what stands beside a shorter name: the length of what
            is hidden would tell names apart.
    """

    def __init__(self, names: Iterable[str], *, width: int = 0) -> None:
        self._width = width
        names = tuple(names)
        self._numbers = Numbers(names)
        names = tuple(dict.fromkeys(attempt_of(name)[0] for name in names))
        whole, words, spaced, self._keys = _patterns(names)
        self._whole, self._spaced = _compiled(whole), _compiled(spaced)
        self._humps = _humps(names)
        self._words = _compiled(words)
        # names that stand alone are too short to be looked for over the end of a line
        self._long = _compiled(pattern for pattern in whole | words if _ALONE not in pattern)
        self._looks, self._look_keys = _looks(names)

    def __call__(self, text: str) -> str:
        """The text with as many characters, those of names hidden."""
        hidden = self._nameless(text)
        if self._seeming(hidden):
            lines = hidden.split("\n")
            hidden = "\n".join(covered(line, self._seeming(line)) for line in lines)
        return covered(hidden, self._numbers.spans(hidden))

    def _seeming(self, line: str) -> list[tuple[int, int]]:
        """Names with signs and figures for letters: ``g1m5``, ``Al!b@ba``."""
        letters = seeming(line)
        if self._looks is None or not any(key in letters for key in self._look_keys):
            return []
        found = (match.span() for match in self._looks.finditer(letters))
        return joined(widened(span, self._width, len(line)) for span in found)

    def _nameless(self, text: str) -> str:
        bare = _bare(text)
        joined = bare.replace("\n", "")
        if not self._hints(joined):
            return text
        if not any(joined.count(key) > bare.count(key) for key in self._keys):
            return self._by_line(text, bare)
        found: Sequence[tuple[int, int]] = [(0, 0)]
        while found:
            text = self._by_line(text, _bare(text))
            found = self._broken(text)
            text = covered(text, found)
        return text

    def _by_line(self, text: str, bare: str) -> str:
        lines = zip(text.split("\n"), bare.split("\n"), strict=True)
        return "\n".join(
            covered(line, self._spans(line)) if self._hints(rest) else line for line, rest in lines
        )

    def _broken(self, text: str) -> list[tuple[int, int]]:
        """Parts of names that go on in the next line, each with what is hidden beside it in its line."""
        folded, places = _folded(text)
        found: list[tuple[int, int]] = []
        for begin, behind in self._seen_through(folded, self._over_lines):
            first, end = begin, behind
            if places is not None:
                first, end = places[begin][0], places[behind - 1][1]
            if "\n" in text[first:end]:
                found += self._by_lines(text, first, end)
        return joined(sorted(found))

    def _over_lines(self, text: str) -> Iterator[tuple[int, int]]:
        if self._long is not None:
            yield from (match.span() for match in self._long.finditer(_ONE_END.sub(" ", text)))

    def _by_lines(self, text: str, first: int, end: int) -> Iterator[tuple[int, int]]:
        """A stretch of a text without the ends of its lines."""
        for part in re.finditer(r"[^\n]+", text[first:end]):
            begin = text.rfind("\n", 0, first + part.start()) + 1
            room = (text + "\n").index("\n", first + part.start()) - begin
            span = first + part.start() - begin, first + part.end() - begin
            low, high = widened(span, self._width, room)
            yield begin + low, begin + high

    def spans(self, line: str) -> list[tuple[int, int]]:
        """Where names stand in a line: (first, end) of each stretch, in order and apart."""
        found = self._spans(line) if self._hints(_bare(line)) else []
        if more := [*self._seeming(line), *self._numbers.spans(line)]:
            found = joined(sorted([*found, *more]))
        return joined(sorted([*found, *self._cut(line)])) if _CUT in line else found

    def _cut(self, line: str) -> Iterator[tuple[int, int]]:
        """Beginnings of names that an ellipsis has cut off."""
        for match in _BEFORE_CUT.finditer(line):
            bare = _bare(match[1])
            begun = (n for key in self._keys for n in range(len(key) - 1, 1, -1) if bare.endswith(key[:n]))
            letters = max(begun, default=0)
            first = match.end(1)
            while letters and first > match.start(1):
                first -= 1
                letters -= line[first].isalnum()
            if first < match.end(1):
                yield first, match.end(1)

    def _hints(self, bare: str) -> bool:
        """Whether there may be a name, told at the speed of C: most lines have none."""
        return any(key in bare for key in self._keys)

    def _spans(self, line: str) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        # what is covered leaves its neighbours standing alone: look again
        while new := self._standing(covered(line, found)):
            found = joined(sorted([*found, *new]))
        return found

    def _standing(self, line: str) -> list[tuple[int, int]]:
        folded, places = _folded(line)
        found = sorted(self._seen_through(folded, self._found))
        if places is not None:
            found = [(places[first][0], places[end - 1][1]) for first, end in found]
        if self._humps is not None:
            found = sorted([*found, *(match.span() for match in self._humps.finditer(line))])
        return joined(widened(span, self._width, len(line)) for span in found)

    @staticmethod
    def _seen_through(
        text: str, found: Callable[[str], Iterable[tuple[int, int]]]
    ) -> Iterator[tuple[int, int]]:
        """What is found in a text, and in the same without what only breaks its words."""
        yield from found(text)
        if _WITHIN.search(text):
            within = {at for match in _WITHIN.finditer(text) for at in range(*match.span())}
            kept = [at for at in range(len(text)) if at not in within]
            for first, end in found("".join(text[at] for at in kept)):
                yield kept[first], kept[end - 1] + 1

    def _found(self, text: str) -> Iterator[tuple[int, int]]:
        for pattern in (self._whole, self._spaced):
            yield from (match.span() for match in pattern.finditer(text)) if pattern else ()
        for match in self._words.finditer(text) if self._words is not None else ():
            first, end = match.span()
            least, most = max(first - _AGAINST, 0), min(end + _AGAINST, len(text))
            # a whole sentence stands against a word of a script without blanks
            others = _UNSPACED if _UNSPACED.match(match[0]) else _NONE
            while first > least and text[first - 1].isalpha() and not others.match(text[first - 1]):
                first -= 1
            while end < most and text[end].isalpha() and not others.match(text[end]):
                end += 1
            version = _VERSION.match(text, end)
            yield first, version.end() if version else end


def _patterns(names: Iterable[str]) -> tuple[set[str], set[str], set[str], tuple[str, ...]]:
    """Patterns of whole names, of words of theirs, and of either spaced out; what letters each match has."""
    whole: set[str] = set()
    words: set[str] = set()
    spaced: set[str] = set()
    keys: set[str] = set()
    for name in map(_seen, names):
        pieces = [piece.casefold() for piece in _PIECES.findall(name)]
        for some, alone in _parts(pieces):
            if _tells(some):
                whole.add(_spelled(some, alone=alone))
                keys.add("".join(some))
                if len("".join(some)) >= _SHORT:
                    spaced.add(_spaced_out("".join(some)))
        for word in _WORDS.findall(name):
            least = 2 if _UNSPACED.match(word) else _LEAST_WORD
            if len(word) >= least and word.casefold() not in COMMON:
                words.add(_spelled([piece.casefold() for piece in _PIECES.findall(word)], alone=False))
                spaced.add(_spaced_out(word.casefold()))
                keys.add(word.casefold())
    shortest = (key for key in keys if not any(other != key and other in key for other in keys))
    return whole, words, spaced, tuple(shortest)


def _looks(names: Iterable[str]) -> tuple[re.Pattern[str] | None, tuple[str, ...]]:
    """A pattern of names in letters of which several look alike, and what of each a text with it has."""
    patterns: set[str] = set()
    keys: set[str] = set()
    for name in map(_seen, names):
        for part in (name, *_WORDS.findall(name)):
            pieces = [piece.casefold() for piece in _PIECES.findall(part)]
            letters, usual = "".join(pieces), {*pieces} <= COMMON
            if len(letters) >= _SHORT and letters.isascii() and not (usual or letters.isdecimal()):
                seen = [seeming(piece) for piece in pieces]
                patterns.add(_spelled(seen, alone=False))
                keys.add(max(seen, key=len))
    return _compiled(patterns), tuple(keys)


def _parts(pieces: Sequence[str]) -> Iterator[tuple[Sequence[str], bool]]:
    """A whole name, and versions that tell it; each with whether it is hidden only where it stands alone."""
    letters = "".join(pieces)
    yield pieces, len(letters) < _SHORT and not _UNSPACED.search(letters)
    yield from ((tail, True) for tail in _tails(pieces))


def _humps(names: Iterable[str]) -> re.Pattern[str] | None:
    """Short names as words of ``camelCase``: ``O1Cache``, ``loadK2Weights``, ``solveYi``; and ``o1cache``."""
    ways: set[str] = set()
    for name in names:
        pieces = [piece.casefold() for piece in _PIECES.findall(_seen(name))]
        for letters in {"".join(some) for some, alone in _parts(pieces) if alone and _tells(some)}:
            soft, loud = re.escape(letters), re.escape(letters.upper())
            begun = re.escape(letters[:1].upper() + letters[1:])
            behind = "(?<=[a-z])" if letters[0].isdecimal() else "(?<=[a-z0-9])"
            ways |= {
                rf"(?<![^\W_])(?:{soft}|{begun})(?=[A-Z])",
                rf"{behind}{begun}(?![a-z0-9])",
                rf"(?:(?<![^\W_])|{behind}){loud}(?=[A-Z][a-z])",
                rf"{behind}{loud}(?![A-Za-z0-9])",
            }
            if letters[-1].isdecimal():
                ways.add(rf"(?<![^\W_])(?:{soft}|{begun})(?=[a-z][a-z])")
    return re.compile("|".join(sorted(ways))) if ways else None


def _compiled(patterns: Iterable[str]) -> re.Pattern[str] | None:
    longest = sorted(patterns, key=lambda pattern: (-len(pattern), pattern))
    # most places of a text are passed by their first letter
    begin = "".join(sorted({pattern[0] for pattern in longest}))
    return re.compile(f"(?=[{begin}])(?:{'|'.join(longest)})") if longest else None


def _tells(pieces: Sequence[str]) -> bool:
    letters = "".join(pieces)
    return len(letters) > 1 and not letters.isdecimal()


def _tails(pieces: Sequence[str]) -> Iterator[Sequence[str]]:
    """Versions that tell a model by themselves: ``k2.6``, ``27b``, ``4o``; not ``v3.1``, as programs have."""
    for at, piece in enumerate(pieces[1:], 1):
        tail = pieces[at:]
        whole = "".join(tail)
        mixed = not whole.isalpha() and not whole.isdecimal()
        if mixed and len(piece) < _LEAST_WORD <= len(whole) and piece != "v":
            yield tail
        elif mixed and piece.isdecimal():
            # no name in code begins with a digit; what stands apart is a figure and something else
            yield [whole]


def _spelled(pieces: Sequence[str], *, alone: bool) -> str:
    # the first letter stands first: it tells most places of a text apart
    usual = all(len(piece) < _LEAST_WORD or piece in COMMON for piece in pieces)
    gap = _SHORT_GAP if alone else _USUAL_GAP if usual else _GAP
    first, rest = pieces[0][:1], gap.join(map(re.escape, (pieces[0][1:], *pieces[1:])))
    return rf"{first}{_ALONE}{rest}(?![^\W_])" if alone else f"{first}{rest}"


def _spaced_out(word: str) -> str:
    """``g l m``, ``q.w.e.n``, ``k--i--m--i``: one sign, or a few of it, between all letters; ``ali_baba``."""
    first, rest = word[:1], word[1:]
    ways = ["".join(f"{re.escape(sign)}{{1,4}}{re.escape(letter)}" for letter in rest) for sign in "-_ ./"]
    if len(word) > _SHORT:
        ways.append("".join(f"[-_.]{{0,2}}{re.escape(letter)}" for letter in rest))
    return rf"{first}{_ALONE}(?:{'|'.join(ways)})(?![^\W_])"


class _Bare(dict[int, str | None]):
    """Leaves letters, digits and line feeds of a text; for :meth:`str.translate`."""

    def __missing__(self, point: int) -> str | None:
        letter = alike(chr(point))
        kept = self[point] = letter if letter.isalnum() or letter == "\n" else None
        return kept


_BARE = _Bare()
_ASCII_SIGNS = bytes(point for point in range(128) if not chr(point).isalnum() and chr(point) != "\n")


def _bare(text: str) -> str:
    """Letters and digits of each line, in lower case, plain, and without marks on them."""
    if escaped(text):
        text = "".join(letter for letter, _first, _end in plain(text))
    if text.isascii():
        return text.lower().encode().translate(None, _ASCII_SIGNS).decode()
    return unicodedata.normalize("NFKD", text).casefold().translate(_BARE)


def _folded(line: str) -> tuple[str, list[tuple[int, int]] | None]:
    """A line in lower case and plain letters; where each of its characters stands when some moved."""
    if line.isascii() and line.isprintable() and not escaped(line):
        return line.lower(), None
    letters: list[str] = []
    places: list[tuple[int, int]] = []
    for character, first, end in plain(line):
        for letter in _fold(character):
            letters.append(letter)
            places.append((first, end))
    return "".join(letters), places


@lru_cache(maxsize=4096)
def _fold(character: str) -> str:
    if character in "\t\n":
        return character
    return _seen(character).casefold()


def _seen(text: str) -> str:
    """Plain letters and dashes, without what is invisible or sits on its neighbour: names are readable so."""
    plain = unicodedata.normalize("NFKD", text)
    kinds = ((character, unicodedata.category(character)) for character in plain)
    return "".join(
        "-" if kind == "Pd" or character == _MINUS else alike(character)
        for character, kind in kinds
        if kind not in _UNSEEN
    )
