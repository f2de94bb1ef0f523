"""Where compilers and interpreters lie on this machine, and what of them a jail must be shown.

They are looked for on the search path, and where rustup, nvm, sdkman and Go's own installers put them below
the home folder. Of the home folder nothing else is shown.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from judge_tui.checks.folders import home_folder

__all__ = ["GET", "PYTHON", "Tool", "tool"]

#: Tool → how it is got.
GET = {
    "cc": "apt-get install gcc",
    "gcc": "apt-get install gcc",
    "g++": "apt-get install g++",
    "rustc": "https://rustup.rs",
    "go": "https://go.dev/dl, or apt-get install golang-go",
    "java": "https://sdkman.io, or apt-get install default-jdk-headless",
    "javac": "https://sdkman.io, or apt-get install default-jdk-headless",
    "node": "https://nodejs.org, or apt-get install nodejs",
}
#: Python is the interpreter that runs this.
PYTHON = "python3"
#: Tool → places below the home folder, patterns of which the newest counts.
_AT_HOME = {
    "go": ("go/bin/go", "sdk/go*/bin/go", ".local/go/bin/go"),
    "node": (".nvm/versions/node/*/bin/node",),
    "java": (".sdkman/candidates/java/current/bin/java", ".sdkman/candidates/java/*/bin/java"),
    "javac": (".sdkman/candidates/java/current/bin/javac", ".sdkman/candidates/java/*/bin/javac"),
}
#: Tool → places outside of it that are on no search path by themselves.
_ELSEWHERE = {"go": ("/usr/local/go/bin/go",)}
#: Files of a tool that lie apart from it.
_BESIDE = {"java": "java-*", "javac": "java-*"}
_DEFAULT_RUST = re.compile(r'^default_toolchain\s*=\s*"([^"/]+)"', re.M)
#: Folders with programs of many kinds, and with much that is nobody's business.
_SHARED = (".local", ".cargo", ".config", "bin", "go")


@dataclass(frozen=True, slots=True)
class Tool:
    """A program of this machine.

    Attributes:
        path: The program, as it is started.
        shown: Files and trees that it needs.
    """

    path: Path
    shown: tuple[Path, ...]


def tool(name: str) -> Tool | None:
    """Find a compiler or an interpreter.

    Args:
        name: As on a command line; one with a slash in it is that file.

    Returns:
        The tool, ``None`` where it is not installed.
    """
    if name == PYTHON:
        path = Path(os.path.realpath(sys.executable))
        return Tool(path, (path,))
    found = next(_places(name), None)
    return Tool(found, (*_needed(found), *_beside(name))) if found else None


def _places(name: str) -> Iterator[Path]:
    home = home_folder()
    if (first := shutil.which(name)) is not None:
        path, real = Path(first).absolute(), Path(os.path.realpath(first))
        if real.name != "rustup":
            # a wrapper goes by the name that it is called by
            yield real if real.name == path.name or _within(path, home) else path
    if name in ("rustc", "cargo"):
        yield from filter(_is_program, _of_rustup(name, home))
    for place in _ELSEWHERE.get(name, ()):
        yield from filter(_is_program, [Path(place)])
    for pattern in _AT_HOME.get(name, ()):
        found = sorted(home.glob(pattern), key=_version, reverse=True)
        yield from map(Path, map(os.path.realpath, filter(_is_program, found)))


def _of_rustup(name: str, home: Path) -> Iterator[Path]:
    """The toolchain that rustup takes by default, else any: rustup itself might fetch another."""
    root = Path(os.environ.get("RUSTUP_HOME") or home / ".rustup")
    try:
        told = _DEFAULT_RUST.search((root / "settings.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        told = None
    if told:
        yield root / "toolchains" / told[1] / "bin" / name
    yield from sorted(root.glob(f"toolchains/*/bin/{name}"), key=_version, reverse=True)


def _needed(path: Path) -> tuple[Path, ...]:
    """The folder that a tool was installed into, or the file alone where that holds other things."""
    folder = path.parent.parent if path.parent.name == "bin" else path.parent
    home = home_folder()
    shared = (home, *(home / name for name in _SHARED))
    go = folder == home / "go" and (folder / "src/runtime").is_dir()
    too_much = folder in shared or _within(home, folder)
    return (path,) if too_much and not go else (folder,)


def _beside(name: str) -> tuple[Path, ...]:
    """What Debian keeps of Java in its folder of settings."""
    return tuple(sorted(Path("/etc").glob(_BESIDE[name]))) if name in _BESIDE else ()


def _within(path: Path, folder: Path) -> bool:
    return folder == path or folder in path.parents


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _version(path: Path) -> list[int]:
    return [int(part) for part in re.findall(r"[0-9]+", str(path))]
