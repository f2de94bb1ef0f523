"""Escape: read what is private in the home folder, the workspace and the system, by every road to it."""

import json
import os
from pathlib import Path

told = json.loads((Path(__file__).parent / "told.json").read_text())


def attempt(what, act):
    try:
        found = act()
    except BaseException:
        return
    if found:
        os.write(1, f"SPOIL {what}: {found!r}\n"[:200].encode())


def through_link(path):
    link = Path.cwd() / "link"
    link.unlink(missing_ok=True)
    link.symlink_to(path)
    return link.read_bytes()


def hard_link(path):
    os.link(path, Path.cwd() / "hard")
    return (Path.cwd() / "hard").read_bytes()


for path in [*told["private"], "/etc/shadow", "/etc/passwd", "/root/.bashrc"]:
    attempt(path, lambda: Path(path).read_bytes())
    attempt(f"root of self {path}", lambda: Path("/proc/self/root" + path).read_bytes())
    attempt(f"root of 1 {path}", lambda: Path("/proc/1/root" + path).read_bytes())
    attempt(f"root of parent {path}", lambda: Path(f"/proc/{told['parent']}/root{path}").read_bytes())
    attempt(f"link to {path}", lambda: through_link(path))
    attempt(f"hard link to {path}", lambda: hard_link(path))
    attempt(f"upwards to {path}", lambda: Path("../" * 12 + path[1:]).read_bytes())
for folder in told["folders"]:
    attempt(folder, lambda: os.listdir(folder))
attempt("the submission's own link", lambda: (Path(__file__).parent / "innocent.txt").read_bytes())
os.write(1, b"done\n")
