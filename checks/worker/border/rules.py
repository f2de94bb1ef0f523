"""What one side of a border may ask of the other: anything of a submission, little of a test.

A test's function that hands out its globals would hand out pytest: of what is the test's a submission may
call what it was given, iterate over it, and read, set and call what has a plain name. There is nothing else.
"""

from __future__ import annotations

import inspect
import os
import sys
import traceback
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .codec import TooMuchError
from .standins import Bound

__all__ = ["Rules", "SubmissionRules", "TestRules", "UnfitError"]

__tracebackhide__ = True
_TRACE = 8_000
#: Names with underscores that say nothing.
_HARMLESS = frozenset({"__name__", "__qualname__", "__doc__", "__class__", "__module__"})
#: What is called, and nothing else.
_CALLED = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, type)
#: Whose attributes lead to frames, globals or other modules.
_CLOSED = (types.ModuleType, types.FrameType, types.CodeType, types.TracebackType, types.GeneratorType,
           types.CoroutineType, types.AsyncGeneratorType)  # fmt: skip
_FOREIGN = frozenset({"_pytest", "pytest", "pluggy", "importlib", "_frozen_importlib", "inspect", "ctypes"})
#: Modules of functions that would do in the test's process whatever they are told.
_REACHING = frozenset(
    {
        *(
            "builtins",
            "_io",
            "io",
            "os",
            "posix",
            "sys",
            "gc",
            "marshal",
            "pickle",
            "_pickle",
            "subprocess",
            "shutil",
        ),
        *(
            "importlib",
            "_frozen_importlib",
            "runpy",
            "code",
            "ctypes",
            "_ctypes",
            "pytest",
            "_pytest",
            "pluggy",
        ),
    }
)
_LOOKS = frozenset({"get", "set", "del", "method", "dir", "copy", "deepcopy", "exit"})


class UnfitError(BaseException):
    """A test asks for what cannot cross: a fault of the challenge."""


class Rules:
    """What both sides have in common.

    Attributes:
        keeps: Whether objects of a class below a listed one, with methods of its own, stay where they are.
    """

    keeps = False

    def hand_over(self, value: Any) -> None:
        """Refuse what may not be handed over."""

    def allow(self, op: str, operands: tuple[Any, ...]) -> None:
        """Refuse what may not be asked for."""

    def attribute(self, value: Any, name: str) -> Any:
        """An attribute."""
        return getattr(value, name)

    def module(self, name: str) -> Any:
        """A module by the name that the other side has for it."""
        raise ImportError(f"No module named '{name}'")

    def class_of(self, key: str) -> Any:
        """A class by its key."""
        raise LookupError(key)

    def found_again(self, path: tuple[str, str]) -> Any:
        """What was imported under a name, in another process."""
        raise LookupError(path)

    def place(self, error: BaseException) -> tuple[str | None, int | None, str]:
        """File, line and traceback of an exception, as far as the other side may know."""
        return None, None, ""

    def where(self, value: Any, name: str) -> Any:
        """File and line of an object."""
        return None

    def end(self, error: BaseException) -> str:
        """Why a process is at its end with an exception, as a clause; empty where it goes on."""
        return ""

    def unfit(self, clause: str) -> BaseException:
        """What is raised where somebody asks for what cannot be had."""
        return TypeError(clause)

    def printed(self) -> str:
        """What was printed since it was last asked."""
        return ""

    def print(self, text: str) -> None:
        """Say what the other side printed."""


class SubmissionRules(Rules):
    """What a test may ask of a submission: anything.

    Args:
        root: The submission's folder.
        module: Imports one of its modules.
        printed: Gives what was printed since it was last asked.
    """

    keeps = True

    def __init__(self, root: Path, module: Callable[[str], Any], printed: Callable[[], str]) -> None:
        self._root = root
        self._module, self._printed = module, printed

    def module(self, name: str) -> Any:
        """One of its modules, imported."""
        return self._module(name)

    def printed(self) -> str:
        """What it printed since it was last asked."""
        return self._printed()

    def class_of(self, key: str) -> Any:
        """A class, looked up where it says that it was made."""
        module, _, name = key.partition(":")
        found: Any = sys.modules[module]
        for part in name.split("."):
            found = getattr(found, part)
        if not isinstance(found, type):
            raise TypeError(f"{name} is no class")
        return found

    def place(self, error: BaseException) -> tuple[str | None, int | None, str]:
        """Where in the submission an exception was raised, and its frames there."""
        trace = error.__traceback__
        while trace is not None and not self._own(trace.tb_frame.f_code.co_filename):
            trace = trace.tb_next
        frames = [frame for frame in traceback.extract_tb(trace) if self._own(frame.filename)]
        text = "".join(traceback.format_exception(type(error), error, trace, chain=False))
        file = self._shown(frames[-1].filename) if frames else None
        line = frames[-1].lineno if frames else None
        text = text.replace(str(self._root) + os.sep, "")[-_TRACE:]
        return file, line, text.encode("utf-8", "replace").decode()

    def where(self, value: Any, name: str) -> Any:
        """Where the submission's code of an object begins."""
        found = inspect.getattr_static(value, name) if name and isinstance(value, type) else value
        if name and not isinstance(value, type):
            found = getattr(value, name)
        found = inspect.unwrap(getattr(found, "fget", None) or getattr(found, "__func__", found))
        kind = found if isinstance(found, type) else type(found)
        functions = [found] if hasattr(found, "__code__") else list(vars(kind).values())
        codes = [code for each in functions if (code := getattr(each, "__code__", None)) is not None]
        places = [(code.co_firstlineno, code.co_filename) for code in codes if self._own(code.co_filename)]
        line, file = min(places, default=(0, ""))
        return (self._shown(file), line) if line else None

    def end(self, error: BaseException) -> str:
        """Leaving the program is a crash; so is what no value can be."""
        if "__judge__" in vars(error):
            # it comes from the test
            return ""
        if isinstance(error, TooMuchError):
            return f"gives {error}"
        if isinstance(error, SystemExit):
            code = error.code
            return f"exited with status {0 if code is None else code}"[:500]
        return "interrupted itself" if isinstance(error, KeyboardInterrupt) else ""

    def _own(self, file: str) -> bool:
        return Path(file).is_relative_to(self._root)

    def _shown(self, file: str) -> str:
        return os.path.relpath(file, self._root)


