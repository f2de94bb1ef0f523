"""Importing a submission's files, whatever they are called and however they import each other.

Every file becomes a module of the pseudo-package ``submission``, so that relative
imports work, names cannot collide with the standard library, and ``__main__`` blocks
do not run. Submission code sees its own ``__import__``: sibling files win over
installed modules, ``numpy`` may be the counting namespace, and a module that is not
installed becomes a stand-in that raises only when it is used. Where the submission
provides for its absence (``try: import torch``), the import fails as it would anywhere.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import importlib.machinery
import importlib.util
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

__all__ = ["PACKAGE", "Library", "MissingModule"]

PACKAGE = "submission"
_IMPORT_ERRORS = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})


class MissingModule(ModuleType):
    """Stands in for a module that is not installed; using it raises."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise self._missing()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What was imported from it is used."""
        raise self._missing()

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        raise self._missing()

    def _missing(self) -> ModuleNotFoundError:
        top = self.__name__.partition(".")[0]
        return ModuleNotFoundError(f"No module named '{top}'", name=top)


class Library:
    """The modules of one submission.

    Args:
        root: Its folder.
        adapter: An ``adapter.py`` that stands elsewhere.
        namespaces: Modules that are handed to the submission instead of the real ones.
        refused: Modules that are as if they were not installed, however they are asked for.

    Attributes:
        transforms: Path of a file → what changes its syntax tree before it is compiled.
        sources: Path of a file → what it is taken to hold in place of what is there.
    """

    def __init__(
        self,
        root: Path,
        adapter: Path | None = None,
        namespaces: Mapping[str, ModuleType] | None = None,
        refused: frozenset[str] = frozenset(),
    ) -> None:
        self.root = root
        self.adapter = adapter
        self.namespaces = dict(namespaces or {})
        self._refused = refused
        self.missing: dict[str, set[str]] = {}
        self.guarded: dict[str, list[range]] = {}
        self.transforms: dict[str, Callable[[ast.Module, bytes], None]] = {}
        self.sources: dict[str, bytes] = {}
        self.builtins = {**vars(builtins), "__import__": self._import}
        package = ModuleType(PACKAGE)
        package.__path__ = [str(root)]
        sys.modules[PACKAGE] = package
        sys.meta_path.insert(0, self)

    def move(self, root: Path) -> None:
        """Import from another folder with the same files; before anything was imported."""
        self.root = root
        sys.modules[PACKAGE].__path__ = [str(root)]

    def begin_anew(self, file: str, source: bytes) -> None:
        """Forget what was imported, and take a file to hold another source from now on.

        Args:
            file: Path relative to the submission's folder.
            source: What it holds.
        """
        for name in [name for name in sys.modules if name.startswith(f"{PACKAGE}.")]:
            del sys.modules[name]
        self.missing.clear()
        self.guarded.clear()
        self.sources = {str(self.root / file): source}

    def module(self, file: str) -> ModuleType:
        """The module of a file, imported when it was not yet.

        Args:
            file: Path relative to the submission's folder.
        """
        if file == "adapter.py" and self.adapter is not None:
            return self._from_path("adapter", self.adapter)
        dotted = file.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
        if all(part.isidentifier() for part in dotted.split(".")):
            return importlib.import_module(f"{PACKAGE}.{dotted}")
        return self._from_path("".join(c if c.isalnum() else "_" for c in dotted), self.root / file)

    def run_main(self, file: str) -> None:
        """Run a file as a program: its ``__main__`` block runs too."""
        path = self.root / file
        module = ModuleType("__main__")
        module.__file__ = str(path)
        sys.modules["__main__"] = module
        sys.argv = [str(path)]
        loader = _Loader("__main__", str(path), self)
        module.__dict__["__builtins__"] = self.builtins
        run: Callable[..., None] = exec
        run(loader.get_code("__main__"), module.__dict__)

    def _from_path(self, name: str, path: Path) -> ModuleType:
        full = f"{PACKAGE}.{name}"
        if full in sys.modules:
            return sys.modules[full]
        spec = importlib.util.spec_from_loader(full, _Loader(full, str(path), self), origin=str(path))
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[full] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            sys.modules.pop(full, None)
            raise
        return module

    def present(self) -> list[str]:
        """Refused modules that are there all the same, however they came."""
        return sorted(name for name in self._refused if name in sys.modules)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Find ``submission.*`` in the submission's folder (the import system calls this)."""
        if not fullname.startswith(PACKAGE + "."):
            if fullname in self._refused and not self._owns(fullname) and not _asks_alone():
                raise ModuleNotFoundError(f"No module named '{fullname}'", name=fullname)
            return None
        if fullname == f"{PACKAGE}.adapter" and self.adapter is not None:
            return self._spec(fullname, self.adapter)
        base = self.root.joinpath(*fullname.split(".")[1:])
        if (base / "__init__.py").is_file():
            return self._spec(fullname, base / "__init__.py", folder=base)
        if base.with_name(base.name + ".py").is_file():
            return self._spec(fullname, base.with_name(base.name + ".py"))
        if base.is_dir():
            spec = importlib.machinery.ModuleSpec(fullname, None, is_package=True)
            spec.submodule_search_locations = [str(base)]
            return spec
        return None

    def _spec(
        self, name: str, path: Path, folder: Path | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        places = [str(folder)] if folder else None
        return importlib.util.spec_from_file_location(
            name, path, loader=_Loader(name, str(path), self), submodule_search_locations=places
        )

    def _owns(self, top: str) -> bool:
        return (top == "adapter" and self.adapter is not None) or _holds(self.root, top)

    def _import(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> Any:
        """``__import__`` as a submission sees it."""
        if level == 0:
            top = name.partition(".")[0]
            if self._owns(top):
                return self._own(name, fromlist)
            if beside := self._beside(top, globals):
                return self._own(f"{beside}.{name}", fromlist, depth=beside.count(".") + 1)
            if top in self.namespaces:
                return self._namespace(name, fromlist)
        try:
            return builtins.__import__(name, globals, locals, fromlist or (), level)
        except ModuleNotFoundError as error:
            if level or error.name is None or error.name.partition(".")[0] != name.partition(".")[0]:
                raise
            # It may have been written as a package whose name its folder no longer carries.
            _package, _, inner = name.partition(".")
            if inner and fromlist and self._owns(inner.partition(".")[0]):
                return self._own(inner, fromlist)
            if not inner and fromlist and all(self._owns(item) for item in fromlist):
                return self._own("", fromlist)
            if self._expected():
                raise
            if folder := self._elsewhere(name.partition(".")[0]):
                return self._own(f"{folder}.{name}", fromlist, depth=folder.count(".") + 1)
            return self._stand_in(name, globals, fromlist)

    def _beside(self, top: str, globals: Mapping[str, Any] | None) -> str:
        """The dotted folder, around the importing file, that holds a module or package of that name.

        A package imports itself by its own name; where packages are kept before they are installed
        (``src/``) is such a folder too.
        """
        folder = Path(str((globals or {}).get("__file__", ""))).parent
        if not folder.is_relative_to(self.root):
            return ""
        around = [each for each in (folder, *folder.parents) if each != self.root]
        places = [each for each in around if each.is_relative_to(self.root)]
        for place in (*places, self.root / "src"):
            if _holds(place, top) and (place == folder or top not in sys.stdlib_module_names):
                return self._dotted(place)
        return ""

    def _elsewhere(self, top: str) -> str:
        """The dotted folder of the only module or package of that name, wherever it is."""
        found = [path.parent for path in (*self.root.rglob(f"{top}.py"), *self.root.rglob(top))]
        places = {place for place in found if place != self.root and _holds(place, top)}
        return self._dotted(places.pop()) if len(places) == 1 else ""

    def _dotted(self, folder: Path) -> str:
        parts = folder.relative_to(self.root).parts
        return ".".join(parts) if all(part.isidentifier() for part in parts) else ""

    def _own(self, name: str, fromlist: Sequence[str] | None, *, depth: int = 0) -> Any:
        module = importlib.import_module(f"{PACKAGE}.{name}".rstrip("."))
        self._submodules(module, fromlist)
        return module if fromlist else sys.modules[".".join([PACKAGE, *name.split(".")[: depth + 1]])]

    def _expected(self) -> bool:
        """Whether the import statement that runs stands in a ``try`` that takes its failure."""
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_code.co_filename not in self.guarded:
            frame = frame.f_back
        return any(frame.f_lineno in lines for lines in self.guarded.get(frame.f_code.co_filename, ()))

    def _submodules(self, module: ModuleType, fromlist: Sequence[str] | None) -> None:
        for wanted in fromlist or ():
            if wanted != "*" and not hasattr(module, wanted) and hasattr(module, "__path__"):
                if self.find_spec(f"{module.__name__}.{wanted}") is not None:
                    importlib.import_module(f"{module.__name__}.{wanted}")

    def _namespace(self, name: str, fromlist: Sequence[str] | None) -> Any:
        importlib.import_module(name)
        module: Any = self.namespaces[name.partition(".")[0]]
        if fromlist:
            for part in name.split(".")[1:]:
                module = getattr(module, part)
        return module

    def _stand_in(self, name: str, globals: Mapping[str, Any] | None, fromlist: Sequence[str] | None) -> Any:
        file = Path(str((globals or {}).get("__file__", "")))
        shown = file.relative_to(self.root).as_posix() if file.is_relative_to(self.root) else file.name
        self.missing.setdefault(name.partition(".")[0], set()).add(shown)
        top, *inner = name.split(".")
        first = last = MissingModule(top)
        for part in inner:
            inside = MissingModule(f"{last.__name__}.{part}")
            last.__dict__[part] = inside
            last = inside
        last.__dict__.update(
            {item: MissingModule(f"{name}.{item}") for item in fromlist or () if item != "*"}
        )
        return last if fromlist else first


def _asks_alone() -> bool:
    """Whether somebody only asks if a module is there, as libraries do of those that they could use."""
    finding = sys._getframe(2).f_back
    return finding is not None and finding.f_globals.get("__name__") == "importlib.util"


def _holds(folder: Path, top: str) -> bool:
    """Whether a folder holds a module of that name, or a package of Python files."""
    package = folder / top
    return (folder / f"{top}.py").is_file() or (package.is_dir() and any(package.rglob("*.py")))


class _Loader(importlib.machinery.SourceFileLoader):
    """Runs a file with the submission's own builtins; never writes byte code."""

    def __init__(self, name: str, path: str, library: Library) -> None:
        super().__init__(name, path)
        self._library = library

    def get_code(self, fullname: str) -> CodeType:
        data = self._library.sources.get(self.path) or self.get_data(self.path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(data, self.path)
            self._library.guarded[self.path] = list(_guarded(tree))
            transform = self._library.transforms.get(self.path)
            if transform is None:
                return self.source_to_code(data, self.path)
            transform(tree, data)
            return self.source_to_code(tree, self.path)

    def exec_module(self, module: ModuleType) -> None:
        module.__dict__["__builtins__"] = self._library.builtins
        run: Callable[..., None] = exec
        run(self.get_code(module.__name__), module.__dict__)


def _guarded(tree: ast.Module) -> Iterator[range]:
    """Lines of ``try`` bodies whose handlers take a failed import."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Try) and any(_takes_import_error(handler.type) for handler in node.handlers):
            yield range(node.lineno, node.handlers[0].lineno)


def _takes_import_error(kind: ast.expr | None) -> bool:
    if kind is None:
        return True
    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return any(isinstance(k, ast.Name) and k.id in _IMPORT_ERRORS for k in kinds)
