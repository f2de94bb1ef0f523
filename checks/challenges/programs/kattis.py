"""Problem packages of Kattis, read as they are: what their YAML says, as settings of a challenge.

The files are parsed by whoever has a parser of YAML; :func:`asked_for` names them. What a package may ask for
and a judge of programs cannot do is refused in one sentence.

Source: the problem package format, versions ``legacy`` and ``2023-07-draft``
(https://www.kattis.com/problem-package-format/spec/).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from judge_tui.checks.challenges.challenge import PACKAGE, Limits, Settings
from judge_tui.checks.challenges.programs.cases import groups_of
from judge_tui.checks.errors import ChallengeFault

__all__ = ["INI", "TIME_LIMIT", "Package", "asked_for", "package"]

#: What stands beside a group's cases, by versions of the format.
_GROUP_FILES = ("testdata.yaml", "test_group.yaml")
#: Where the time limit stands that no version of the format tells.
TIME_LIMIT, INI = ".timelimit", "domjudge-problem.ini"
_INI_LIMIT = re.compile(r"^\s*timelimit\s*=\s*['\"]?([0-9.]+)", re.M)
#: MiB where a package asks for nothing.
_MEMORY = 2048
_REFUSED_TYPES = {
    "interactive": "it is interactive: a program would have to talk to its validator",
    "multi-pass": "it is a multi-pass problem: programs would be run again on what the validator says",
    "submit-answer": "its submissions are answers, not programs",
}
_PLAIN_FLAGS = {"space_change_sensitive": "spaces"}
_TOLERANCES = {"float_relative_tolerance": "relative", "float_absolute_tolerance": "absolute"}
_VALIDATORS = ("output_validators/", "output_validator/")
_RIGHT = "accepted"
_WRONG = ("wrong_answer", "time_limit_exceeded", "run_time_error", "rejected")
_STATEMENT = re.compile(r"(?:problem_)?statement/problem(?:\.(?P<language>[\w-]+))?\.(?:md|tex)")
_ENGLISH = "en"
#: How versions begin in which problem.yaml says whether there is a validator.
_OLDER = "legacy"


class Package(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a problem package says.

    Attributes:
        settings: Of the challenge that it makes.
        statement: Its file, ``""`` where there is none.
        right: Files and folders with submissions that must pass.
        wrong: Those that must fail.
    """

    settings: Settings
    statement: str = ""
    right: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()


def asked_for(files: Iterable[str]) -> tuple[str, ...]:
    """The YAML files of a package that :func:`package` wants to be handed, beside ``problem.yaml``.

    Args:
        files: Relative POSIX paths of the package's files.
    """
    return tuple(
        file for file in files if file.startswith("data/") and file.rpartition("/")[2] in _GROUP_FILES
    )


def package(
    problem: Any,
    files: Iterable[str],
    groups: Mapping[str, Any] | None = None,
    texts: Mapping[str, str] | None = None,
) -> Package:
    """What a problem package says.

    Args:
        problem: ``problem.yaml``, parsed.
        files: Relative POSIX paths of the package's files.
        groups: Path → content of the files of :func:`asked_for`, parsed.
        texts: Name → text of :data:`TIME_LIMIT` and :data:`INI`, where they are there.

    Raises:
        ChallengeFault: It is malformed, or asks for what is not done here; with the file.
    """
    told = _mapping(problem, PACKAGE)
    every = tuple(sorted(files))
    _refuse(told, every)
    custom = _is_custom(told, every)
    inherited = {file: _mapping(each, file) for file, each in (groups or {}).items()}
    base = _flags(told.get("validator_flags"), PACKAGE)
    settings = Settings(
        title=_title(told.get("name")),
        compare=_compare(base, PACKAGE, custom=custom),
        limits=_limits(_mapping(told.get("limits") or {}, PACKAGE, "'limits'"), texts or {}),
        group_compare={
            folder.removeprefix("data/"): _compare([*base, *flags], file, custom=custom)
            for folder, (file, flags) in _group_flags(inherited).items()
        },
        group_points=_points(told, inherited, every),
    )
    return Package(settings, _statement(every), _programs(every, [_RIGHT]), _programs(every, _WRONG))


def _mapping(value: Any, file: str, key: str = "") -> Mapping[str, Any]:
    if value is None and not key:
        value = {}
    if not isinstance(value, Mapping):
        raise ChallengeFault(f"{key or 'it'} must hold keys and values.", file=file)
    return value


def _refuse(told: Mapping[str, Any], files: Sequence[str]) -> None:
    """Tell what is asked for and not done."""
    types = told.get("type") or []
    words = [types] if isinstance(types, str) else list(map(str, types)) if isinstance(types, list) else []
    words += str(told.get("validation") or "").split()
    for word in words:
        if word in _REFUSED_TYPES:
            raise ChallengeFault(f"{_REFUSED_TYPES[word]}, which is not done here.", file=PACKAGE)
    for file in files:
        if file.startswith("data/") and ".files/" in file:
            raise ChallengeFault("its programs read files, and not standard input alone.", file=file)
        if file.startswith("include/"):
            raise ChallengeFault("it adds files to every submission, which is not done here.", file=file)


