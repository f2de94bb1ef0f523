"""Building a submission's program, in the jail and once: it is kept for the other groups of cases."""

from __future__ import annotations

import functools
import re
import shlex
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from judge_tui.checks.challenges.programs import toolchains
from judge_tui.checks.challenges.programs.choosing import Program
from judge_tui.checks.challenges.programs.emulating import Emulation, Refused, emulation
from judge_tui.checks.challenges.programs.recipes import OUT, PYTHON, Recipe
from judge_tui.checks.errors import ChallengeFault
from judge_tui.checks.faults import Fault, Skipped
from judge_tui.checks.sandbox import Limits, Mode
from judge_tui.checks.sandbox.bubblewrap import find_bubblewrap
from judge_tui.checks.sandbox.programs import Ran, run_program
from judge_tui.checks.sources import parsed

__all__ = ["BUILD_SECONDS", "Built", "NotBuilt", "built", "kept"]

BUILD_SECONDS = 60.0
_BUILDING = Limits(cpu_seconds=240, address_space=None, file_size=128 << 20)
_BUILD_MEMORY = 4 << 30
_MOST_BUILT = 160 << 20
_PATH = "/usr/local/bin:/usr/bin:/bin"
#: Programs that are kept at a time: of as many submissions as may be judged beside each other.
_KEPT = 8


@dataclass(frozen=True, slots=True)
class Built:
    """A program that can be run.

    Attributes:
        argv: Its command line, without the limit on memory filled in.
        files: What lies beside it.
        shown: Files and trees of this machine that it needs.
        program: What it was made of.
        environment: Of its run.
        seconds: Wall time of the build; 0 where nothing was built.
        processes: Whether it may start others.
        emulation: Of CUDA, what the emulator runs.
    """

    argv: tuple[str, ...]
    files: Mapping[str, bytes]
    shown: tuple[Path, ...]
    program: Program
    environment: Mapping[str, str]
    seconds: float = 0.0
    processes: bool = False
    emulation: Emulation | None = None


class NotBuilt(Fault):
    """The program does not compile."""


