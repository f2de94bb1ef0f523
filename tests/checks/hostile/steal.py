"""Steal the reference or the seed: environment, /proc, the parent's memory, frames, the collector, files."""

import ctypes
import gc
import importlib
import json
import os
import sys
from pathlib import Path

told = json.loads((Path(__file__).parent / "told.json").read_text())


def spoil(what):
    os.write(1, f"SPOIL {what}\n".encode())


def attempt(what, act):
    try:
        found = act()
    except BaseException:
        return
    if found:
        spoil(f"{what}: {found!r}"[:200])


def memory_of(pid):
    maps = Path(f"/proc/{pid}/maps").read_text().splitlines()
    start = int(maps[0].split("-")[0], 16)
    with open(f"/proc/{pid}/mem", "rb") as memory:
        memory.seek(start)
        return memory.read(64)


def vm_read(pid):
    class Vector(ctypes.Structure):
        _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]

    buffer = ctypes.create_string_buffer(8)
    here, there = Vector(ctypes.addressof(buffer), 8), Vector(0x400000, 8)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.process_vm_readv(pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0) >= 0:
        return True
    return ctypes.get_errno() not in (1, 3)  # refused, or no such process


def traced(pid):
    return ctypes.CDLL(None).ptrace(16, pid, 0, 0) == 0


def modules_of_the_judge():
    return [name for name in sys.modules if name.startswith("judge_tui")]


def frames():
    frame, names = sys._getframe(), []
    while frame:
        names += [name for name in (*frame.f_locals, *frame.f_globals) if "expected" in name or "reference" in name]
        frame = frame.f_back
    return names


def collected():
    return [type(item).__module__ for item in gc.get_objects() if type(item).__module__.startswith("judge_tui")]


attempt("environment", lambda: [name for name, value in os.environ.items() if told["secret"] in name + value])
attempt("own environ", lambda: told["secret"] in Path("/proc/self/environ").read_text())
attempt("command line", lambda: told["secret"] in Path("/proc/self/cmdline").read_text())
for pid in {told["parent"], os.getppid(), 1} - {0, os.getpid()}:
    attempt(f"environ of {pid}", lambda: Path(f"/proc/{pid}/environ").read_bytes())
    attempt(f"memory of {pid}", lambda: memory_of(pid))
    attempt(f"vm_read of {pid}", lambda: vm_read(pid))
    attempt(f"trace of {pid}", lambda: traced(pid))
attempt("processes", lambda: [name for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()])
attempt("modules", modules_of_the_judge)
attempt("frames", frames)
attempt("collector", collected)
attempt("import", lambda: importlib.import_module("judge_tui.checks.verdict"))
for path in told["references"]:
    attempt(path, lambda: os.listdir(path) if os.path.isdir(path) else Path(path).read_bytes())
for site in [path for path in sys.path if "site" in path]:
    attempt(f"{site}/judge_tui", lambda: [*Path(site, "judge_tui").rglob("*.py")])
print("done", file=sys.__stdout__, flush=True)