def _is_custom(told: Mapping[str, Any], files: Sequence[str]) -> bool:
    """Whether a validator of the package's own counts: as the older format says, or where one is there."""
    there = any(file.startswith(_VALIDATORS) for file in files)
    if not str(told.get("problem_format_version") or _OLDER).startswith(_OLDER):
        return there
    custom = str(told.get("validation") or "").startswith("custom")
    if custom and not there:
        raise ChallengeFault("'validation' is custom, and there are no output_validators.", file=PACKAGE)
    return custom


def _title(name: Any) -> str:
    """The problem's name, the English one of several."""
    if isinstance(name, Mapping):
        name = name.get(_ENGLISH) or next(iter(name.values()), "")
    return str(name or "")


def _flags(value: Any, file: str) -> list[str]:
    """Arguments of a validator: a text, a list, or the older form with a validator's name."""
    if isinstance(value, Mapping):
        value = value.get("flags")
    if value is None:
        return []
    if isinstance(value, list):
        return list(map(str, value))
    if not isinstance(value, (str, int, float)):
        raise ChallengeFault("the flags of a validator must be a text, or a list of texts.", file=file)
    return str(value).split()


def _group_flags(groups: Mapping[str, Mapping[str, Any]]) -> dict[str, tuple[str, list[str]]]:
    """Folder → its file and the flags there, of those that say any."""
    found: dict[str, tuple[str, list[str]]] = {}
    for file, told in groups.items():
        folder = file.rpartition("/")[0]
        for key in ("output_validator_flags", "output_validator_args"):
            if told.get(key):
                found[folder] = file, _flags(told[key], file)
    if "data" in found:
        # what holds for all of them
        file, flags = found.pop("data")
        found = {"data/sample": (file, flags), "data/secret": (file, flags)} | found
    return found


def _compare(flags: Sequence[str], file: str, *, custom: bool) -> str:
    """A comparison that does as the default validator with these flags."""
    if custom:
        return " ".join(["validator", *flags])
    words = [] if "case_sensitive" in flags else ["any-case"]
    tolerances: dict[str, str] = {}
    rest = iter(flags)
    for flag in rest:
        if flag == "float_tolerance":
            tolerances = dict.fromkeys(_TOLERANCES.values(), next(rest, ""))
        elif flag in _TOLERANCES:
            tolerances[_TOLERANCES[flag]] = next(rest, "")
        elif flag in _PLAIN_FLAGS:
            words.append(_PLAIN_FLAGS[flag])
        elif flag != "case_sensitive":
            raise ChallengeFault(f"the default validator knows no flag '{flag}'.", file=file)
    for value in tolerances.values():
        if not _is_number(value):
            raise ChallengeFault(f"a tolerance must be a number, not '{value}'.", file=file)
    near = [word for name, value in tolerances.items() for word in (name, value)]
    return " ".join(["float", *near, *words] if near else ["tokens", *words])


def _is_number(text: str) -> bool:
    try:
        return 0 <= float(text) < math.inf
    except ValueError:
        return False


def _limits(limits: Mapping[str, Any], texts: Mapping[str, str]) -> Limits:
    """Time and memory, as wherever the package says them."""
    ini = _INI_LIMIT.search(texts.get(INI, ""))
    told = (limits.get("time_limit"), texts.get(TIME_LIMIT), ini[1] if ini else None, Limits().seconds)
    seconds = next(value for value in told if value is not None)
    memory = limits.get("memory", _MEMORY)
    for key, value in (("time_limit", seconds), ("memory", memory)):
        if not _is_number(str(value).strip()) or float(value) <= 0:
            raise ChallengeFault(f"'{key}' must be a number above 0, not '{value}'.", file=PACKAGE)
    return Limits(float(seconds), int(float(memory) * 2**20))


def _points(
    told: Mapping[str, Any], groups: Mapping[str, Mapping[str, Any]], files: Sequence[str]
) -> dict[str, float]:
    """Points that a group gives where all its cases are right."""
    types = told.get("type")
    if types != "scoring" and not (isinstance(types, list) and "scoring" in types):
        return {}
    found: dict[str, float] = {}
    for group in groups_of(files):
        there = (groups.get(f"data/{group.name}/{name}") for name in _GROUP_FILES)
        own = next((told for told in there if told is not None), {})
        score = own.get("scoring", {}).get("score") if isinstance(own.get("scoring"), Mapping) else None
        points = score if score is not None else _by_cases(own, len(group.cases))
        if isinstance(points, (int, float)):
            found[group.name] = float(points)
    return found


def _by_cases(told: Mapping[str, Any], cases: int) -> float | None:
    """Points of a group of the older format: the upper end of its range, else by what each case gives."""
    high = str(told.get("range", "")).split()[1:]
    if high and _is_number(high[0]):
        return float(high[0])
    score = told.get("accept_score")
    if not isinstance(score, (int, float)):
        return None
    one = {"min", "max", "avg"} & set(_flags(told.get("grader_flags"), PACKAGE))
    return float(score) if one else float(score) * cases


def _statement(files: Sequence[str]) -> str:
    found = {match["language"] or _ENGLISH: file for file in files if (match := _STATEMENT.fullmatch(file))}
    return found.get(_ENGLISH) or next(iter(found.values()), "")


def _programs(files: Sequence[str], kinds: Sequence[str]) -> tuple[str, ...]:
    """Files and folders of submissions of these kinds."""
    parts = [file.split("/") for file in files if file.startswith("submissions/")]
    return tuple(dict.fromkeys("/".join(part[:3]) for part in parts if len(part) > 2 and part[1] in kinds))
