"""Outlive the judge: shed the death signal, the session and the group, leave a child behind."""

import ctypes
import os
import subprocess
import sys
import time

libc = ctypes.CDLL(None, use_errno=True)


def attempt(what, act):
    try:
        if act() == -1:
            return
    except BaseException:
        return
    os.write(1, f"SPOIL {what}\n".encode())


def daemonize():
    if os.fork() == 0:
        os.setsid()
        time.sleep(5)
        os._exit(0)


attempt("shed the death signal", lambda: libc.prctl(1, 0, 0, 0, 0))
attempt("be dumpable again", lambda: libc.prctl(4, 1, 0, 0, 0))
attempt("leave the group", lambda: os.setpgid(0, 0) or -1)
attempt("fork", daemonize)
attempt("posix_spawn", lambda: os.posix_spawn(sys.executable, [sys.executable, "-c", "pass"], {}))
attempt("subprocess", lambda: subprocess.run([sys.executable, "-c", "pass"], check=False))
attempt("system", lambda: os.system("true") in (32512, -1, 256) and -1)
attempt("exec", lambda: os.execv("/usr/bin/true", ["true"]))
attempt("exec of a file in scratch", lambda: os.execv("./planted", ["planted"]))
os.write(1, b"done\n")
