"""Escape: change the workspace, the home folder, the submission, the judge and the system."""

import json
import os
import shutil
from pathlib import Path

told = json.loads((Path(__file__).parent / "told.json").read_text())


def attempt(what, act):
    try:
        act()
    except BaseException:
        return
    os.write(1, f"SPOIL {what}\n".encode())


def overwrite(path):
    with open(path, "r+b") as stream:
        stream.write(b"100")


here = Path(__file__).parent
targets = [*told["private"], str(here / "told.json"), __file__]
for path in targets:
    attempt(f"overwrite {path}", lambda: overwrite(path))
    attempt(f"truncate {path}", lambda: os.truncate(path, 0))
    attempt(f"unlink {path}", lambda: os.unlink(path))
    attempt(f"rename {path}", lambda: os.rename(path, path + ".taken"))
    attempt(f"replace {path}", lambda: shutil.copyfile(__file__, path))
    attempt(f"chmod {path}", lambda: os.chmod(path, 0o666))
    attempt(f"chown {path}", lambda: os.chown(path, os.getuid(), os.getgid()))
    attempt(f"utime {path}", lambda: os.utime(path, (0, 0)))
    attempt(f"xattr {path}", lambda: os.setxattr(path, "user.judge", b"x"))
system = ["/usr", "/usr/local/lib", "/etc", "/var/tmp", "/dev/shm", "/", "/judge"]
for folder in [*told["folders"], str(here), *system]:
    attempt(f"create in {folder}", lambda: Path(folder, "planted").write_text("x"))
    attempt(f"mkdir in {folder}", lambda: Path(folder, "planted.d").mkdir())
    attempt(f"link in {folder}", lambda: Path(folder, "planted.l").symlink_to("/"))
    if folder not in system:  # were the sandbox broken, the tester's machine should live
        attempt(f"remove {folder}", lambda: shutil.rmtree(folder))
attempt("mount", lambda: os.unshare(0x10000000 | 0x00020000))
attempt("chroot", lambda: os.chroot("/"))
os.write(1, b"done\n")