class TestRules(Rules):
    """What a submission may ask of a test.

    Args:
        found_again: Imports anew what was imported under a name.
    """

    __test__ = False

    def __init__(self, found_again: Callable[[tuple[str, str]], Any]) -> None:
        self._found_again = found_again
        self.unfit_said = ""
        self._handed: set[int] = set()

    def found_again(self, path: tuple[str, str]) -> Any:
        """What was imported under a name, imported anew."""
        return self._found_again(path)

    def unfit(self, clause: str) -> BaseException:
        """The first is what is told of the test."""
        self.unfit_said = self.unfit_said or clause
        return UnfitError(clause)

    def end(self, error: BaseException) -> str:
        """Nothing ends a test's process; what is too much to hand over is its fault."""
        if isinstance(error, TooMuchError):
            raise self.unfit(f"it gives the submission {error}")
        return ""

    def hand_over(self, value: Any) -> None:
        """Refuse what would let the submission into the test's process."""
        if isinstance(value, (types.ModuleType, types.FrameType, types.CodeType, types.TracebackType)):
            raise self.unfit(f"it hands a {type(value).__name__} to the submission, which cannot cross")
        if isinstance(value, _CALLED[:2]) and str(value.__module__).partition(".")[0] in _REACHING:
            raise self.unfit(
                f"it hands {value.__name__} to the submission, which would run in the test's process"
            )
        if "unittest.case" in sys.modules and isinstance(value, sys.modules["unittest.case"].TestCase):
            raise self.unfit("it hands the test case itself to the submission")
        if isinstance(value, type):
            self._handed.add(id(value))

    def allow(self, op: str, operands: tuple[Any, ...]) -> None:
        """Let a submission call, iterate over and look at what it was handed."""
        if op in ("class", "signature"):
            return
        value = operands[0]
        if op == "call":
            # the class of something that was handed over was not handed over itself
            if isinstance(value, type) and id(value) not in self._handed:
                raise TypeError(f"the test's {_named(value)} is not there to be called")
            return
        if op == "special":
            name = operands[1]
            if isinstance(value, type) or (isinstance(value, _CALLED) and name != "__call__"):
                raise TypeError(f"the test's {_named(value)} has no {name}")
        elif op in _LOOKS:
            self._look(op, value, operands[1] if len(operands) > 1 and op not in ("exit",) else "")
        else:
            raise AttributeError(f"the test has nothing for '{op}'")

    def attribute(self, value: Any, name: str) -> Any:
        """An attribute of a plain name."""
        self._look("get", value, name)
        return getattr(value, name)

    def _look(self, op: str, value: Any, name: Any) -> None:
        """Refuse a look at what leads past an object."""
        if name in _HARMLESS and op == "get":
            return
        closed = isinstance(value, (*_CALLED, *_CLOSED)) or _is_foreign(type(value)) or type(value) is Bound
        method_of_closed = isinstance(value, types.GeneratorType) and name in ("send", "close", "throw")
        if not isinstance(name, str) or name.startswith("_") or (closed and not method_of_closed):
            raise AttributeError(f"the test's {_named(value)} has no attribute '{name}'")
        if _is_mock(value) and (op not in ("method", "get") or hasattr(_mock_class(), name)):
            raise AttributeError(f"the test's mock has no attribute '{name}' for the submission")

    def print(self, text: str) -> None:
        """Print what the submission printed, where the test's output is kept."""
        sys.stdout.write(text)


def _named(value: Any) -> str:
    name = getattr(value, "__name__", type(value).__name__)
    return name if isinstance(name, str) else type(value).__name__


def _is_foreign(kind: type) -> bool:
    return str(kind.__module__).partition(".")[0] in _FOREIGN


def _is_mock(value: Any) -> bool:
    return "unittest.mock" in sys.modules and isinstance(value, _mock_class())


def _mock_class() -> Any:
    return sys.modules["unittest.mock"].NonCallableMock
