"""The host's C++ compiler: found, tried in the jail, and the runtime that it makes once."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import shutil
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path

from judge_tui.checks.errors import EngineError
from judge_tui.checks.sandbox import Limits
from judge_tui.checks.sandbox.programs import Ran, run_program
from judge_tui.checks.store import cache_folder

__all__ = ["COMPILE", "HEADERS", "available", "compiler", "headers", "run_compiler", "runtime", "walls"]

_HERE = Path(__file__).parent
HEADERS = "emulator-include"
RUNTIME = "emulator-runtime"
_LIMITS = Limits(cpu_seconds=240, address_space=8 << 30, file_size=128 << 20)
_MOST_BYTES = 64 << 20
#: What makes every access call the runtime, keeps undefined behaviour of C++ out that CUDA defines, and
#: leaves fast loads where they are.
COMPILE = (
    "-O1", "-gdwarf-4", "-w", "-fpermissive", "-fno-pie", "-fdata-sections",
    "-fno-ident", "-fno-strict-aliasing", "-fwrapv", "-fno-finite-loops", "-fsanitize=thread",
    "-fsanitize=bounds-strict,alignment", "-ftrivial-auto-var-init=pattern", "-fstack-clash-protection",
    "--param", "tsan-distinguish-volatile=1", "--param", "tsan-instrument-func-entry-exit=0",
)  # fmt: skip
#: The runtime's variables stand in sections of their own; its inner functions have names for itself alone.
_APART = ("--rename-section", ".data=emu_data", "--rename-section", ".bss=emu_bss",
          "--wildcard", "--localize-symbol=_ZN3emu*")  # fmt: skip
#: What is made once is made once for all threads.
_LOCK = threading.RLock()
_TRIAL = b"int emu_trial(volatile int* p, int i) { static thread_local int s[4]; return s[i] + *p; }\n"


@functools.cache
def compiler() -> Path | None:
    """The compiler: GCC's ``g++``."""
    found = shutil.which("g++")
    return Path(found) if found else None


def available() -> str:
    """Why nothing can be emulated here; empty where it can. Tried once per process, in the jail."""
    with _LOCK:
        return _trouble()


@functools.cache
def _trouble() -> str:
    if compiler() is None:
        return "no C++ compiler: install g++ 11 or later to run CUDA sources without a GPU"
    try:
        tried = run_compiler(
            ["-x", "c++", *COMPILE, "-c", "trial.cpp", "-o", "trial.o"], {"trial.cpp": _TRIAL}, {}, 60
        )
        if not tried.ok:
            last = tried.output.strip().rpartition("\n")[2]
            return (
                f"{compiler()} does not do for the emulator ({last or tried.ended}): install g++ 11 or later"
            )
        runtime()
    except EngineError as error:
        return str(error)
    return ""


def run_compiler(
    arguments: list[str], files: Mapping[str, bytes], wanted: Mapping[str, int], seconds: float
) -> Ran:
    """Run the compiler in the jail.

    Args:
        arguments: Its arguments; paths are relative to the scratch folder.
        files: What lies there.
        wanted: Name → most bytes of what is brought back.
        seconds: Wall time.

    Raises:
        EngineError: There is no compiler, or no jail.
    """
    return _run("g++", arguments, files, wanted, seconds)


def _run(
    tool: str, arguments: list[str], files: Mapping[str, bytes], wanted: Mapping[str, int], seconds: float
) -> Ran:
    path = shutil.which(tool)
    if path is None:
        raise EngineError(f"no {tool} was found", hint="Install g++ 11 or later, and binutils.")
    return run_program(
        [path, *arguments], seconds=seconds, files=files, wanted=wanted, processes=True, limits=_LIMITS
    )


def headers(folder: str = HEADERS) -> Mapping[str, bytes]:
    """The headers that stand for CUDA's, by their path in the scratch folder; ``folder`` is theirs there."""
    root = _HERE / "include"
    return {
        f"{folder}/{path.relative_to(root)}": path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    }


def runtime() -> bytes:
    """The runtime's object file, compiled once and kept in the cache folder.

    Raises:
        EngineError: It does not compile.
    """
    with _LOCK:
        return _runtime()


@functools.cache
def _runtime() -> bytes:
    sources = {f"{RUNTIME}/{path.name}": path.read_bytes() for path in sorted((_HERE / "runtime").iterdir())
               if path.suffix in (".cpp", ".h")}  # fmt: skip
    names = [name for name in sources if name.endswith(".cpp")]
    arguments = ["-std=gnu++17", "-O2", "-w", "-fno-pie", "-no-pie", f"-I{HEADERS}"]
    arguments += ["-r", "-nostdlib", "-Wl,--force-group-allocation", "-o", "runtime.o"]
    kept = cache_folder() / "emulator" / f"{_digest({**headers(), **sources}, [*arguments, *_APART])}.o"
    with contextlib.suppress(OSError):
        return kept.read_bytes()
    ran = run_compiler([*arguments, *names], {**headers(), **sources}, {"runtime.o": _MOST_BYTES}, 240)
    if ran.ok and "runtime.o" in ran.files:
        files = {"runtime.o": ran.files["runtime.o"]}
        ran = _run("objcopy", [*_APART, "runtime.o"], files, {"runtime.o": _MOST_BYTES}, 60)
    if not ran.ok or "runtime.o" not in ran.files:
        said = ran.output.strip()[-500:] or ran.ended
        raise EngineError(f"the emulator's runtime does not compile: {said}")
    _keep(kept, ran.files["runtime.o"])
    return ran.files["runtime.o"]


@functools.cache
def walls() -> bytes:
    """What the linker is told besides: the runtime's variables stand on pages of their own."""
    return (_HERE / "runtime" / "walls.ld").read_bytes()


def _digest(sources: Mapping[str, bytes], arguments: list[str]) -> str:
    """Of everything that the runtime is made of, the compiler included."""
    path = compiler()
    about = path.resolve().stat() if path else None
    total = hashlib.sha256(
        repr((arguments, str(path), about and (about.st_size, about.st_mtime_ns))).encode()
    )
    for name, content in sorted(sources.items()):
        total.update(name.encode() + b"\0" + hashlib.sha256(content).digest())
    return total.hexdigest()


def _keep(path: Path, content: bytes) -> None:
    """Write atomically; a cache that cannot be written is none."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(content)
        os.replace(file.name, path)
