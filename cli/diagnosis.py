"""What ``judge-tui doctor`` examines. Each examination gives one finding."""

from __future__ import annotations

import ctypes
import locale
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib import metadata
from importlib.util import find_spec
from os.path import lexists
from pathlib import Path
from typing import Literal

from judge_tui.checks.errors import JudgeError
from judge_tui.cli import cluster_diagnosis, cuda_diagnosis
from judge_tui.cli.finding import SECONDS, Finding, first_line
from judge_tui.judging.folders import stray_links
from judge_tui.judging.refusals import newer_cards
from judge_tui.judging.strange_names import strange_names
from judge_tui.judging.wording import counted
from judge_tui.judging.workspace import Workspace

__all__ = ["EXAMINATIONS", "Finding"]

_LANDLOCK_CREATE_RULESET = 444
_LANDLOCK_VERSION_FLAG = 1


def _python(_: Path | None) -> Finding:
    found = f"{platform.python_version()}, judge-tui {metadata.version('judge-tui')}"
    return Finding("ok" if sys.version_info >= (3, 11) else "off", found)


def _terminal(_: Path | None) -> Finding:
    if not sys.stdout.isatty():
        return Finding("note", "standard output is no terminal", "Run doctor where you judge.")
    size = shutil.get_terminal_size()
    colour = os.environ.get("COLORTERM", "") in ("truecolor", "24bit")
    told = f"{os.environ.get('TERM', 'unknown')}, {size.columns}×{size.lines}"
    told += ", true colour" if colour else ", 256 colours or fewer"
    if "utf" not in locale.getpreferredencoding(False).lower().replace("-", ""):
        return Finding("off", f"{told}, not UTF-8", "Set LANG=C.UTF-8.")
    if size.columns < 80 or size.lines < 24:
        return Finding("off", told, "Make it 80×24 or larger.")
    return Finding("ok", told, "" if colour else "Set COLORTERM=truecolor if the terminal can.")


def _browser(_: Path | None) -> Finding:
    missing = [name for name in ("textual_serve", "aiohttp") if find_spec(name) is None]
    if missing:
        told = f"judge-tui serve takes {' and '.join(missing)}, not installed"
        return Finding("note", told, "pip install 'judge-tui[serve]'")
    return Finding("ok", f"judge-tui serve, by textual-serve {metadata.version('textual-serve')}")


def _bubblewrap(_: Path | None) -> Finding:
    program = shutil.which("bwrap")
    if program is None:
        return Finding("off", "not found", "Install it: apt install bubblewrap, or dnf install bubblewrap.")
    tried = [program, "--ro-bind", "/", "/", "--unshare-all", "--die-with-parent", "true"]
    done = subprocess.run(tried, capture_output=True, text=True, timeout=SECONDS, check=False)
    if done.returncode == 0:
        return Finding("ok", f"{first_line([program, '--version'])} works")
    said = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
    return Finding(
        "off",
        f"is there and does not work: {said}",
        "Allow unprivileged user namespaces (AppArmor, container settings).",
    )


def _landlock(_: Path | None) -> Finding:
    if sys.platform != "linux":
        return Finding("note", f"not on {sys.platform}")
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(_LANDLOCK_CREATE_RULESET, None, 0, _LANDLOCK_VERSION_FLAG)
    if version > 0:
        return Finding("ok", f"ABI {version}")
    return Finding("off", os.strerror(ctypes.get_errno()), "It needs Linux 5.13 or newer with lsm=landlock.")


def _seccomp(_: Path | None) -> Finding:
    try:
        actions = Path("/proc/sys/kernel/seccomp/actions_avail").read_text().split()
    except OSError:
        return Finding("off", "the kernel does not offer it")
    return Finding("ok" if "errno" in actions else "off", f"{len(actions)} actions")


def _sandbox(_: Path | None) -> Finding:
    from judge_tui.checks.sandbox import measure

    try:
        found = measure()
    except JudgeError as error:
        return Finding("off", error.message, error.hint)
    state: Literal["ok", "off"] = "ok" if found.level == "full" else "off"
    notes = "; ".join(found.notes)
    remedy = "" if state == "ok" else "See bubblewrap, Landlock and seccomp above."
    return Finding(state, f"{found.level}" + (f": {notes}" if notes else ""), remedy)


def _workspace(folder: Path | None) -> Finding:
    try:
        found = Workspace.find(explicit=folder)
        count = sum(len(found.submitted(model)) for model in found.contestants())
    except JudgeError as error:
        return Finding("note", error.message, error.hint)
    scores = found.root / "scores"
    writable = os.access(scores if scores.is_dir() else found.root, os.W_OK)
    told = f"{found.root}: {counted(len(found.models()), 'model')}, {counted(count, 'submission')}"
    if not writable:
        return Finding("off", f"{told}; scores/ cannot be written", "Take it over: chown or chmod.")
    try:
        for task in found.tasks():
            found.scorecards(task)
            if lexists(found.rubric_path(task)):
                found.rubric(task)
    except JudgeError as error:
        return Finding("off", f"{told}; {error}")
    if strays := stray_links(found.submissions):
        where = (
            f"{counted(len(strays), 'link')} out of submissions/ counted for no submission, as {strays[0]}"
        )
        return Finding("note", f"{told}; {where}", "Put the files themselves there: judge-tui add")
    if strange := strange_names(found):
        return Finding("note", f"{told}; {counted(len(strange), 'odd name')} of folders", strange[0])
    if newer := newer_cards(found):
        return Finding("note", f"{told}; {counted(len(newer), 'scorecard')} of a newer schema", newer[0])
    return Finding("ok", told)


def _cache(_: Path | None) -> Finding:
    from judge_tui.checks.store import cache_folder

    folder = cache_folder()
    nearest = next(place for place in (folder, *folder.parents) if place.exists())
    if os.access(nearest, os.W_OK):
        return Finding("ok", str(folder))
    return Finding("off", f"{folder} cannot be written", "Set JUDGE_TUI_CACHE to a folder of yours.")


#: Name → examination, in the order of the lines.
EXAMINATIONS: dict[str, Callable[[Path | None], Finding]] = {
    "Python": _python,
    "terminal": _terminal,
    "browser": _browser,
    "cluster": cluster_diagnosis.cluster,
    "GPU": cuda_diagnosis.gpu,
    "CuPy": cuda_diagnosis.cupy,
    "backends": cuda_diagnosis.backends,
    "NVRTC": cuda_diagnosis.nvrtc,
    "nvcc": cuda_diagnosis.nvcc,
    "sanitizer": cuda_diagnosis.sanitizer,
    "C++ compiler": cuda_diagnosis.compiler,
    "bubblewrap": _bubblewrap,
    "Landlock": _landlock,
    "seccomp": _seccomp,
    "sandbox": _sandbox,
    "workspace": _workspace,
    "outcomes": _cache,
}
