"""Recipes: how programs of a language are recognised, built and run.

A command line is split like a shell's, and run without one. ``{main}`` is the main file, ``{sources}`` every
file that is compiled, ``{out}`` what the build makes, ``{class}`` the main class, ``{cc}`` what links, and
``{memory}`` the limit in MiB.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from fnmatch import fnmatchcase

import msgspec

from judge_tui.checks.challenges.challenge import Challenge, Language
from judge_tui.checks.errors import ChallengeFault

__all__ = ["OUT", "PYTHON", "Recipe", "recipes_of"]

#: What a build makes, by a name that no submission would use.
OUT = "judge.out"
PYTHON = "python"
_SETTINGS = "challenge.toml"
#: Names that people use of a language.
_ALSO = {"cpp": "c++", "cxx": "c++", "cplusplus": "c++", "js": "javascript", "node": "javascript",
         "py": "python", "python3": "python", "golang": "go", "rs": "rust", "cu": "cuda"}  # fmt: skip


class Recipe(msgspec.Struct, frozen=True, kw_only=True):
    """How programs of a language are recognised, built and run.

    Attributes:
        name: In challenge.toml.
        title: For people.
        files: Patterns of its files' names.
        build: Command line; empty where nothing is built.
        run: Command line.
        main: Expression that finds a main in a text; empty where none tells.
        factor: By which time limits are multiplied.
        bounded: Whether its programs run in a bounded address space; the memory of others is watched.
        processes: Whether its programs may start others.
        taught: Whether a challenge tells it.
        emulated: Whether it is built and run by the CUDA emulator.
        together: Whether what has no main is compiled along with what has.
        environment: Of the build.
        trial: A program that compiles wherever the compiler works; empty where none is known.
    """

    name: str
    title: str
    files: tuple[str, ...]
    build: str = ""
    run: str = "{out}"
    main: str = ""
    factor: float = 1.0
    bounded: bool = True
    processes: bool = False
    taught: bool = False
    emulated: bool = False
    together: bool = False
    environment: tuple[tuple[str, str], ...] = ()
    trial: str = ""

    def knows(self, file: str) -> bool:
        """Whether a file is of this language, by its name."""
        name = file.rpartition("/")[2]
        return any(fnmatchcase(file if "/" in pattern else name, pattern) for pattern in self.files)

    def has_main(self, text: str) -> bool:
        """Whether a source has a main, beside comments."""
        return bool(self.main and re.search(self.main, _COMMENT.sub("", text), re.M))


_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_C_MAIN = r"\b(?:int|void|auto)\s+main\s*\("
_KNOWN = (
    Recipe(name=PYTHON, title="Python", files=("*.py",), run="python3 -B {main}"),
    Recipe(
        name="c", title="C", files=("*.c",), main=_C_MAIN, together=True,
        build="gcc -std=c17 -O2 -D_GNU_SOURCE -I. -o {out} {sources} -lm -pthread",
        trial="#include <stdio.h>\nint main(void) { puts(\"\"); }",
    ),
    Recipe(
        name="c++", title="C++", files=("*.cpp", "*.cc", "*.cxx", "*.C", "*.c++"), main=_C_MAIN,
        together=True,
        build="g++ -std=c++20 -O2 -I. -o {out} {sources} -lm -pthread",
        trial="#include <iostream>\nint main() { std::cout << std::endl; }",
    ),
    Recipe(name="cuda", title="CUDA", files=("*.cu",), main=_C_MAIN, emulated=True, factor=10.0),
    Recipe(
        name="rust", title="Rust", files=("*.rs",), main=r"\bfn\s+main\s*\(",
        build="rustc --edition=2021 -O --crate-name=main --error-format=short -Clinker={cc} -o {out} {main}",
        trial="fn main() { println!(\"\"); }",
    ),
    Recipe(
        name="go", title="Go", files=("*.go",), main=r"\bfunc\s+main\s*\(", bounded=False, together=True,
        build="go build -o {out} {sources}", trial="package main\nfunc main() { println() }",
        environment=(
            ("CGO_ENABLED", "0"), ("GO111MODULE", "auto"), ("GOPROXY", "off"), ("GOTOOLCHAIN", "local"),
            ("GOFLAGS", "-buildvcs=false"), ("GOTELEMETRY", "off"),
        ),
    ),
    Recipe(
        name="java", title="Java", files=("*.java",), main=r"\bvoid\s+main\s*\(", bounded=False,
        together=True,
        build="javac -encoding UTF-8 -J-XX:-UsePerfData -d {out} {sources}", trial="class Trial {}",
        run="java -XX:-UsePerfData -XX:+UseSerialGC -Xss64m -Xmx{memory}m -cp {out} {class}",
    ),
    Recipe(
        name="javascript", title="JavaScript", files=("*.js", "*.mjs", "*.cjs"), bounded=False,
        main=r"process\.stdin|/dev/stdin|readFileSync\(\s*0|require\.main",
        run="node --max-old-space-size={memory} {main}",
    ),
)  # fmt: skip


def recipes_of(challenge: Challenge) -> tuple[Recipe, ...]:
    """The languages of a challenge: those that it teaches, and those that are known, as it says.

    Args:
        challenge: The challenge.

    Raises:
        ChallengeFault: It teaches one without saying how it is recognised or run.
    """
    told = {
        _ALSO.get(name.lower(), name.lower()): each for name, each in challenge.settings.languages.items()
    }
    known = {recipe.name: recipe for recipe in _KNOWN}
    taught = tuple(_taught(name, each) for name, each in told.items() if name not in known)
    return (*taught, *(_adapted(recipe, told) for recipe in _KNOWN))


def _adapted(recipe: Recipe, told: Mapping[str, Language]) -> Recipe:
    """A known language with what a challenge says of it."""
    language = told.get(recipe.name)
    if language is None:
        return recipe
    said = {name: value for name in ("files", "build", "run") if (value := getattr(language, name))}
    # an emulator's patience stays where nothing is said of it
    factor = language.factor if language.factor != 1 else recipe.factor
    for name in ("build", "run"):
        if name in said:
            _checked(recipe.name, name, said[name])
            said |= {"taught": True, "emulated": False, "bounded": False, "processes": True}
    return msgspec.structs.replace(recipe, factor=factor, **said)


def _taught(name: str, language: Language) -> Recipe:
    for key in ("files", "run"):
        if not getattr(language, key):
            raise ChallengeFault(
                f"[language.{name}] has no '{key}', and {name} is none that is known.", file=_SETTINGS
            )
    for key in ("build", "run"):
        _checked(name, key, getattr(language, key))
    return Recipe(
        name=name, title=name, files=language.files, build=language.build, run=language.run,
        factor=language.factor, bounded=False, processes=True, taught=True,
    )  # fmt: skip


def _checked(name: str, key: str, command: str) -> None:
    """Refuse a command line that cannot be split."""
    try:
        shlex.split(command)
    except ValueError as error:
        raise ChallengeFault(
            f"[language.{name}] {key} is no command line: {str(error).lower()}.", file=_SETTINGS
        ) from error