class _Kept:
    """What was made last, each made once whoever asks meanwhile."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._made: OrderedDict[Hashable, _Entry] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], Built]) -> Built:
        """What belongs to a key, made where it is not known.

        Raises:
            Fault: It cannot be made; that is known too.
        """
        with self._lock:
            entry = self._made.setdefault(key, _Entry())
            self._made.move_to_end(key)
            while len(self._made) > self._most:
                self._made.popitem(last=False)
        return entry.value(make)


class _Entry:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: Built | Fault | None = None

    def value(self, make: Callable[[], Built]) -> Built:
        with self._lock:
            if self._known is None:
                try:
                    self._known = make()
                except NotBuilt as fault:
                    self._known = fault
            known = self._known
        if isinstance(known, Fault):
            raise known.with_traceback(None)
        return known


_KEEPER = _Kept(_KEPT)


def kept(digest: str, program: Program, files: Mapping[str, bytes], *, mode: Mode = "auto") -> Built:
    """The same as :func:`built`, once per submission.

    Args:
        digest: The submission's.
        program: Which program of it.
        files: Relative name → content of its files.
        mode: How the compiler is confined.
    """
    return _KEEPER.get((digest, program, mode), lambda: built(program, files, mode=mode))


def built(program: Program, files: Mapping[str, bytes], *, mode: Mode = "auto") -> Built:
    """Build a program.

    Args:
        program: Its main file and its language.
        files: Relative name → content of the submission's files.
        mode: How the compiler is confined.

    Raises:
        NotBuilt: It does not compile.
        Skipped: A compiler or an interpreter is not installed.
        ChallengeFault: The challenge teaches a build that makes nothing.
        EngineError: There is no jail.
    """
    recipe = program.recipe
    _parses(program, files)
    # what it is run by must be there too, before anything is built
    if recipe.emulated:
        return _emulated(program, files)
    argv, shown, folders = _command(recipe.run, program)
    made: Mapping[str, bytes] = files
    seconds = 0.0
    if recipe.build:
        ran = _compiled(program, files, mode)
        made, seconds = {**files, **ran.files}, ran.own_seconds
        if "{out}" in recipe.run and not any(name == OUT or name.startswith(f"{OUT}/") for name in made):
            _no_program(recipe, ran)
    environment = {"PATH": ":".join((*folders, _PATH))}
    processes = recipe.processes and mode != "plain" and find_bubblewrap()[0] is not None
    return Built(argv, made, shown, program, environment, seconds, processes)


def _emulated(program: Program, files: Mapping[str, bytes]) -> Built:
    started = time.monotonic()
    try:
        made = emulation(program, files, BUILD_SECONDS)
    except Refused as fault:
        raise NotBuilt(
            f"does not compile: {fault.message}", file=fault.file or program.main, line=fault.line,
            output=fault.output,
        ) from fault  # fmt: skip
    seconds = time.monotonic() - started
    return Built(("./program",), files, (), program, {}, seconds, emulation=made)


def _no_program(recipe: Recipe, ran: Ran) -> None:
    """Say whose fault it is that a build ended well and left nothing."""
    if recipe.taught:
        raise ChallengeFault(
            f"[language.{recipe.name}] build makes no {{out}}: it has to write the program there.",
            file="challenge.toml", output=ran.output,
        )  # fmt: skip
    raise NotBuilt("does not compile: the compiler made no program", output=ran.output)


def _parses(program: Program, files: Mapping[str, bytes]) -> None:
    """Tell what is no Python as a compiler would."""
    if program.recipe.name != PYTHON or program.recipe.taught:
        return
    try:
        parsed(files[program.main])
    except SyntaxError as error:
        raise NotBuilt(
            f"does not compile: SyntaxError: {error.msg}", file=program.main, line=error.lineno,
            output=(error.text or "").rstrip(),
        ) from error  # fmt: skip


def _compiled(program: Program, files: Mapping[str, bytes], mode: Mode) -> Ran:
    argv, shown, folders = _command(program.recipe.build, program)
    ran = run_program(
        argv, seconds=BUILD_SECONDS, files=files, shown=shown, processes=True, limits=_BUILDING, stdin=b"",
        environment={"PATH": ":".join((*folders, _PATH)), **dict(program.recipe.environment)},
        memory_bytes=_BUILD_MEMORY, tree=_MOST_BUILT, mode=mode,
    )  # fmt: skip
    if ran.ok:
        return ran
    output = ran.output + ran.printed.decode("utf-8", "replace")
    if ran.timed_out or ran.status is None:
        raise NotBuilt(f"does not compile: the compiler {ran.ended}", file=program.main, output=output)
    if not recipe_works(program.recipe, mode):
        raise Skipped(f"the {program.recipe.title} compiler does not work here: {_first_line(output, ran)}")
    file, line, said = first_error(output, files)
    said = said or _first_line(output, ran)
    raise NotBuilt(f"does not compile: {said}", file=file or program.main, line=line or None, output=output)


def _first_line(output: str, ran: Ran) -> str:
    return output.strip().partition("\n")[0] or f"the compiler {ran.ended}"


@functools.cache
def recipe_works(recipe: Recipe, mode: Mode) -> bool:
    """Whether the compiler of a language compiles anything here; asked once, where it refused something.

    Args:
        recipe: The language.
        mode: How the compiler is confined.
    """
    if not recipe.trial or recipe.taught:
        return True
    main = f"Trial{recipe.files[0].lstrip('*')}"
    program = Program(main, msgspec.structs.replace(recipe, trial=""), (main,))
    try:
        _compiled(program, {main: recipe.trial.encode()}, mode)
    except NotBuilt:
        return False
    return True


def _command(command: str, program: Program) -> tuple[tuple[str, ...], tuple[Path, ...], tuple[str, ...]]:
    """A command line with its program found; what a jail is shown for it; folders of its search path.

    Raises:
        Skipped: The program is not installed.
    """
    words = _filled(shlex.split(command), program)
    if "/" in words[0]:
        return tuple(words), (), ()
    tools = {"": _installed(words[0])} | ({"{cc}": _installed("cc")} if "{cc}" in command else {})
    more = [word.replace("{cc}", str(tools["{cc}"].path)) if "{cc}" in word else word for word in words[1:]]
    shown = tuple(path for tool in tools.values() for path in tool.shown)
    return (str(tools[""].path), *more), shown, tuple(str(tool.path.parent) for tool in tools.values())


def _installed(name: str) -> toolchains.Tool:
    tool = toolchains.tool(name)
    if tool is None:
        get = toolchains.GET.get(name, "")
        raise Skipped(f"needs {name}, which is not installed" + (f" → {get}" if get else ""))
    return tool


def _filled(words: Sequence[str], program: Program) -> list[str]:
    filled: list[str] = []
    values = {"{main}": f"./{program.main}", "{out}": f"./{OUT}", "{class}": program.main_class}
    for word in words:
        if word == "{sources}":
            filled += [f"./{source}" for source in program.sources]
        else:
            filled.append(functools.reduce(lambda text, pair: text.replace(*pair), values.items(), word))
    return filled


#: file:line:column: error: text, as nearly all compilers have it, and file(line,column) Error: text
_PLACES = (
    re.compile(r"^(?P<file>[^\s:()][^:()]*):(?P<line>\d+):(?:\d+:)?[ \t]*(?P<text>\S.*)$", re.M),
    re.compile(r"^(?P<file>[^\s:()][^:()]*)\((?P<line>\d+)(?:,\d+)?\):?[ \t]*(?P<text>\S.*)$", re.M),
    re.compile(r"^[ \t]*-->[ \t]*(?P<file>[^:]+):(?P<line>\d+):\d+(?P<text>)$", re.M),
    re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+)(?P<text>)', re.M),
)
_HARMLESS = re.compile(r"(?:warning|note|info|help|hint)\b", re.I)
_ERROR = re.compile(r"(?:fatal )?error(?:\[\w+\])?\s*:\s*", re.I)


def first_error(output: str, files: Collection[str]) -> tuple[str, int, str]:
    """File, 1-based line and text of the first error that a compiler tells of a submission.

    Args:
        output: What it printed.
        files: Names of the submission's files.

    Returns:
        Empty texts and 0 where it tells of none.
    """
    for pattern in _PLACES:
        for match in pattern.finditer(output):
            file = _own(match["file"], files)
            if file and not _HARMLESS.match(match["text"]):
                return file, int(match["line"]), _ERROR.sub("", match["text"], count=1).strip()
    return "", 0, ""


def _own(told: str, files: Collection[str]) -> str:
    """The submission's file that a compiler means, by whatever path; empty where it is none."""
    path = told.strip().removeprefix("./")
    if path in files:
        return path
    return next((file for file in files if path.endswith(f"/{file}")), "")
