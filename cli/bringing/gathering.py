"""Files that are taken one by one out of a folder or an archive, and what is left behind there."""

from __future__ import annotations

from collections.abc import Iterable

from judge_tui.checks.unlisted import Unlisted, escaped, is_text
from judge_tui.cli.bringing import brought
from judge_tui.cli.bringing.brought import Brought, Refused, listed
from judge_tui.cli.bringing.member_names import hidden_part, spelled, tidied, why_not
from judge_tui.judging.containers import is_archive_name
from judge_tui.judging.wording import counted

__all__ = ["Gathering"]

_SMALLER = "Leave build products and data sets out."


class Gathering:
    """Takes files as long as there are not too many, too large ones, or some that lead elsewhere.

    Args:
        unpacks: Whether the source is an archive: those inside are left out, and a top folder is stripped.
    """

    def __init__(self, *, unpacks: bool) -> None:
        self._unpacks = unpacks
        self._files: dict[str, bytes] = {}
        self._spellings: dict[str, str] = {}
        self._folders: set[str] = set()
        self._left_out: list[Unlisted] = []
        self._hidden: dict[str, None] = {}
        self._archives: list[str] = []
        self._twice: list[str] = []
        self._bytes = 0

    def wants(self, name: str) -> str:
        """The name under which a file would be taken; empty for one that is left out.

        Args:
            name: Its path in the source.
        """
        told = escaped(name)
        if not is_text(name):
            return self.leave(told, "its name is not UTF-8")
        name = tidied(name)
        if why := why_not(name):
            return self.leave(told, why)
        if part := hidden_part(name):
            self._hidden[part] = None
            return ""
        if is_archive_name(name):
            self._archives.append(name)
            return "" if self._unpacks else name
        other = self._spellings.get(spelled(name), name)
        if other != name:
            return self.leave(name, f"but for case or spelling it is {other}")
        return self.leave(name, "a folder is called so, too") if self._in_the_way(name) else name

    def wants_folder(self, name: str) -> bool:
        """Whether a folder is looked into: it is neither hidden nor a cache."""
        if part := hidden_part(name):
            self._hidden[part] = None
        return not part

    def leave(self, name: str, why: str) -> str:
        """Leave something out; the empty name that says so."""
        self._left_out.append(Unlisted(name, why))
        return ""

    def take(self, name: str, pieces: Iterable[bytes]) -> None:
        """Take a file.

        Args:
            name: As :meth:`wants` gives it.
            pieces: Its content, which is counted while it comes.

        Raises:
            Refused: It is one too many, or too large.
        """
        if name in self._files:
            self._twice.append(name)
            self._bytes -= len(self._files[name])
        elif len(self._files) >= brought.MOST_FILES:
            raise Refused(f"holds more than {brought.MOST_FILES:,} files.", hint=_SMALLER)
        data = bytearray()
        for piece in pieces:
            data += piece
            if self._bytes + len(data) > brought.MOST_BYTES:
                raise Refused(f"holds more than {brought.MOST_BYTES // 1_000_000} MB.", hint=_SMALLER)
        self._bytes += len(data)
        self._files[name] = bytes(data)
        self._spellings[spelled(name)] = name
        self._folders |= set(_above(spelled(name)))

    def brought(self) -> Brought:
        """All that was taken."""
        left_out = tuple(sorted(self._left_out, key=lambda one: one.name))
        files = _without_top(self._files) if self._unpacks else self._files
        return Brought(files, left_out, tuple(self._told()))

    def _in_the_way(self, name: str) -> bool:
        key = spelled(name)
        return key in self._folders or any(folder in self._spellings for folder in _above(key))

    def _told(self) -> Iterable[str]:
        if self._archives and self._unpacks:
            yield f"{counted(len(self._archives), 'archive')} inside left out: {listed(self._archives)}."
        elif self._archives:
            yield f"not unpacked, since judge-tui add unpacks one by itself: {listed(self._archives)}."
        if self._twice:
            yield f"{listed(self._twice)}: there several times, and the last is taken."
        if self._hidden:
            yield f"hidden or a cache, and left out: {listed(self._hidden)}."


def _above(name: str) -> Iterable[str]:
    """The folders that a path lies in."""
    parts = name.split("/")[:-1]
    return ("/".join(parts[:depth]) for depth in range(1, len(parts) + 1))


def _without_top(files: dict[str, bytes]) -> dict[str, bytes]:
    """The files without the one folder that all of them lie in; a package stays one."""
    tops = {name.partition("/")[0] if "/" in name else "" for name in files}
    if len(tops) != 1 or "" in tops:
        return files
    top = f"{tops.pop()}/"
    return files if f"{top}__init__.py" in files else {name.removeprefix(top): files[name] for name in files}
