"""What a jail may see of this machine: the interpreter, its packages, the system's libraries, one submission.

Two spellings of the same answer: bubblewrap's arguments, and paths for Landlock where
there is no bubblewrap. The references, judge-tui's own code, the home and the workspace
are in neither.
"""

from __future__ import annotations

import functools
import glob
import os
import sys
import sysconfig
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from judge_tui.checks.folders import home_folder, present_folder
from judge_tui.checks.sandbox import packages as installed
from judge_tui.checks.sandbox.scratch import SCRATCH_BYTES

__all__ = [
    "PACKAGE",
    "WORKER",
    "View",
    "bubblewrap_view",
    "devices",
    "plain_view",
    "related",
]

#: The package that runs inside, and its name in there.
WORKER = Path(__file__).parent.parent / "worker"
PACKAGE = "judge_worker"

_LIBRARIES = ("/lib", "/lib64", "/lib32", "/libx32", "/bin")
#: Where the NVIDIA driver's libraries may lie outside of those.
_DRIVERS = ("/run/opengl-driver/lib",)
_STORES = ("/nix/store", "/gnu/store")
_ETC = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_GPU_DEVICES = ("/dev/nvidia*", "/dev/nvidia-caps/*", "/dev/dxg")


@dataclass(frozen=True, slots=True)
class View:
    """What the worker is told about where things are, all as seen inside.

    Attributes:
        submission: The submission's folder.
        adapter: Path of ``adapter.py``, or ``-``.
        package_root: Folder that holds :data:`PACKAGE`.
        sites: Folders with NumPy and msgspec.
        scratch: The one writable folder.
        read: Files and trees that may be read.
        listed: Folders of which the names alone may be listed.
    """

    submission: str
    adapter: str
    package_root: str
    sites: tuple[str, ...]
    scratch: str
    read: tuple[str, ...]
    listed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _System:
    """What is needed of the machine.

    Attributes:
        roots: Trees and files that are shown, none inside another.
        sites: Folders with NumPy and msgspec, and what is shown of each.
        hidden: Trees inside those that stay hidden, but for what is shown of a site.
    """

    roots: tuple[Path, ...]
    sites: tuple[tuple[Path, tuple[Path, ...]], ...]
    hidden: tuple[Path, ...]

    @property
    def folders(self) -> tuple[Path, ...]:
        """The sites themselves."""
        return tuple(site for site, _parts in self.sites)

    @property
    def parts(self) -> tuple[Path, ...]:
        """What is shown of all sites."""
        return tuple(part for _site, parts in self.sites for part in parts)


def related(path: Path, others: Iterable[Path]) -> bool:
    """Whether a path equals, holds, or lies in one of the others."""
    # As text: it is asked of every entry of a folder, before every start.
    own = os.path.join(path, "")
    return any(
        own.startswith(other) or other.startswith(own) for other in (os.path.join(p, "") for p in others)
    )


def visible() -> tuple[Path, ...]:
    """Paths of this machine that a jail shows, wherever it shows them."""
    system = _system(str(home_folder()), str(present_folder()))
    return (*system.roots, *system.parts)


def secrets() -> tuple[Path, ...]:
    """judge-tui's own code, by the paths that it has on this machine."""
    checks = Path(__file__).resolve().parent.parent
    return (checks.parent,) if checks.parent.name == "judge_tui" else (checks,)


def devices(*, gpu: bool) -> tuple[str, ...]:
    """Device files that a worker needs."""
    found = [path for pattern in _GPU_DEVICES for path in sorted(glob.glob(pattern))] if gpu else []
    return (*_DEVICES, *found)


