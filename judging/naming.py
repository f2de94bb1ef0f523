"""Names of models, tasks and judges: validity as folder and file names, and matching."""

from __future__ import annotations

import difflib
import os
import shlex
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache

from judge_tui.checks.attempts import SIGN, attempt_of
from judge_tui.checks.errors import UsageError

__all__ = ["default_judge", "folder_name", "judge_name", "match", "new_name", "normalized", "recordable"]

_MAX_BYTES = 100
_UNPORTABLE = frozenset('/\\<>:"|?*')


def normalized(name: str) -> str:
    """What two spellings of a name share: its letters and digits, in lower case."""
    return "".join(ch for ch in unicodedata.normalize("NFKC", name).casefold() if ch.isalnum())


def judge_name(name: str) -> str:
    """A judge's name as it can stand as a file name: NFC, trimmed.

    Raises:
        UsageError: It cannot.
    """
    return _checked(name, "judge")


def folder_name(name: str, what: str = "model") -> str:
    """A model's or task's name as it can stand as a folder name: NFC, trimmed.

    Raises:
        UsageError: It cannot, or it is a name that the layout itself uses.
    """
    checked = _checked(name, what)
    if checked.casefold() == "matchups":
        raise UsageError(f"'{checked}' cannot be the name of a {what}: matchups are kept under it.")
    if what == "model" and checked == "tie":
        raise UsageError("'tie' cannot be the name of a model: a matchup that it wins would be a tie.")
    if checked.startswith("-"):
        raise UsageError(
            f"the name of a {what} cannot begin with a dash: '{checked}'.",
            hint="Every command would take it for an option.",
        )
    if checked.startswith("__"):
        raise UsageError(
            f"the name of a {what} cannot begin with two underscores: '{checked}'.",
            hint="Such folders are Python's own, and are not looked at.",
        )
    return checked


def new_name(name: str, what: str = "model") -> str:
    """The name of a model or task that is new here, as :func:`folder_name` has it.

    Raises:
        UsageError: It cannot be that of a folder, or has the sign of attempts in it.
    """
    checked = folder_name(name, what)
    if SIGN in checked:
        model, attempt = attempt_of(checked)
        way_out = f"Say --model {shlex.quote(model)} --attempt {attempt}." if attempt > 1 else ""
        raise UsageError(
            f"the name of a {what} cannot hold {SIGN} as in '{checked}': it is for the numbers of attempts.",
            hint=way_out if what == "model" else "",
        )
    return checked


def recordable(names: Iterable[str], what: str = "model") -> None:
    """Refuse names of folders that TOML cannot hold: what is saved under another name is never found again.

    Raises:
        UsageError: One of them is not UTF-8.
    """
    for name in names:
        try:
            name.encode()
        except UnicodeEncodeError as error:
            raise UsageError(
                f"the folder name of {what} {name!a} is not UTF-8, so that nothing can be saved of it.",
                hint="Rename the folder.",
            ) from error


@lru_cache(maxsize=1024)
def _checked(name: str, what: str) -> str:
    name = unicodedata.normalize("NFC", name).strip()
    if not name:
        raise UsageError(f"the name of a {what} cannot be empty.")
    if name.startswith(".") or name.endswith("."):
        raise UsageError(f"the name of a {what} cannot begin or end with a dot: '{name}'.")
    if any(not ch.isprintable() for ch in name):
        raise UsageError(f"the name of a {what} cannot hold control characters: {name!a}.")
    bad = sorted(_UNPORTABLE & set(name))
    if bad:
        raise UsageError(
            f"the name of a {what} cannot hold {' '.join(bad)} as in '{name}'.",
            hint=_way_out(name) if what == "model" else "",
        )
    if len(name.encode("utf-8", "replace")) > _MAX_BYTES:
        raise UsageError(f"the name of a {what} cannot be longer than {_MAX_BYTES} bytes.")
    return name


def _way_out(name: str) -> str:
    """How a model is added whose name no folder can have; nothing where no name is left of it."""
    folder = "".join("-" if ch in _UNPORTABLE else ch for ch in name).strip("-. ")
    return f"Say --model {shlex.quote(folder)} --title {shlex.quote(name)}." if folder else ""


def default_judge() -> str:
    """The judge when none is named: ``$JUDGE_TUI_JUDGE``, else who is logged in.

    Raises:
        UsageError: Neither gives a name.
    """
    name = os.environ.get("JUDGE_TUI_JUDGE", "")
    if not name.strip():
        try:
            import getpass

            name = getpass.getuser()
        except (OSError, KeyError, ImportError) as error:
            raise UsageError(
                "there is no judge: the system knows no user name.",
                hint="Say --judge NAME, or set JUDGE_TUI_JUDGE.",
            ) from error
    return judge_name(name)


def match(
    wanted: str,
    names: Iterable[str],
    aliases: Mapping[str, str],
    what: str,
    likelier: Callable[[str], bool] = lambda name: False,
    *,
    whole: bool = False,
    behind: str = "",
) -> str:
    """The name that is meant: exactly, else by letters and digits, else by unique prefix.

    Args:
        wanted: As typed.
        names: The names there are.
        aliases: Other spellings → name.
        what: ``"model"`` or ``"task"``, for the message.
        likelier: Asked where several are meant: the only one that it holds for is.
        whole: Take no prefix, and of several none: something is written under the name.
        behind: What was typed behind the name, for the message.

    Raises:
        UsageError: No name or several are meant; the hint lists the near ones.
    """
    known = list(dict.fromkeys(names))
    if wanted in known:
        return wanted
    if wanted in aliases:
        return aliases[wanted]
    spellings = [(normalized(name), name) for name in known]
    spellings += [(normalized(alias), name) for alias, name in aliases.items()]
    key = normalized(wanted)
    exact = {name for spelling, name in spellings if spelling == key}
    prefixed = {name for spelling, name in spellings if key and spelling.startswith(key)}
    if whole and not exact and len(prefixed) == 1:
        raise UsageError(
            f"'{wanted}' only begins the name of a {what}, and what is written goes under whole names.",
            hint=f"Say {shlex.quote(prefixed.pop() + behind)}.",
        )
    for meant in (exact, prefixed):
        if len(meant) == 1:
            return meant.pop()
        if not whole and len(likely := [name for name in meant if likelier(name)]) == 1:
            return likely[0]
        if meant:
            raise UsageError(
                f"'{wanted}' may mean several {what}s.",
                hint=f"Say one of: {_listed(sorted(name + behind for name in meant))}.",
            )
    raise UsageError(f"there is no {what} '{wanted}'.", hint=_near(key, known, spellings, what))


def _near(key: str, known: list[str], spellings: list[tuple[str, str]], what: str) -> str:
    if not known:
        return f"The workspace has no {what}s yet."
    close = difflib.get_close_matches(key, [s for s, _ in spellings], n=4, cutoff=0.5)
    near = [name for s in close for t, name in spellings if s == t]
    if near:
        return f"Did you mean {_listed(dict.fromkeys(near), ' or ')}?"
    return f"There are: {_listed(known)}."


def _listed(names: Iterable[str], joint: str = ", ") -> str:
    listed = list(names) if isinstance(names, (list, dict)) else sorted(names)
    return joint.join(listed[:12]) + (", …" if len(listed) > 12 else "")
