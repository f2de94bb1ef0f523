"""The double's array: a box round a NumPy array that lets nothing in or out by itself."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from . import cuda
from .names import NAMES

_SAID = (
    "Implicit conversion to a NumPy array is not allowed. "
    "Please use `.get()` to construct a NumPy array explicitly."
)
_PLAIN = (bool, int, float, complex, np.generic)


class ndarray:
    """An array on the device that is none."""

    __hash__ = None
    __array_priority__ = 100

    def __init__(self, shape: Any, dtype: Any = float) -> None:
        self._box(np.empty(shape, dtype), None)

    def _box(self, held: np.ndarray, base: ndarray | None) -> ndarray:
        cuda.Sticky.check()
        self._held, self.base = held, base
        self._memory = cuda.Held(held.nbytes) if base is None else base._memory
        return self

    def get(self) -> np.ndarray:
        """A copy on the host."""
        cuda.Sticky.check()
        return self._held.copy()

    def view(self, dtype: Any = None, type: Any = None) -> ndarray:
        """A view of the same memory, as another dtype or another type of array."""
        held = self._held if dtype is None else self._held.view(dtype)
        return boxed(held, self.base if self.base is not None else self, type or ndarray)

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError(_SAID)

    def __array_ufunc__(self, function: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if any(isinstance(value, np.ndarray) for value in inputs):
            return NotImplemented
        return boxed(getattr(function, method)(*unboxed(inputs), **unboxed(kwargs)))

    def __array_function__(self, function: Any, *_: Any) -> Any:
        raise TypeError(f"no implementation found for '{function.__name__}' on types that are not NumPy's")

    @property
    def flags(self) -> Any:
        return self._held.flags

    @property
    def __cuda_array_interface__(self) -> Any:
        raise AttributeError("the double has no device memory")

    def __getitem__(self, index: Any) -> Any:
        place = within(self._held, indexed(index))
        found = self._held[place]
        if isinstance(found, np.generic):
            # one element is a view as well, and changes with the array
            found = self._held[(*(place if isinstance(place, tuple) else (place,)), Ellipsis)]
        shares = isinstance(found, np.ndarray) and np.may_share_memory(found, self._held)
        return boxed(found, (self.base if self.base is not None else self) if shares else None)

    def __setitem__(self, index: Any, value: Any) -> None:
        cuda.Sticky.check()
        if isinstance(value, (np.ndarray, list, tuple)) and not _advanced(index):
            if isinstance(value, np.ndarray) and value.ndim:
                raise ValueError("non-scalar numpy.ndarray cannot be used for fill")
            if not isinstance(value, np.ndarray):
                raise TypeError(f"Unsupported type {type(value)}")
        self._held[within(self._held, indexed(index))] = unboxed(value)

    def __len__(self) -> int:
        return len(self._held)

    def __iter__(self) -> Any:
        if self._held.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self._held)))

    def __bool__(self) -> bool:
        return bool(self.get())

    def __int__(self) -> int:
        return int(self.get())

    def __float__(self) -> float:
        return float(self.get())

    def __complex__(self) -> complex:
        return complex(self.get())

    def __format__(self, how: str) -> str:
        return format(self.get()[()] if self.ndim == 0 else self.get(), how)

    def __repr__(self) -> str:
        return repr(self._held)

    def __deepcopy__(self, _: Any) -> ndarray:
        return boxed(self.get())

    def __copy__(self) -> ndarray:
        return boxed(self.get())

    def __reduce__(self) -> Any:
        return asarray, (self.get(),)

    def scatter_add(self, index: Any, value: Any) -> None:
        """As :func:`numpy.add.at`."""
        np.add.at(self._held, within(self._held, indexed(index)), unboxed(value))


def boxed(value: Any, base: ndarray | None = None, kind: type[ndarray] = ndarray) -> Any:
    """NumPy's answer as the double's: numbers are arrays without axes; views share the memory of ``base``."""
    if isinstance(value, (np.ndarray, np.generic)):
        made = kind.__new__(kind)
        return made._box(np.asarray(value), base)
    if isinstance(value, (tuple, list)):
        return (
            type(value)(boxed(item, base) for item in value)
            if not hasattr(value, "_fields")
            else tuple(boxed(item) for item in value)
        )
    return value


def unboxed(value: Any) -> Any:
    """What is in the boxes; for the double's own use."""
    if isinstance(value, ndarray):
        cuda.Sticky.check()
        return value._held
    if type(value) in (tuple, list):
        return type(value)(unboxed(item) for item in value)
    if isinstance(value, dict):
        return {key: unboxed(item) for key, item in value.items()}
    return value


def operand(value: Any) -> Any:
    """An operand as CuPy takes it: its arrays, and numbers.

    Raises:
        TypeError: It is neither.
    """
    if isinstance(value, (ndarray, *_PLAIN)) or value is None:
        return unboxed(value)
    raise TypeError(f"Unsupported type {type(value)}")


def indexed(index: Any) -> Any:
    """An index as CuPy takes it: the device's arrays, NumPy's and lists, and slices of numbers alone."""
    for part in index if isinstance(index, tuple) else (index,):
        if isinstance(part, slice):
            for name in ("start", "stop", "step"):
                if isinstance(getattr(part, name), ndarray):
                    raise TypeError(f"slice.{name} must be int or None or have __index__ method: {part}")
    return unboxed(index)


def _advanced(index: Any) -> bool:
    """Whether an index holds arrays or lists, whose values CuPy converts."""
    parts = index if isinstance(index, tuple) else (index,)
    return any(isinstance(part, (ndarray, np.ndarray, list)) for part in parts)


