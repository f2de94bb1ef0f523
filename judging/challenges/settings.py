"""Reading ``challenge.toml``: every key has a default, and what is off is told with its line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from judge_tui.checks.challenges.challenge import Language, Limits, Settings
from judge_tui.judging.document import Table, read_document
from judge_tui.judging.wording import did_you_mean

__all__ = ["FILE", "read_settings"]

FILE = "challenge.toml"
_KEYS = ("title", "entry", "compare", "limits", "group", "language", "tests")
_LIMITS = ("seconds", "memory")
_LANGUAGE = ("files", "build", "run", "factor")
_COMPARE = re.compile(r"tokens|exact|lines|float +[0-9.]+(?:[eE][+-]?[0-9]+)?|validator")
_PLACES = ("main", "sources", "out")
_MEMORY = re.compile(r"([0-9]+(?:\.[0-9]+)?) *(B|KiB|MiB|GiB|kB|KB|MB|GB)?")
_UNITS = {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30,
          "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9}  # fmt: skip
#: Longer than this nobody waits for one call; less than this no process starts in.
_MOST_SECONDS, _LEAST_SECONDS = 3600.0, 0.01
_LEAST_MEMORY, _MOST_MEMORY = 16 << 20, 1 << 40


def read_settings(path: Path, base: Settings | None = None) -> Settings:
    """What a ``challenge.toml`` says; an absent one says nothing.

    Args:
        path: The file.
        base: What holds where it says nothing, as a problem package tells it; else the defaults.

    Raises:
        WorkspaceError: It is malformed, with the line, and what was probably meant.
    """
    base = base or Settings()
    if not path.is_file():
        return base
    document = read_document(path)
    _refuse_unknown(document, _KEYS)
    limits = _limits(document.table("limits"), base.limits)
    groups, languages = document.table("group"), document.table("language")
    compares = "compare" in document.raw
    return Settings(
        title=document.string("title", base.title),
        entry=_entry(document),
        compare=_compare(document) if compares else base.compare,
        limits=limits,
        group_limits={name: _limits(groups.table(name), limits) for name in groups.raw},
        group_compare={} if compares else base.group_compare,
        group_points=base.group_points,
        languages={name: _language(languages.table(name)) for name in languages.raw},
        process=_process(document.table("tests")),
    )


def _refuse_unknown(table: Table, known: tuple[str, ...]) -> None:
    for key in table.raw:
        if key not in known:
            raise table.fault(f"there is no key '{key}' here", key, hint=did_you_mean(key, known))


def _entry(document: Table) -> str:
    entry = document.string("entry", "")
    file, _, name = entry.partition(":")
    inside = file and not file.startswith("/") and ".." not in file.split("/")
    if entry and not (inside and (not name or all(part.isidentifier() for part in name.split(".")))):
        raise document.fault(
            f"'entry' must name a file of the answers, or file.py:name, not '{entry}'", "entry",
            hint='Write entry = "rms.py:rms_norm".',
        )  # fmt: skip
    return entry


def _compare(document: Table) -> str:
    compare = " ".join(document.string("compare", "tokens").split())
    if not _COMPARE.fullmatch(compare):
        raise document.fault(
            f"'compare' cannot be '{compare}'", "compare",
            hint='It is "tokens", "exact", "lines", "float 1e-6" or "validator".',
        )  # fmt: skip
    return compare


def _limits(table: Table, default: Limits) -> Limits:
    _refuse_unknown(table, _LIMITS)
    seconds = table.number("seconds", default.seconds)
    if not _LEAST_SECONDS <= seconds <= _MOST_SECONDS:
        raise table.fault(
            f"'seconds' must lie between {_LEAST_SECONDS:g} and {_MOST_SECONDS:g}, not {seconds:g}", "seconds"
        )
    return Limits(seconds, _bytes(table) if "memory" in table.raw else default.memory)


def _bytes(table: Table) -> int:
    value = table.raw["memory"]
    found = _MEMORY.fullmatch(value.strip()) if isinstance(value, str) else None
    count = value if isinstance(value, int) and not isinstance(value, bool) else None
    if found:
        count = int(float(found[1]) * _UNITS[found[2] or ""])
    if count is None:
        raise table.fault("'memory' must be a size", "memory", hint='Write memory = "512 MiB".')
    if not _LEAST_MEMORY <= count <= _MOST_MEMORY:
        raise table.fault(
            f"'memory' must lie between {_LEAST_MEMORY >> 20} MiB and {_MOST_MEMORY >> 30} GiB", "memory",
            hint='Write memory = "512 MiB".',
        )  # fmt: skip
    return count


def _language(table: Table) -> Language:
    _refuse_unknown(table, _LANGUAGE)
    factor = table.number("factor", 1.0)
    if not 0 < factor <= 1000:
        raise table.fault("'factor' must be above 0, and at most 1000", "factor")
    for key in ("build", "run"):
        _placeholders(table, key)
    return Language(table.strings("files"), table.string("build", ""), table.string("run", ""), factor)


def _placeholders(table: Table, key: str) -> None:
    text = table.string(key, "")
    for name in re.findall(r"\{([A-Za-z_]\w*)\}", text):
        if name not in _PLACES:
            hint = "There are {main}, {sources} and {out}."
            raise table.fault(f"'{key}' holds '{{{name}}}'", key, hint=hint)


def _process(table: Table) -> Literal["test", "file"]:
    _refuse_unknown(table, ("process",))
    process = table.string("process", "test")
    if process not in ("test", "file"):
        raise table.fault(f"'process' cannot be '{process}'", "process", hint='It is "test" or "file".')
    return "file" if process == "file" else "test"
