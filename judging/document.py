"""Reading and writing the TOML documents of a workspace.

Reading gives a :class:`Table` whose accessors check types and name the file and line
of what is off. Writing keeps one section per table, so that a changed value changes
its own line and nothing else.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from msgspec import Struct

from judge_tui.checks.errors import WorkspaceError
from judge_tui.checks.regular_files import open_regular

__all__ = ["Inline", "Table", "line_of", "parse_toml", "read_document", "render_toml", "storable"]

_HEADER = re.compile(r"\s*(\[\[?)\s*([^\[\]]+?)\s*\]")
_AT_LINE = re.compile(r"\(at line (\d+), column \d+\)")
#: The end of a moment with a zone, among other texts.
_ZONED = re.compile(r":\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)")
_LARGEST = sys.float_info.max
_SURROGATES = re.compile("[\ud800-\udfff]")

Path_ = tuple[str | int, ...]


class Table(Struct, frozen=True):
    """A table of a document, with the place it stands at.

    Attributes:
        raw: Its keys and values.
        file: The document's file.
        text: The whole document, to find lines in.
        at: Keys and indices that lead to this table from the root.
    """

    raw: Mapping[str, Any]
    file: Path
    text: str
    at: Path_ = ()

    def fault(self, message: str, key: str | None = None, *, hint: str = "") -> WorkspaceError:
        """The error that points at ``key``, or at the table's own header."""
        line = line_of(self.text, self.at, key)
        sentence = message if message.endswith(".") else f"{message}."
        return WorkspaceError(sentence, hint=hint or "Mend the file by hand.", file=self.file, line=line)

    def string(self, key: str, default: str | None = None) -> str:
        """A text; ``default`` when absent, and an error when there is no default."""
        value = self._get(key, default)
        if not isinstance(value, str):
            raise self.fault(f"'{key}' must be a text", key)
        return value

    def optional_string(self, key: str) -> str | None:
        """A text, or ``None`` when absent."""
        return self.string(key) if key in self.raw else None

    def integer(self, key: str, default: int | None = None) -> int:
        """A whole number."""
        value = self._get(key, default)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.fault(f"'{key}' must be a whole number", key)
        return value

    def number(self, key: str, default: float | None = None) -> float:
        """A finite number."""
        value = self._get(key, default)
        usual = isinstance(value, (int, float)) and not isinstance(value, bool)
        # a whole number may be larger than any float is
        if not usual or not abs(value) <= _LARGEST:
            raise self.fault(f"'{key}' must be a number", key)
        return float(value)

    def points(self, key: str) -> int | None:
        """A score of 0…100, or ``None`` when absent: not scored is never 0."""
        if key not in self.raw:
            return None
        value = self.integer(key)
        if not 0 <= value <= 100:
            told = f", not {value}" if abs(value) < _LARGEST else ""
            raise self.fault(f"'{key}' must lie between 0 and 100{told}", key)
        return value

    def boolean(self, key: str, default: bool = False) -> bool:
        """``true`` or ``false``."""
        value = self.raw.get(key, default)
        if not isinstance(value, bool):
            raise self.fault(f"'{key}' must be true or false", key)
        return value

    def strings(self, key: str) -> tuple[str, ...]:
        """A list of texts; empty when absent."""
        value = self.raw.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.fault(f"'{key}' must be a list of texts", key)
        return tuple(value)

    def moment(self, key: str) -> datetime | date | str | None:
        """A date, a date with time, or a text that says one; ``None`` when absent."""
        value = self.raw.get(key)
        if value is not None and not isinstance(value, (datetime, date, str)):
            raise self.fault(f"'{key}' must be a date", key)
        return value

    def table(self, key: str) -> Table:
        """A table; empty when absent."""
        value = self.raw.get(key, {})
        if not isinstance(value, dict):
            raise self.fault(f"'{key}' must be a table", key)
        return Table(value, self.file, self.text, (*self.at, key))

    def tables(self, key: str) -> tuple[Table, ...]:
        """The tables of a list; empty when absent."""
        value = self.raw.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self.fault(f"'{key}' must be a list of tables, as [[{key}]]", key)
        return tuple(Table(item, self.file, self.text, (*self.at, key, i)) for i, item in enumerate(value))

    def extra(self, *known: str) -> dict[str, Any]:
        """The keys that this version does not know, to be kept on writing."""
        return {key: value for key, value in self.raw.items() if key not in known}

    def _get(self, key: str, default: Any) -> Any:
        value = self.raw.get(key, default)
        if value is None:
            raise self.fault(f"'{key}' is missing")
        return value


def read_document(path: Path) -> Table:
    """Read a TOML file.

    Raises:
        WorkspaceError: The file is missing, unreadable, not UTF-8 or not TOML.
    """
    try:
        with open_regular(path, follow=True) as file:
            data = file.read()
    except FileNotFoundError as error:
        raise WorkspaceError("there is no such file.", file=path) from error
    except OSError as error:
        raise WorkspaceError(f"cannot be read: {error.strerror}.", file=path) from error
    return parse_toml(data, path)


