"""Keys that the reader has chosen: every key has a name, and a table in the settings gives it others.

A key's name is its part of the screen and what help says of it: ``code.next-function``. What cannot be
followed is told in a sentence, and the keys stand as they were.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher, get_close_matches
from importlib import import_module

from msgspec import Struct
from textual.binding import Binding, BindingError, BindingType, InvalidBinding
from textual.keys import Keys

from judge_tui.tui.keys.key_names import key_setting
from judge_tui.tui.keys.key_spelling import as_told, instead

__all__ = ["Keymap", "hidden_keys", "key_table", "load_keys", "named", "read_keymap", "remapped"]

#: Part of the screen → its named bindings; filled by the classes as they are made.
_NAMED: dict[str, list[Binding]] = {}
#: Modules with keys that are imported when they are first needed.
_LATER = (
    "criterion_editor",
    "diff",
    "differences",
    "evidence",
    "export_prompt",
    "help",
    "home",
    "line_prompt",
    "matchup",
    "note_editor",
    "notes_list",
    "picker",
    "plot",
    "question",
    "report",
    "scores",
    "sheet",
    "statement",
    "text_editor",
    "waiting",
)
#: Parts whose keys are listened to at the same time; those of ``program`` always are.
_TOGETHER = (
    {"everywhere", "code", "counts"},
    {"everywhere", "rubric"},
    {"everywhere", "checks", "lists", "counts"},
    {"home", "matrix", "counts"},
    {"home", "lists", "counts"},
    *(
        {part, "lists", "counts", "sheet"}
        for part in ("diff", "differences", "evidence", "notes", "plot", "report", "scores", "statement")
    ),
    {"help", "lists", "counts"},
    {"matchup", "lists", "counts"},
    *({part, "question"} for part in ("conflict", "leave", "reveal", "theirs")),
    {"editor", "note"},
)
#: Parts where letters are typed, and must stay letters.
_TYPED = {"editor", "export", "filter", "line", "picker", "program", "search"}
#: Parts whose digits are typed, and what they do.
_DIGITS = {"rubric": "are the score"}
_MODIFIERS = {"ctrl", "alt", "shift", "super", "meta", "hyper"}
#: Faults until wrong names are told without the one that may be meant: to find it takes milliseconds.
_MOST_LIKENESSES = 20
_WORDS = {key.value for key in Keys}
_TEXT = {"space", "backspace", "delete", "left", "right", "home", "end"}
_SIGN = re.compile(
    r"[a-z]+(_[a-z]+)+|plus|minus|comma|colon|slash|at|underscore|semicolon|tilde|ampersand|asterisk|backslash"
)


class Keymap(Struct, frozen=True):
    """What the settings make of the keys.

    Attributes:
        keys: Name of a key → keys, separated by commas.
        faults: What could not be followed, a sentence each.
    """

    keys: Mapping[str, str]
    faults: tuple[str, ...] = ()


def named(part: str, bindings: Iterable[BindingType]) -> list[BindingType]:
    """The bindings of a part of the screen, each with its name."""
    found: list[Binding] = []
    for binding in Binding.make_bindings(bindings):
        words = re.findall(r"[a-z0-9]+", (binding.id or binding.description).lower())
        found.append(replace(binding, id=f"{part}.{'-'.join(words)}") if words else binding)
    _NAMED.setdefault(part, []).extend(binding for binding in found if binding.id)
    return [*found]


def load_keys() -> None:
    """Have every class with keys made, those of dialogs too."""
    for name in _LATER:
        import_module(f"judge_tui.tui.screens.{name}")
    for name in ("filter_bar", "search_bar"):
        import_module(f"judge_tui.tui.widgets.{name}")


def key_table() -> dict[str, list[str]]:
    """Every name, and the keys that it has by default."""
    table: dict[str, list[str]] = {}
    for bindings in _NAMED.values():
        for binding in bindings:
            assert binding.id is not None
            table.setdefault(binding.id, []).append(binding.key)
    return table


def remapped(bindings: Iterable[Binding], keys: Mapping[str, str]) -> list[Binding]:
    """Bindings as they are with the reader's keys."""
    found: list[Binding] = []
    for binding in bindings:
        chosen = keys.get(binding.id or "")
        if chosen is None:
            found.append(binding)
        elif not any(one.id == binding.id for one in found):
            found += [binding.with_key(key) for key in chosen.split(",")]
    return found


def read_keymap(tables: object, where: str) -> Keymap:
    """Read the settings' tables of keys.

    Args:
        tables: What stands under ``[keys]``: part → name → a key or a list of keys.
        where: The file, for sentences.
    """
    faults: list[str] = []
    wanted: dict[str, list[str]] = {}
    if tables:
        load_keys()
    table = key_table()
    if not isinstance(tables, Mapping):
        return Keymap({}, (f"{where}: 'keys' must hold tables, as [keys.code].",))
    for part, names in tables.items():
        if not isinstance(names, Mapping):
            faults.append(f"{where}: [keys.{part}] must be a table of names and keys.")
            continue
        for name, value in names.items():
            full = f"{part}.{name}"
            if full not in table:
                near = _nearest(full, table) if len(faults) < _MOST_LIKENESSES else None
                meant = f" Was {near} meant?" if near else " Help (?) shows what there is."
                faults.append(f"{where}: no key is named {full}.{meant}")
                continue
            keys = _keys(value) or []
            fault = _fault(part, value, keys)
            if fault is None:
                wanted[full] = keys
            else:
                faults.append(f"{where}: {full} = {fault}")
    return _without_conflicts(table, wanted, faults, where)


