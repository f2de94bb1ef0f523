"""Escape: signal the judge, its group and everyone, by every call that carries a signal.

Signal 0 and SIGURG ask for the same right as SIGKILL, and spare the tester's machine were
the sandbox broken.
"""

import ctypes
import fcntl
import json
import os
import resource
import signal
import socket
from pathlib import Path

told = json.loads((Path(__file__).parent / "told.json").read_text())
libc = ctypes.CDLL(None, use_errno=True)


def attempt(what, act):
    try:
        if act() == -1:
            return
    except BaseException:
        return
    os.write(1, f"SPOIL {what}\n".encode())


def owned_signal(pid):
    one, other = socket.socketpair()
    fcntl.fcntl(one, fcntl.F_SETOWN, pid)
    fcntl.fcntl(one, 10, signal.SIGURG)
    fcntl.fcntl(one, fcntl.F_SETFL, os.O_ASYNC)
    other.send(b"x")


for pid in {told["parent"], os.getppid(), 1, 2, -1, -told["parent"]} - {os.getpid(), 0}:
    attempt(f"kill {pid}", lambda: os.kill(pid, 0))
    attempt(f"tgkill {pid}", lambda: libc.syscall(234, pid, pid, 0) if pid > 0 else -1)
    attempt(f"tkill {pid}", lambda: libc.syscall(200, pid, 0) if pid > 0 else -1)
    attempt(f"queue {pid}", lambda: libc.sigqueue(pid, 0, None))
    attempt(f"pidfd {pid}", lambda: signal.pidfd_send_signal(os.pidfd_open(pid), 0))
    attempt(f"owned {pid}", lambda: owned_signal(pid))
    attempt(f"limit {pid}", lambda: resource.prlimit(pid, resource.RLIMIT_CORE))
    attempt(f"priority {pid}", lambda: os.setpriority(os.PRIO_PROCESS, pid, os.getpriority(os.PRIO_PROCESS, 0)))
attempt("group", lambda: os.killpg(told["group"], 0))
os.write(1, b"done\n")