def parse_toml(data: bytes, file: Path) -> Table:
    """Parse the bytes of a TOML document.

    Raises:
        WorkspaceError: They are not UTF-8 or not TOML; with the line.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise WorkspaceError("is not UTF-8 text.", hint="Mend the file.", file=file, line=line) from error
    try:
        raw = _loaded(text)
    except tomllib.TOMLDecodeError as error:
        found = _AT_LINE.search(str(error))
        reason = _AT_LINE.sub("", str(error)).strip()
        line = int(found[1]) if found else text.count("\n") + 1
        raise WorkspaceError(
            f"is not valid TOML: {reason}.", hint="Mend the file.", file=file, line=line
        ) from error
    except RecursionError as error:
        raise WorkspaceError("is nested too deeply.", file=file) from error
    except ValueError as error:
        # what the reader of numbers itself refuses
        raise WorkspaceError(
            "holds a number of too many digits.", hint="Mend the file.", file=file
        ) from error
    return Table(raw, file, text)


def _loaded(text: str) -> dict[str, Any]:
    """What a text says: by a fast reader, and by the one of the standard library where that finds a fault."""
    try:
        import rtoml
    except ImportError:
        return tomllib.loads(text)
    try:
        raw: dict[str, Any] = rtoml.loads(text)
    except ValueError:
        return tomllib.loads(text)
    moments = [key for key, value in raw.items() if isinstance(value, datetime) and value.tzinfo is not None]
    for key in moments:
        raw[key] = _own(raw[key])
    # of a card all zoned moments stand at its top, as a rule
    return _own(raw) if len(_ZONED.findall(text)) > len(moments) else raw


def _own(value: Any) -> Any:
    """A value without time zones of a kind that cannot be copied."""
    if isinstance(value, dict):
        return {key: _own(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_own(item) for item in value]
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.replace(tzinfo=timezone(value.utcoffset() or timedelta()))
    return value


def line_of(text: str, at: Path_, key: str | None) -> int | None:
    """The 1-based line where a key of a table stands, else that of the table's header."""
    if at and isinstance(at[-1], str) and key is None:
        inline = line_of(text, at[:-1], at[-1]) if not _header_line(text, at) else None
        return _header_line(text, at) or inline
    if key is None:
        return _header_line(text, at)
    assignment = re.compile(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=")
    for number, where, line in _lines(text):
        if where == at and assignment.match(line):
            return number
    for deeper in ((*at, key), (*at, key, 0)):
        if (header := _header_line(text, deeper)) is not None:
            return header
    return line_of(text, at, None) if at else None


def _header_line(text: str, at: Path_) -> int | None:
    for number, where, line in _lines(text):
        if where == at and _HEADER.match(line):
            return number
    return None


def _lines(text: str) -> Iterable[tuple[int, Path_, str]]:
    counts: dict[tuple[str, ...], int] = {}
    where: Path_ = ()
    for number, line in enumerate(text.split("\n"), 1):
        header = _HEADER.match(line)
        if header:
            name = tuple(part.strip().strip("\"'") for part in header[2].split("."))
            if header[1] == "[[":
                counts[name] = counts.get(name, -1) + 1
                for deeper in [n for n in counts if len(n) > len(name) and n[: len(name)] == name]:
                    del counts[deeper]
            where = _expanded(name, counts)
        yield number, where, line


def _expanded(name: tuple[str, ...], counts: Mapping[tuple[str, ...], int]) -> Path_:
    path: list[str | int] = []
    for depth, part in enumerate(name, 1):
        path.append(part)
        if name[:depth] in counts:
            path.append(counts[name[:depth]])
    return tuple(path)


class Inline(dict[str, Any]):
    """A table that is written on one line: ``cells = { glm5 = "275", qwen36 = "557" }``."""


def storable(text: str) -> str:
    """The text without lone surrogates, which UTF-8 cannot carry."""
    return _SURROGATES.sub("�", text)


def render_toml(raw: Mapping[str, Any]) -> str:
    """A document in stable order: values first, then one section per table.

    Tables in lists get sections of their own whatever their length, so that a longer
    text never reshapes its neighbours.
    """
    return "\n".join(_sections(raw, "", "")) if raw else ""


def _sections(raw: Mapping[str, Any], name: str, header: str) -> Iterable[str]:
    values = {k: v for k, v in raw.items() if not _is_section(v)}
    own = "".join(_assignment(key, value) for key, value in values.items())
    deeper = [(k, v) for k, v in raw.items() if k not in values]
    if own or header.startswith("[[") or (header and not deeper):
        yield f"{header}\n{own}" if header else own
    for key, value in deeper:
        inner = f"{name}.{_key(key)}" if name else _key(key)
        if isinstance(value, Mapping):
            yield from _sections(value, inner, f"[{inner}]")
        else:
            for item in value:
                yield from _sections(item, inner, f"[[{inner}]]")


def _is_section(value: Any) -> bool:
    if isinstance(value, Mapping):
        return not isinstance(value, Inline)
    return isinstance(value, (list, tuple)) and bool(value) and all(isinstance(v, Mapping) for v in value)


def _key(key: str) -> str:
    return _assignment(key, 0).removesuffix(" = 0\n")


def _assignment(key: str, value: Any) -> str:
    import tomli_w

    if isinstance(value, (list, tuple)) and value and all(type(item) is int for item in value):
        return tomli_w.dumps({key: 0}).removesuffix("0\n") + "[" + ", ".join(map(str, value)) + "]\n"
    if isinstance(value, Inline):
        inside = ", ".join(_assignment(k, storable(v)).rstrip("\n") for k, v in value.items())
        return tomli_w.dumps({key: 0}).removesuffix("0\n") + f"{{ {inside} }}\n"
    if isinstance(value, datetime):
        return tomli_w.dumps({key: 0}).removesuffix("0\n") + value.isoformat() + "\n"
    # a multi-line string would turn CRLF into LF
    multiline = isinstance(value, str) and "\r" not in value
    return tomli_w.dumps({key: value}, multiline_strings=multiline)