def within(array: np.ndarray, index: Any) -> Any:
    """An index whose arrays of integers wrap round, as they do on the device, where nothing can be raised."""
    parts = index if isinstance(index, tuple) else (index,)
    made: list[Any] = []
    axis = 0
    for place, part in enumerate(parts):
        if part is Ellipsis:
            rest = sum(1 if not _is_mask(p) else p.ndim for p in parts[place + 1 :] if p is not None)
            axis = array.ndim - rest
            made.append(part)
            continue
        wrapped = part
        if part is not None:
            whole = isinstance(part, np.ndarray) and part.dtype.kind in "iu" and part.ndim > 0
            if whole and axis < array.ndim and array.shape[axis]:
                wrapped = part % array.shape[axis]
            axis += part.ndim if _is_mask(part) else 1
        made.append(wrapped)
    return tuple(made) if isinstance(index, tuple) else made[0]


def _is_mask(part: Any) -> bool:
    return isinstance(part, np.ndarray) and part.dtype.kind == "b"


def array(
    obj: Any,
    dtype: Any = None,
    copy: Any = True,
    order: str = "K",
    subok: bool = False,
    ndmin: int = 0,
    *,
    blocking: bool = False,
) -> ndarray:
    """An array of numbers, lists, NumPy's arrays, or lists of the device's arrays, which do not mix."""
    if isinstance(obj, (list, tuple)) and 0 < _on_device(obj) < _leaves(obj):
        raise TypeError(_SAID)
    made = np.array(unboxed(obj), dtype=dtype, order=order, ndmin=ndmin)
    # bfloat16 is told by its name: CuPy has it where ml_dtypes is installed
    if made.dtype.kind not in "biufc" and made.dtype.name != "bfloat16":
        raise ValueError(f"Unsupported dtype {made.dtype}")
    return boxed(made)


def _on_device(values: Any) -> int:
    if isinstance(values, (list, tuple)):
        return sum(map(_on_device, values))
    return int(isinstance(values, ndarray))


def _leaves(values: Any) -> int:
    return sum(map(_leaves, values)) if isinstance(values, (list, tuple)) else 1


def asarray(
    a: Any, dtype: Any = None, order: Any = None, *, copy: Any = None, blocking: bool = False
) -> ndarray:
    """The array itself where it fits."""
    if isinstance(a, ndarray) and dtype in (None, a.dtype) and not copy:
        return a
    return array(a, dtype, order=order or "K")


asanyarray = asarray


def ascontiguousarray(a: Any, dtype: Any = None) -> ndarray:
    """The array itself where it fits."""
    if isinstance(a, ndarray) and dtype in (None, a.dtype) and a.flags.c_contiguous:
        return a
    return boxed(np.ascontiguousarray(unboxed(a), dtype))


def _operator(word: str) -> Callable[..., Any]:
    plain = word.strip("_")
    in_place = plain.startswith("i") and hasattr(operator, f"__{plain}__") and plain not in ("invert",)

    def call(self: ndarray, *others: Any) -> Any:
        if any(isinstance(other, (list, tuple, np.ndarray, str)) for other in others):
            if any(isinstance(other, np.ndarray) for other in others):
                raise TypeError(f"Unsupported type {np.ndarray}")
            return NotImplemented
        result = getattr(self._held, word)(*unboxed(others))
        if result is NotImplemented:
            return result
        return self if in_place else boxed(result)

    return call


def _method(name: str, parameters: list[str] | None) -> Callable[..., Any]:
    variadic = parameters is None or any(each.startswith("*") for each in parameters)

    def call(self: ndarray, *args: Any, **kwargs: Any) -> Any:
        for key in kwargs:
            if parameters is not None and key not in parameters:
                raise TypeError(f"{name}() got an unexpected keyword argument '{key}'")
        if not variadic and len(args) > len(parameters or ()):
            raise TypeError(f"{name}() takes at most {len(parameters or ())} positional arguments")
        if name not in ("reshape", "transpose", "astype", "tolist", "item", "squeeze", "swapaxes", "clip"):
            for value in args:
                if isinstance(value, np.ndarray):
                    raise TypeError(f"Unsupported type {type(value)}")
        out = kwargs.get("out")
        result = getattr(self._held, name)(*unboxed(args), **unboxed(kwargs))
        if isinstance(out, ndarray):
            return out
        if name in ("tolist", "item", "tobytes", "dumps"):
            return result
        shares = isinstance(result, np.ndarray) and np.may_share_memory(result, self._held)
        return boxed(result, (self.base if self.base is not None else self) if shares else None)

    return call


def _attribute(name: str) -> property:
    def get(self: ndarray) -> Any:
        found = getattr(self._held, name)
        return (
            boxed(found, self.base if self.base is not None else self)
            if isinstance(found, np.ndarray)
            else found
        )

    return property(get)


_COMPARISONS = ("__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__")


def _complete() -> None:
    """Give the array every name that CuPy's has, and no other."""
    for name in NAMES["ndarray"]:
        if name in vars(ndarray) or name in ("base", "__class__", "__new__", "__init__", "__dict__"):
            continue
        found = getattr(np.ndarray, name)
        if hasattr(object, name) and name not in _COMPARISONS:
            continue
        if name.startswith("__") and callable(found):
            setattr(ndarray, name, _operator(name))
        elif callable(found):
            setattr(ndarray, name, _method(name, NAMES["ndarray"][name]))
        else:
            setattr(ndarray, name, _attribute(name))


_complete()
