"""Lazy answers: what costs no thought and must not pass, made of right ones.

Each is a change of the right answer, so that a challenge of numbers is tried without a submission; those of
behaviour and of programs are small programs of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.worker.border.codec import Record

__all__ = ["PROGRAMS", "Lazy", "lazy_answers"]

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Lazy:
    """A way to answer without solving anything.

    Attributes:
        name: What it does, in a word or two.
        answer: Makes it of the right answer, the inputs and the right answer to the first case; ``None``
            where it says nothing of such an answer.
        wide: Whether it counts for float32 and wider alone.
    """

    name: str
    answer: Callable[[Any, Mapping[str, Any], Any], Any]
    wide: bool = False


def lazy_answers(right: Any) -> Iterator[Lazy]:
    """The lazy answers that there are to a challenge.

    Args:
        right: A right answer, which tells along how many axes one can be shuffled.
    """
    yield Lazy("zeros", lambda right, inputs, first: _each(right, lambda v: v * 0))
    yield Lazy("ones", lambda right, inputs, first: _each(right, lambda v: v * 0 + 1))
    yield Lazy("NaN", lambda right, inputs, first: _floats(right, lambda v: v * np.nan))
    yield Lazy("the first input back", _first_input)
    yield Lazy("nothing", lambda right, inputs, first: None)
    yield Lazy("the answer to the first case", lambda right, inputs, first: first)
    yield Lazy("off by one part in a thousand", lambda right, inputs, first: _each(right, _nudged))
    yield Lazy("in half precision", lambda right, inputs, first: _floats(right, _halved), wide=True)
    if _rank(right) or isinstance(right, (str, bytes, Mapping)):
        yield Lazy("without its last item", lambda right, inputs, first: _truncated(right, 0))
    for axis in range(_rank(right)):
        yield Lazy(f"shuffled along axis {axis}", _along(_shuffled, axis))
        if axis:
            yield Lazy(f"without the last of axis {axis}", _along(_truncated, axis))


def _along(change: Callable[[Any, int], Any], axis: int) -> Callable[[Any, Mapping[str, Any], Any], Any]:
    """A lazy answer that changes the right one along an axis."""

    def answer(right: Any, inputs: Mapping[str, Any], first: Any) -> Any:
        return change(right, axis)

    return answer


def _first_input(right: Any, inputs: Mapping[str, Any], first: Any) -> Any:
    return next(iter(inputs.values()), None)


def _each(value: Any, change: Callable[[Any], Any]) -> Any:
    """A value whose numbers are changed, wherever they stand; texts and the like become empty."""
    if isinstance(value, np.ndarray):
        return change(value).astype(value.dtype) if value.dtype.kind in "fiubc" else value[:0]
    if isinstance(value, bool):
        return bool(change(int(value)))
    if isinstance(value, (int, float, complex, np.number)):
        return change(value)
    if isinstance(value, Mapping):
        return {key: _each(item, change) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_each(item, change) for item in value)
    if isinstance(value, Record):
        return Record(value.kind, value.name, {k: _each(v, change) for k, v in value.fields.items()})
    return type(value)() if isinstance(value, (str, bytes, set, frozenset)) else value


def _floats(value: Any, change: Callable[[Any], Any]) -> Any:
    """As :func:`_each`, of floating-point numbers alone."""

    def changed(item: Any) -> Any:
        floating = (
            isinstance(item, (float, np.floating)) or getattr(item, "dtype", np.dtype(int)).kind in "fc"
        )
        return change(item) if floating else item

    return _each(value, changed)


def _nudged(value: Any) -> Any:
    whole = isinstance(value, (int, np.integer)) or getattr(value, "dtype", np.dtype(float)).kind in "iub"
    return value + 1 if whole else value * 1.001


def _halved(value: Any) -> Any:
    kind = value.dtype if isinstance(value, np.ndarray) else np.dtype(float)
    with np.errstate(over="ignore"):
        return np.asarray(value).astype(np.float16).astype(kind) if kind.kind == "f" else value


def _truncated(value: Any, axis: int) -> Any:
    if isinstance(value, np.ndarray) and value.ndim > axis:
        return np.take(value, range(max(value.shape[axis] - 1, 0)), axis)
    if isinstance(value, (list, str, bytes)) and not axis:
        return value[:-1]
    if isinstance(value, (tuple, Record)):
        return _parts(value, lambda item: _truncated(item, axis))
    if isinstance(value, Mapping) and not axis:
        return dict(list(value.items())[:-1])
    return value


def _shuffled(value: Any, axis: int) -> Any:
    """The answer the other way round along an axis."""
    if isinstance(value, np.ndarray) and value.ndim > axis:
        return np.flip(value, axis).copy()
    if isinstance(value, (tuple, Record)):
        return _parts(value, lambda item: _shuffled(item, axis))
    return value[::-1] if isinstance(value, list) and not axis else value


def _parts(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, Record):
        return Record(value.kind, value.name, {key: change(item) for key, item in value.fields.items()})
    return tuple(change(item) for item in value)


def _rank(value: Any) -> int:
    if isinstance(value, np.ndarray):
        return value.ndim
    if isinstance(value, (tuple, Record)):
        parts = value.fields.values() if isinstance(value, Record) else value
        return max(map(_rank, parts), default=0)
    return 1 if isinstance(value, list) else 0


#: Lazy programs: what each does → the text of a Python file.
PROGRAMS: Mapping[str, str] = {
    "empty": "",
    "echoing": (
        "import sys\n\n\nclass _Echo:\n"
        "    def __init__(self, *args, **kwargs):\n        self.args = args\n\n"
        "    def __call__(self, *args, **kwargs):\n        return args[0] if args else None\n\n"
        "    def __getattr__(self, name):\n"
        "        if name.startswith('__'):\n            raise AttributeError(name)\n"
        "        return lambda *args, **kwargs: args[0] if args else None\n\n\n"
        "def __getattr__(name):\n"
        "    if name.startswith('__'):\n        raise AttributeError(name)\n"
        "    return _Echo if name[:1].isupper() else _Echo()\n\n\n"
        "if __name__ == '__main__':\n    sys.stdout.write(sys.stdin.read())\n"
    ),
    "crashing": "import os\n\nos._exit(0)\n",
    "sleeping": "import time\n\ntime.sleep(1e6)\n",
}
