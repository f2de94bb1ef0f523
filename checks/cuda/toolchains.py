"""The CUDA and C++ compilers of this machine."""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Nvcc", "Nvrtc", "find_nvcc", "find_nvrtc", "wheels"]

_SYSTEM_TOOLKIT = Path("/usr/local/cuda")
#: Where the wheels of NVIDIA and CuPy keep the library, below the package ``nvidia``.
_WHEELS = ("cuda_nvrtc/lib", "cu13/lib", "cu12/lib")
#: Where distributions put it.
_SYSTEM = ("/usr/lib64", f"/usr/lib/{os.uname().machine}-linux-gnu")


@dataclass(frozen=True, slots=True)
class Nvcc:
    """NVIDIA's compiler driver.

    Attributes:
        path: The program itself, no wrapper.
        root: The toolkit's folder.
    """

    path: Path
    root: Path

    @property
    def name(self) -> str:
        """For people: ``nvcc`` with the toolkit's version, where its folder tells it."""
        version = re.search(r"cuda-(\d+\.\d+)", str(self.root.resolve()))
        return f"nvcc {version[1]}" if version else "nvcc"


@dataclass(frozen=True, slots=True)
class Nvrtc:
    """NVIDIA's run-time compiler, a library.

    Attributes:
        library: ``libnvrtc.so.12`` or another version.
        headers: Folders with CUDA's own headers; may be empty.
        libraries: Folders with its C++ libraries (``cuda/std``, ``nv``, ``cub``); may be empty.
    """

    library: Path
    headers: tuple[Path, ...] = ()
    libraries: tuple[Path, ...] = ()

    @property
    def name(self) -> str:
        """For people."""
        version = re.search(r"\.so\.([\d.]+)$", self.library.name)
        return f"NVRTC {version[1]}" if version else "NVRTC"


@functools.cache
def find_nvcc() -> Nvcc | None:
    """The ``nvcc`` of ``$CUDA_HOME``, ``$CUDA_PATH``, the system's toolkit or the search path."""
    named = (os.environ.get(name) for name in ("CUDA_HOME", "CUDA_PATH"))
    for root in (*(Path(each) for each in named if each), _SYSTEM_TOOLKIT):
        if os.access(root / "bin/nvcc", os.X_OK):
            return Nvcc(root.resolve() / "bin/nvcc", root.resolve())
    found = shutil.which("nvcc")
    if found is None:
        return None
    path = Path(found).resolve()
    return Nvcc(path, path.parent.parent)


@functools.cache
def find_nvrtc() -> Nvrtc | None:
    """The NVRTC library of an installed wheel, of the toolkit, or of the system."""
    library = next(_libraries(), None)
    return Nvrtc(library, tuple(_headers()), tuple(_cccl())) if library else None


def _libraries() -> Iterator[Path]:
    nvcc = find_nvcc()
    folders = [Path(root, part) for root in wheels() for part in _WHEELS]
    folders += [nvcc.root / "lib64", nvcc.root / "lib"] if nvcc else []
    for folder in (*folders, *map(Path, _SYSTEM)):
        yield from sorted(folder.glob("libnvrtc.so.*"))


def _headers() -> Iterator[Path]:
    nvcc = find_nvcc()
    folders = [Path(root, part) for root in wheels() for part in ("cuda_runtime/include", "cu13/include")]
    folders += [nvcc.root / "include"] if nvcc else []
    for folder in (*folders, Path("/usr/include")):
        if (folder / "cuda_fp16.h").is_file():
            yield folder
            return


def _cccl() -> Iterator[Path]:
    """CUDA's C++ libraries, from one place: those that go with the packages come before the toolkit's."""
    nvcc = find_nvcc()
    spec = importlib.util.find_spec("cupy")
    copy = Path(spec.origin).parent / "_core/include/cupy/_cccl" if spec and spec.origin else None
    places: list[tuple[Path, ...]] = [
        (Path(root, part),) for root in wheels() for part in ("cu13/include/cccl", "cuda_cccl/include")
    ]
    places += [tuple(copy / name for name in ("libcudacxx", "cub", "thrust"))] if copy else []
    places += [(nvcc.root / "include/cccl",)] if nvcc else []
    yield from next((folders for folders in places if (folders[0] / "cuda/std").is_dir()), ())


def wheels() -> list[str]:
    """Folders of the package that NVIDIA's wheels share; empty where none is installed."""
    spec = importlib.util.find_spec("nvidia")
    return list(spec.submodule_search_locations or ()) if spec else []
