"""An answer held against the reference's: exactly where nothing is a float, else entry by entry.

The error of an entry is |out − ref| over |ref| + the root mean square of the array that it stands in, so that
zeros and cancellation have a floor.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.worker.border.codec import Record

__all__ = ["Compared", "as_array", "compared", "described"]

_NUMBERS = "fiubc"
_SEQUENCES = (list, tuple, deque)
_NUMBER = (bool, int, float, complex, np.number, np.bool_)
#: Whole numbers up to which floats hold each of them.
_WHOLE = 2**53
_LONG = 60
_MANY_BITS = 200
#: Arrays of a list that are held one by one; more are the rows of one.
_FEW = 64


@dataclass(frozen=True, slots=True)
class Compared:
    """How far an answer is from the reference's.

    Attributes:
        error: The largest error of an entry; infinite where ``wrong`` says why.
        where: The entry, as an index or path; empty for a lone value.
        got: What stands there.
        expected: What should.
        wrong: What is wrong with it beside numbers, as a clause: its kind, its shape, a text, a count.
    """

    error: float = 0.0
    where: str = ""
    got: str = ""
    expected: str = ""
    wrong: str = ""

    @property
    def told(self) -> str:
        """Where and what, as a clause."""
        at = f" at {self.where}" if self.where else ""
        return f"{self.wrong}{at}" if self.wrong else f"{self.got} instead of {self.expected}{at}"


def compared(out: Any, reference: Any) -> Compared:
    """Hold an answer against the reference's; the worst entry decides.

    Args:
        out: The answer.
        reference: The reference's.
    """
    worst = Compared()
    for found in _pairs(out, reference, ""):
        if found.wrong:
            return found
        if found.error > worst.error or math.isnan(found.error):
            worst = found
    return worst


def _pairs(out: Any, reference: Any, where: str) -> Iterator[Compared]:
    out, reference = _lone(out), _lone(reference)
    numbers = None if _several(reference) else as_array(reference)
    if numbers is not None:
        answer = _as_answer(out, numbers)
        if answer is None:
            yield _wrong(out, reference, where)
        else:
            yield _arrays(answer, numbers, where, scalar=not isinstance(reference, (np.ndarray, *_SEQUENCES)))
    elif isinstance(reference, Record) and reference.kind != "E":
        yield from _records(out, reference, where)
    elif isinstance(reference, Mapping):
        yield from _mappings(out, reference, where)
    elif isinstance(reference, (np.ndarray, *_SEQUENCES)):
        yield from _sequences(out, reference, where)
    elif (ordered := _in_order(out, reference)) is not None:
        yield from _pairs(*ordered, where)
    elif not _same(out, reference):
        yield _wrong(out, reference, where)


def _several(value: Any) -> bool:
    """Whether a list holds arrays, each with a size of its own for what is little in it."""
    return (
        isinstance(value, _SEQUENCES)
        and len(value) <= _FEW
        and any(isinstance(item, np.ndarray) and item.ndim for item in value)
    )


def _lone(value: Any) -> Any:
    """A value that NumPy wraps as Python has it: a text, what a lone array of no numbers holds, fields."""
    if isinstance(value, np.ndarray) and value.dtype.names is not None:
        return {name: value[name] for name in value.dtype.names}
    if isinstance(value, np.ndarray) and not value.ndim and value.dtype.kind not in _NUMBERS:
        value = value[()]
    return value.item() if isinstance(value, (np.str_, np.bytes_)) else value


def _in_order(out: Any, reference: Any) -> tuple[list[Any], list[Any]] | None:
    """Two sets as lists, where the one that is right holds numbers that rounding may move."""
    if not (isinstance(reference, AbstractSet) and isinstance(out, AbstractSet)) or not any(
        isinstance(part, (float, np.floating))
        for item in reference
        for part in (item if isinstance(item, tuple) else (item,))
    ):
        return None
    try:
        return sorted(out), sorted(reference)
    except (TypeError, ArithmeticError):
        return None


def _same(out: Any, reference: Any) -> bool:
    """Whether what is no number is the same: texts, bytes, sets, dates, nothing."""
    if isinstance(reference, AbstractSet):
        return isinstance(out, AbstractSet) and set(out) == set(reference)
    if isinstance(reference, (bytes, bytearray)):
        return isinstance(out, (bytes, bytearray)) and bytes(out) == bytes(reference)
    kinds = (type(reference), type(out))
    try:
        return (kinds[0] is kinds[1] or isinstance(out, type(reference))) and bool(out == reference)
    except (ArithmeticError, ValueError):
        # a signalling NaN
        return False


def _wrong(out: Any, reference: Any, where: str) -> Compared:
    got, expected = described(out), described(reference)
    return Compared(math.inf, where, got, expected, f"{got} instead of {expected}")


def _records(out: Any, reference: Record, where: str) -> Iterator[Compared]:
    fields = dict(reference.fields)
    if isinstance(out, Record):
        out = dict(out.fields)
    if isinstance(out, Mapping):
        yield from _mappings(out, fields, where)
    else:
        yield from _sequences(out, list(fields.values()), where)


def _mappings(out: Any, reference: Mapping[Any, Any], where: str) -> Iterator[Compared]:
    if isinstance(out, Record):
        out = dict(out.fields)
    if not isinstance(out, Mapping):
        yield _wrong(out, reference, where)
        return
    if missing := [key for key in reference if key not in out]:
        yield _only(f"no {missing[0]!r} among {_listed(out)}", where)
    elif extra := [key for key in out if key not in reference]:
        yield _only(f"{extra[0]!r} is not among {_listed(reference)}", where)
    else:
        for key, part in reference.items():
            yield from _pairs(out[key], part, f"{where}[{key!r}]")


def _sequences(out: Any, reference: Any, where: str) -> Iterator[Compared]:
    if isinstance(out, Record) and out.kind != "E":
        out = list(out.fields.values())
    if not isinstance(out, (np.ndarray, *_SEQUENCES)):
        yield _wrong(out, reference, where)
        return
    if len(out) != len(reference):
        yield _only(f"{len(out)} items instead of {len(reference)}", where)
        return
    for index, (mine, part) in enumerate(zip(out, reference, strict=True)):
        yield from _pairs(mine, part, f"{where}[{index}]")


def _only(wrong: str, where: str) -> Compared:
    return Compared(math.inf, where, wrong=wrong)


def as_array(value: Any) -> npt.NDArray[Any] | None:
    """A value as an array of numbers; ``None`` where it is none.

    Args:
        value: An array, a number, or a list of numbers in rank and file that an array holds exactly.
    """
    if isinstance(value, np.ndarray):
        return value if value.dtype.kind in _NUMBERS else None
    if isinstance(value, _NUMBER):
        made = np.asarray(value)
        return made if made.dtype.kind in _NUMBERS else None
    if isinstance(value, _SEQUENCES) and value and _numeric(value):
        try:
            made = np.asarray(list(value))
        except (ValueError, OverflowError):
            return None
        rounded = made.dtype.kind in "fc" and _rounds(value)
        return made if made.dtype.kind in _NUMBERS and not rounded else None
    return None


def _as_answer(out: Any, reference: npt.NDArray[Any]) -> npt.NDArray[Any] | None:
    """An answer as an array to be held against one: also a fraction, and a list of nothing."""
    if isinstance(out, (Fraction, Decimal)):
        try:
            out = float(out)
        except (ArithmeticError, ValueError):
            return None
    if isinstance(out, _SEQUENCES) and not out and reference.ndim and not len(reference):
        return reference
    return as_array(out)


def _numeric(values: Sequence[Any], depth: int = 0) -> bool:
    """Whether a list holds numbers alone, or lists of them."""
    return depth < 8 and all(
        isinstance(v, _NUMBER)
        or (isinstance(v, np.ndarray) and v.dtype.kind in _NUMBERS)
        or (isinstance(v, _SEQUENCES) and _numeric(v, depth + 1))
        for v in values
    )


def _rounds(values: Sequence[Any]) -> bool:
    """Whether whole numbers among others are too large for floats."""
    return any(
        _rounds(v) if isinstance(v, _SEQUENCES) else isinstance(v, (int, np.integer)) and abs(int(v)) > _WHOLE
        for v in values
    )


def _arrays(out: npt.NDArray[Any], reference: npt.NDArray[Any], where: str, *, scalar: bool) -> Compared:
    if out.shape != reference.shape:
        if scalar and out.size == 1:
            out = out.reshape(())
        else:
            return _only(f"shape {_shape(out)} instead of {_shape(reference)}", where)
    if out.size == 0:
        return Compared()
    errors = _errors(out, reference)
    at = int(np.argmax(np.where(np.isnan(errors), np.inf, errors)))
    index = np.unravel_index(at, reference.shape)
    place = where + (f"[{', '.join(map(str, map(int, index)))}]" if index else "")
    return Compared(float(errors.flat[at]), place, *_apart(out[index], reference[index]))


def _apart(out: Any, reference: Any) -> tuple[str, str]:
    """Two numbers in words, with as many digits as tell them apart."""
    short = described(out), described(reference)
    return short if short[0] != short[1] else (repr(out.item()), repr(reference.item()))


def _errors(out: npt.NDArray[Any], reference: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """The error of every entry: 0 for what is exact, NaN where one side alone has a NaN."""
    if reference.dtype.kind not in "fc" and out.dtype.kind not in "fc":
        return np.where(out == reference, 0.0, np.inf)
    if reference.dtype.kind in "iub":
        # whole numbers stay so, whatever they are kept in
        return np.where((out == reference) & ~_too_wide(out, reference), 0.0, np.inf)
    wide = np.complex128 if "c" in (out.dtype.kind, reference.dtype.kind) else np.float64
    mine, truth = out.astype(wide), reference.astype(wide)
    odd = ~np.isfinite(truth) | ~np.isfinite(mine)
    same = (mine == truth) | (np.isnan(mine) & np.isnan(truth))
    finite = np.where(np.isfinite(truth), truth, 0.0)
    peak = float(np.abs(finite).max(initial=0.0)) or 1.0
    # in units of the largest, so that nothing overflows or vanishes
    unit = finite / peak
    scale = np.abs(unit) + float(np.sqrt(np.mean(np.abs(unit) ** 2)))
    scale = np.where(scale > 0, scale, 1.0)
    error = np.abs(np.where(odd, 0.0, mine / peak - unit)) / scale
    return np.where(odd, np.where(same, 0.0, np.nan), error)


def _too_wide(out: npt.NDArray[Any], reference: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Where floats are not the whole numbers that they seem, those being too large for them."""
    found = np.zeros(reference.shape, np.bool_)
    if reference.dtype.kind in "iu":
        for at in map(tuple, np.argwhere((reference > _WHOLE) | (reference < -_WHOLE))):
            value = complex(out[at])
            found[at] = not math.isfinite(value.real) or int(value.real) != int(reference[at])
    return found


def _shape(array: npt.NDArray[Any]) -> str:
    return str(tuple(int(n) for n in array.shape))


def described(value: Any) -> str:
    """A value in a few words."""
    if isinstance(value, np.ndarray) and value.ndim:
        return f"an array of shape {_shape(value)}, {value.dtype}"
    if isinstance(value, (float, np.floating)):
        return f"{float(value):.6g}"
    if isinstance(value, (list, tuple, set, frozenset, dict)) and len(value) > 8:
        return f"a {type(value).__name__} of {len(value)}"
    if isinstance(value, Record):
        return value.name
    if isinstance(value, int) and value.bit_length() > _MANY_BITS:
        return f"a whole number of {value.bit_length()} bits that ends in {abs(value) % 1_000_000:06}"
    try:
        text = repr(value.item() if isinstance(value, np.generic) else value)
    except ValueError:
        # numbers in it are too long to be written
        text = f"a {type(value).__name__}"
    return text if len(text) <= _LONG else f"{text[:_LONG]}…"


def _listed(keys: Mapping[Any, Any]) -> str:
    shown = ", ".join(map(repr, list(keys)[:6]))
    return f"{shown}, …" if len(keys) > 6 else shown or "nothing"
