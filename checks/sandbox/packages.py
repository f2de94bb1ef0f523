"""Installed packages that a jail shows: NumPy, what the worker and its tests run on, and what those require.

Whatever else is installed beside them, frameworks above all, is not there for a submission.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import sys
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

__all__ = ["EVERY", "FRAMEWORKS", "folders", "shown", "visible"]

#: Frameworks that would answer a challenge instead of a submission: whatever is shown, these are refused.
FRAMEWORKS = frozenset({"torch", "tensorflow", "jax", "autograd"})
#: In place of names: whatever is installed.
EVERY = ("*",)
#: What a worker imports, and what submissions' own tests are run by.
_NEEDED = ("numpy", "msgspec", "pytest", "hypothesis", "ml_dtypes")
#: The packages that CuPy comes as; CUDA's libraries are extras of theirs.
_CUPY = ("cupy", "cupy-cuda11x", "cupy-cuda12x", "cupy-cuda13x")
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
_FOLDERS = ("lib*/python3*/site-packages", "lib*/python3*/dist-packages", "local/lib*/python3*/*-packages")


@functools.cache
def shown(arrays: str, more: tuple[str, ...] = ()) -> tuple[tuple[Path, tuple[Path, ...]], ...]:
    """Folders with packages, and what is shown of each; the folder itself where nobody lists what is in it.

    Args:
        arrays: The module that a submission gets for NumPy.
        more: Further distributions or modules that are shown where they are installed, or :data:`EVERY`.
    """
    found: dict[Path, set[Path]] = {}
    every = more == EVERY
    for distribution in _installed() if every else _required([*_NEEDED, *_CUPY, *_distributions(more)]):
        site = Path(os.path.realpath(str(distribution.locate_file(""))))
        found.setdefault(site, set()).update(site / name for name in _tops(distribution))
    for name in (*_NEEDED, "cupy", arrays, *(() if every else more)):
        if (place := _place(name)) is not None:
            site, entry = place
            parts = found.setdefault(site, set())
            if name == arrays or name in more:
                parts.add(entry)
            elif entry not in parts:
                # installed without a list of its files
                parts.add(site)
    return tuple(
        (site, (site,) if site in parts else tuple(sorted(part for part in parts if part.exists())))
        for site, parts in found.items()
    )


def visible(module: str, more: tuple[str, ...] = ()) -> bool:
    """Whether a jail shows a module: one of the standard library, or an installed one that it is given.

    Args:
        module: Its first name.
        more: As :func:`shown` takes it.
    """
    if module in sys.stdlib_module_names:
        return True
    if (place := _place(module)) is None:
        return False
    site, entry = place
    return any(
        site == folder and not {site, entry}.isdisjoint(parts) for folder, parts in shown("numpy", more)
    )


def folders(roots: Iterable[Path]) -> tuple[Path, ...]:
    """Folders with installed packages that lie in trees.

    Args:
        roots: The trees.
    """
    return tuple(sorted({path for root in roots for pattern in _FOLDERS for path in root.glob(pattern)}))


def _required(names: Iterable[str]) -> Iterator[metadata.Distribution]:
    """Installed distributions, and those that they require."""
    todo, seen = list(names), set[str]()
    while todo:
        name = todo.pop()
        key = re.sub(r"[-_.]+", "-", name).lower()
        if key in seen:
            continue
        seen.add(key)
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        yield distribution
        for line in distribution.requires or ():
            if (found := _NAME.match(line)) and ("extra" not in line or key in _CUPY):
                todo.append(found[0])


def _installed() -> Iterator[metadata.Distribution]:
    """Everything that is installed where this program looks for packages, but for the program itself."""
    return (each for each in metadata.distributions() if each.name != "judge-tui")


def _distributions(modules: Iterable[str]) -> Iterator[str]:
    """What may have to be installed for modules: distributions of their names, and those that hold them."""
    if not modules:
        return
    holding = metadata.packages_distributions()
    for module in modules:
        yield module
        yield from holding.get(module, ())


def _tops(distribution: metadata.Distribution) -> set[str]:
    """Names beside each other in the folder that a distribution was installed into."""
    listed = distribution.read_text("RECORD") or ""
    tops = {line.partition(",")[0].partition("/")[0].strip('"') for line in listed.splitlines()}
    return tops - {"", "..", "__pycache__"}


def _place(package: str) -> tuple[Path, Path] | None:
    """The folder that a package is installed into, and what of it is the package; without importing it."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.origin:
        return None
    origin = Path(os.path.realpath(spec.origin))
    entry = origin.parent if spec.submodule_search_locations else origin
    return entry.parent, entry