def hidden_keys(chosen: Mapping[str, str], letters: Mapping[str, str], where: str) -> Iterator[str]:
    """A sentence for each chosen key that is not heard in the rubric, where a letter selects a dimension.

    Args:
        chosen: Name of a key → keys, separated by commas.
        letters: Letter → the dimension that it selects.
        where: The file that they are chosen in.
    """
    for name, keys in chosen.items():
        for letter, dimension in letters.items():
            (key,) = _keys(letter) or ("",)
            if key in keys.split(",") and _meet(name, "rubric.any"):
                yield f"{where}: in this rubric {letter} selects {dimension}, and {name} is not heard there."


def _nearest(name: str, table: Iterable[str]) -> str | None:
    """The name, of any part, that shares most words with one that there is not, else the one most alike."""
    table, wanted, bare = list(table), _words(_bare(name)), {other: _bare(other) for other in table}
    called = {other: _words(bare[other]) for other in table}
    for binding in (binding for bindings in _NAMED.values() for binding in bindings):
        # what it does may be called by a word of its own: line(), and "go to a line by its number"
        called.setdefault(binding.id or "", set()).update(_words(re.sub(r"\(.*|\w+\.", "", binding.action)))
    likeness = {other: SequenceMatcher(None, bare[other], _bare(name)).ratio() for other in table}
    alike = get_close_matches(name, table, len(table), 0.5) + [key for key in table if likeness[key] > 0.7]
    telling = [other for other in table if any(len(word) > 3 for word in wanted & called[other])]
    # a long word tells more than "to" and "a"
    return max(
        [*alike, *telling],
        key=lambda other: (sum(map(len, wanted & called[other])), likeness[other]),
        default=None,
    )


def _bare(name: str) -> str:
    """A key's name without its part of the screen."""
    return name.lower().partition(".")[2]


def _words(text: str) -> set[str]:
    """Words of a text, "symbols" and "symbol" being one."""
    words = re.findall(r"[a-z0-9]+", text.lower())
    return {word.removesuffix("s") if len(word) > 4 else word for word in words}


def _fault(part: str, value: object, keys: Sequence[str]) -> str | None:
    """What keeps a part of the screen from having some keys, behind the sign of equality."""
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, str) and (right := instead(one)):
            return f"{one!r} is no key of its own; write {right}."
    if not keys:
        return f"{value!r} is no key; keys are written as x, ctrl+x or f5."
    if part in _TYPED and (typed := next(filter(_is_typed, keys), None)):
        return f"{key_setting(typed)!r} would be missing where letters are typed."
    if part in _DIGITS and (digit := next(filter(str.isdigit, keys), None)):
        return f"{digit!r} would never be heard: there, digits {_DIGITS[part]}."
    return None


def _keys(value: object) -> list[str] | None:
    values = value if isinstance(value, list) else [value]
    keys: list[str] = []
    for one in values:
        if not isinstance(one, str) or not one or not one.isprintable():
            return None
        try:
            # Textual's own reading: "?" is question_mark
            found = [
                b.key for b in Binding.make_bindings([Binding("comma" if one == "," else one, "x", "x")])
            ]
        except (BindingError, InvalidBinding):
            return None
        if not found or not all(map(_is_key, found)):
            return None
        keys += map(as_told, found)
    return list(dict.fromkeys(keys)) or None


def _is_key(key: str) -> bool:
    *modifiers, last = key.split("+")
    return set(modifiers) <= _MODIFIERS and (
        len(last) == 1 or last in _WORDS or _SIGN.fullmatch(last) is not None
    )


def _is_typed(key: str) -> bool:
    """Whether a key is one that a text is typed with."""
    return "+" not in key and (len(key) == 1 or key in _TEXT or _SIGN.fullmatch(key) is not None)


def _without_conflicts(
    table: Mapping[str, list[str]], wanted: dict[str, list[str]], faults: list[str], where: str
) -> Keymap:
    """Take the wishes whose keys mean nothing else in their part; each that is dropped may free others."""
    while True:
        effective = {**table, **wanted}
        clash = next(_clashes(effective, wanted), None)
        if clash is None:
            break
        name, other, key = clash
        faults.append(
            f"{where}: {key_setting(key)} is wanted by {name} and by {other}; "
            f"{name} keeps {' and '.join(map(key_setting, table[name]))}."
        )
        del wanted[name]
    return Keymap({name: ",".join(keys) for name, keys in wanted.items()}, tuple(faults))


def _clashes(
    effective: Mapping[str, Sequence[str]], wanted: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, str, str]]:
    for name in reversed(list(wanted)):
        for other, keys in effective.items():
            if other != name and _meet(name, other):
                shared = [key for key in wanted[name] if key in keys]
                if shared:
                    yield name, other, shared[0]


def _meet(name: str, other: str) -> bool:
    """Whether the keys of two names are listened to at the same time."""
    parts = {name.split(".", maxsplit=1)[0], other.split(".", maxsplit=1)[0]}
    return len(parts) == 1 or "program" in parts or any(parts <= together for together in _TOGETHER)