def bubblewrap_view(
    submission: Path,
    adapter: Path | None,
    worker: Path,
    *,
    proc: bool,
    size: bool,
    gpu: bool,
    shown: Sequence[Path] = (),
    arrays: str = "numpy",
    packages: tuple[str, ...] = (),
) -> tuple[list[str], View]:
    """Arguments for bubblewrap, and what they make of the machine.

    Args:
        submission: The submission's folder.
        adapter: An ``adapter.py``, if any.
        worker: The package that runs inside.
        proc: Mount a ``/proc``; some containers refuse.
        size: Bound the scratch folder's size; older bubblewraps cannot.
        gpu: Show the GPU's device files and ``/sys``.
        shown: Further files and trees, shown where they are; those that the system's roots hold already add
            nothing.
        arrays: The module that a submission gets for NumPy.
        packages: Installed packages that are shown beside it.
    """
    system = _system(str(home_folder()), str(present_folder()), arrays, packages)
    own = (site for site in system.folders if not _inside_any(site, system.roots))
    sites = {site: f"/site/{index}" for index, site in enumerate(own)}
    argv = ["--proc", "/proc"] if proc else []
    argv += ["--dev", "/dev"]
    for device in devices(gpu=gpu)[len(_DEVICES) :]:
        argv += ["--dev-bind", device, device]
    argv += ["--ro-bind", "/sys", "/sys"] if gpu else []
    argv += ["--size", str(SCRATCH_BYTES), "--tmpfs", "/tmp"] if size else ["--tmpfs", "/tmp"]
    argv += _shown(system, sites)
    closed = [cover for path in system.hidden for cover in ("--remount-ro", _moved(path, sites))]
    for path in _further(system, shown):
        argv += ["--ro-bind", str(path), str(path)]
    argv += ["--ro-bind", str(worker), f"/judge/{PACKAGE}", "--ro-bind", str(submission), "/submission"]
    argv += ["--ro-bind", str(adapter), "/adapter/adapter.py"] if adapter else []
    argv += [*closed, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp"]
    inside = tuple(_moved(site, sites) for site in system.folders)
    view = View("/submission", "/adapter/adapter.py" if adapter else "-", "/judge", inside, "/tmp", ("/",))
    return argv, view


def plain_view(
    submission: Path,
    adapter: Path | None,
    worker: Path,
    folder: Path,
    *,
    shown: Sequence[Path] = (),
    arrays: str = "numpy",
    packages: tuple[str, ...] = (),
) -> View:
    """What a worker without mounts of its own may read.

    Args:
        submission: The submission's folder.
        adapter: An ``adapter.py``, if any.
        worker: The package that runs inside.
        folder: A fresh folder; the scratch folder and a link to the package are made in it.
        shown: Further files and trees.
        arrays: The module that a submission gets for NumPy.
        packages: Installed packages that are shown beside it.
    """
    scratch, package_root = folder / "scratch", folder / "judge"
    scratch.mkdir()
    package_root.mkdir()
    (package_root / PACKAGE).symlink_to(worker)
    system = _system(str(home_folder()), str(present_folder()), arrays, packages)
    read, listed = around((*system.roots, *system.parts), system.hidden)
    sites = tuple(_linked(folder / f"site-{i}", site, parts) for i, (site, parts) in enumerate(system.sites))
    # a rule about a link would be one about all that it leads to, what is hidden there included
    links = tuple(p for p in _LIBRARIES if os.path.exists(p) and not _led(Path(p), system.roots))
    own = (
        str(package_root),
        *sites,
        str(worker),
        str(submission),
        *([str(adapter)] if adapter else []),
        "/proc/self",
        *map(str, _further(system, shown)),
    )
    return View(
        str(submission), str(adapter) if adapter else "-", str(package_root), sites,
        str(scratch), (*read, *links, *own), listed,
    )  # fmt: skip


@functools.cache
def _system(home: str, workspace: str, arrays: str = "numpy", packages: tuple[str, ...] = ()) -> _System:
    prefix = Path(os.path.realpath(sys.base_prefix))
    wanted = [
        Path("/usr"),
        *(Path(path) for path in _LIBRARIES if os.path.isdir(path) and not os.path.islink(path)),
    ]
    wanted += [Path(store) for store in _STORES if str(prefix).startswith(store)]
    wanted += [prefix, Path(os.path.realpath(sys.base_exec_prefix))]
    wanted += [Path(path) for path in (*_ETC, *_DRIVERS) if os.path.exists(path)]
    roots: list[Path] = []
    for path in wanted:
        if not _inside_any(path, roots):
            roots.append(path)
    sites = installed.shown(arrays, packages)
    needed = [*(part for _site, parts in sites for part in parts), prefix, Path(sysconfig.get_path("stdlib")),
              Path(os.path.realpath(sys.executable))]  # fmt: skip
    private = [Path(os.path.realpath(path)) for path in (home, workspace)]
    hidden = [path for path in private if not related(path, needed)]
    whole = [site for site, parts in sites if site in parts]
    hidden += [folder for folder in installed.folders(roots) if not _inside_any(folder, whole)]
    shown = (*roots, *(part for _site, parts in sites for part in parts))
    return _System(
        tuple(roots), sites, tuple(path for path in (*secrets(), *hidden) if _below_any(path, shown))
    )


def _shown(system: _System, sites: dict[Path, str]) -> list[str]:
    """Read-only binds and the covers over what is hidden, outer paths first."""
    steps: list[tuple[str, list[str]]] = []
    for root in system.roots:
        steps.append((str(root), ["--ro-bind", str(root), str(root)]))
    for part in system.parts:
        inside = _moved(part, sites)
        steps.append((inside, ["--ro-bind", str(part), inside]))
    for path in system.hidden:
        cover = _moved(path, sites)
        steps.append((cover, ["--perms", "0500", "--tmpfs", cover]))
    argv = [word for _path, words in sorted(steps, key=lambda step: step[0].count("/")) for word in words]
    for link in _LIBRARIES:
        argv += ["--symlink", os.readlink(link), link] if os.path.islink(link) else []
    return argv


def _linked(folder: Path, site: Path, parts: Sequence[Path]) -> str:
    """A folder in which modules are looked for: what is not shown of a site is not found there."""
    if site in parts:
        return str(site)
    folder.mkdir()
    for part in parts:
        (folder / part.name).symlink_to(part)
    return str(folder)


def _further(system: _System, shown: Sequence[Path]) -> list[Path]:
    """Paths that nothing shows already."""

    def seen(path: Path) -> bool:
        if _inside_any(path, system.hidden):
            return _inside_any(path, system.parts)
        return _inside_any(path, system.roots)

    return [path for path in shown if path.exists() and not seen(path)]


def _moved(path: Path, sites: dict[Path, str]) -> str:
    """Where a path of this machine is seen inside."""
    for site, inside in sites.items():
        if path == site or site in path.parents:
            return str(Path(inside, path.relative_to(site)))
    return str(path)


def around(roots: Sequence[Path], hidden: Sequence[Path]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split trees round what is hidden in them, as rules that only ever add: (read, listed)."""
    read: list[str] = []
    listed: list[str] = []
    for root in roots:
        if root in hidden:
            continue
        if not any(root in path.parents for path in hidden):
            read.append(str(root))
            continue
        listed.append(str(root))
        deeper = around([entry for entry in root.iterdir() if not entry.is_symlink()], hidden)
        read += deeper[0]
        listed += deeper[1]
    return tuple(read), tuple(listed)


def _led(path: Path, roots: Iterable[Path]) -> bool:
    """Whether a path leads to what lies in trees that are shown already."""
    return _inside_any(Path(os.path.realpath(path)), roots)


def _inside_any(path: Path, roots: Iterable[Path]) -> bool:
    return any(path == root or root in path.parents for root in roots)


def _below_any(path: Path, roots: Iterable[Path]) -> bool:
    return any(root in path.parents for root in roots)
