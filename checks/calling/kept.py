"""Objects that a worker keeps: hand values over, look at them, change copies of them, copy arrays out.

Shapes and dtypes come from the caller, never from a reply; a reply's descriptions serve
binding and evidence.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.calling.connection import Connection, mapping
from judge_tui.checks.calling.handover import Buffer, Handed, Handle, Packer, Steps, Target
from judge_tui.checks.faults import BadResult
from judge_tui.checks.worker import wire
from judge_tui.checks.worker.border.codec import Far, MalformedError, decode

__all__ = ["KeptObjects"]

#: Bytes of arrays that go along with a request; more of them are handed over before its clock starts.
_ALONG = 64 << 10
_PUT_SECONDS = 20.0
#: Items of a value that is carried over at most.
_MOST_PARTS = 2_000_000
#: Bytes of one array that are copied out at most.
_MOST_FETCHED = 2 << 30
#: Requests after which what the last call gave is what it was.
_LOOKS = frozenset({"describe", "fetch", "footprint", "leaves", "put", "value"})


class KeptObjects(Connection):
    """The requests that are about kept objects; see :class:`~judge_tui.checks.calling.remote.Worker`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._handed = Handed()
        #: What the last call gave, and its description, as long as nothing was called since.
        self._gave: tuple[int, Mapping[str, Any]] = (0, {})
        super().__init__(*args, **kwargs)

    def close(self) -> None:
        """Kill the process and everything that it started."""
        with self._handed.pack:
            self._handed = Handed()
        super().close()

    def put(self, value: Any, *, budget: float = 20.0) -> Handle:
        """Keep a value in the worker; arrays are handed over as fresh, writable, C-contiguous copies.

        An array is taken as it is now, and goes along with the next request: most of them are followed by a
        call that takes them.
        """
        keep = next(self._numbers)
        if isinstance(value, np.ndarray):
            if len(self._handed.values) >= wire.MAX_FDS:
                self.flush()
            self._handed.add(keep, value)
            return Handle(keep)
        with Packer() as pack:
            body = {"op": "put", "values": [{"keep": keep, "value": pack(value)}]}
            self._request(body, budget, pack.fds)
        return Handle(keep)

    def flush(self) -> None:
        """Hand over what waits for the next request, so that the time of that is its own."""
        handed, self._handed = self._handed, Handed()
        if handed.values:
            with handed.pack as pack:
                super()._request({"op": "put", "values": handed.values}, _PUT_SECONDS, pack.fds)

    def _request(self, body: Mapping[str, Any], budget: float, fds: Sequence[int] = ()) -> dict[str, Any]:
        """One request, and what waits for it: before it where the copying would show in its time."""
        if body["op"] not in _LOOKS:
            self._gave = 0, {}
        if self._handed.nbytes > _ALONG or len(self._handed.values) + len(fds) > wire.MAX_FDS:
            self.flush()
        if not self._handed.values:
            return super()._request(body, budget, fds)
        handed, self._handed = self._handed, Handed()
        with handed.pack as pack:
            return super()._request({**body, "first": handed.values}, budget, (*pack.fds, *fds))

    def drop(self, *handles: Handle, trim: bool = False) -> None:
        """Forget kept objects.

        Args:
            handles: Theirs.
            trim: Give what is free back to the kernel as well, before its count of the process is read.
        """
        self._request({"op": "drop", "handles": [handle.id for handle in handles], "trim": trim}, 20.0)

    def slot(self) -> Handle:
        """A handle that stands for nothing yet: the result of a call of a series."""
        return Handle(next(self._numbers))

    def set(self, target: Target | Handle, name: str, value: Any, *, within: bool = False) -> None:
        """Set an attribute of a kept object, or patch a module or class of the submission.

        Args:
            target: Whose.
            name: The attribute's.
            value: What it is from now on.
            within: An array that is there stays, and gets the numbers of the new one.
        """
        with Packer() as pack:
            body = {"op": "set", "target": pack(target), "name": name, "value": pack(value), "within": within}
            self._request(body, 20.0, pack.fds)

    def describe(self, handle: Handle) -> Mapping[str, Any]:
        """The tree of a kept object as it is now."""
        if known := self._known(handle):
            return known
        with Packer() as pack:
            return mapping(self._request({"op": "describe", "of": pack(handle)}, 20.0).get("tree"))

    def settable(self, handle: Handle) -> list[tuple[str, Mapping[str, Any]]]:
        """Names and trees of the properties of a kept object that can be assigned to."""
        with Packer() as pack:
            parts = self._request({"op": "settable", "of": pack(handle)}, 20.0).get("parts")
        listed = parts if isinstance(parts, list) else []
        return [(str(p[1]), mapping(p[2])) for p in listed if isinstance(p, list) and len(p) == 3]

    def _known(self, handle: Handle) -> Mapping[str, Any] | None:
        """An array's description where the reply of the last call held it already."""
        number, tree = self._gave
        if handle.id != number:
            return None
        for kind, key in handle.path:
            parts = tree.get("parts")
            listed = parts if isinstance(parts, list) else []
            found = (part[-1] for part in listed if isinstance(part, list) and part[:2] == [kind, key])
            tree = mapping(next(found, None))
        return tree if tree.get("kind") == "array" else None

    def leaves(self, handle: Handle, inputs: Mapping[str, Handle] | None = None) -> list[Mapping[str, Any]]:
        """Arrays and scalars under an object: ``path``, ``kind``, ``shape``, ``dtype``, ``nbytes``, ….

        Args:
            handle: The object.
            inputs: Named arrays; an entry's ``inputs`` names those that it shares memory with.
        """
        with Packer() as pack:
            named = {name: pack(value) for name, value in (inputs or {}).items()}
            reply = self._request({"op": "leaves", "of": pack(handle), "inputs": named}, 30.0)
        found = reply.get("leaves")
        return [mapping(entry) for entry in found] if isinstance(found, list) else []

    def poisoned(self, handle: Handle, path: Steps) -> Handle:
        """A copy of an object with the part at ``path`` replaced by NaN (integers: a huge value)."""
        return self._replace(handle, path, poison=True)

    def perturbed(self, handle: Handle, path: Steps, *, scale: float, shift: float) -> Handle:
        """A copy of an object whose part at ``path`` is ``part * scale + shift``."""
        return self._replace(handle, path, scale=scale, shift=shift, value=None)

    def footprint(self, handle: Handle) -> int:
        """Bytes of the arrays and floats that an object keeps; what several views share counts once."""
        with Packer() as pack:
            told = self._request({"op": "footprint", "of": pack(handle)}, 30.0).get("bytes")
        return told if isinstance(told, int) else 0

    def fill(self, handle: Handle, value: float | npt.NDArray[Any] | list[Any] | None = None) -> None:
        """Overwrite a kept array or list in place, seen through every view of it.

        Args:
            handle: The array.
            value: What to write; NaN (integers: a huge value) when left out.
        """
        with Packer() as pack:
            self._request({"op": "fill", "of": pack(handle), "value": pack(value)}, 20.0, pack.fds)

    def substituted(self, handle: Handle, path: Steps, value: Any) -> Handle:
        """A copy of an object whose part at ``path`` is ``value``."""
        return self._replace(handle, path, value=value)

    def copied(self, handle: Handle) -> Handle:
        """A deep copy of an object."""
        keep = next(self._numbers)
        with Packer() as pack:
            self._request({"op": "copy", "keep": keep, "of": pack(handle)}, 20.0)
        return Handle(keep)

    def _replace(self, handle: Handle, path: Steps, *, value: Any = None, **how: Any) -> Handle:
        keep = next(self._numbers)
        with Packer() as pack:
            body = {
                "op": "replace",
                "keep": keep,
                "of": pack(handle),
                "path": [list(step) for step in path],
                "value": pack(value),
                **how,
            }
            self._request(body, 30.0, pack.fds)
        return Handle(keep)

    def fetch(
        self, handle: Handle, shape: Sequence[int], dtype: npt.DTypeLike = np.float64, *, loose: bool = False
    ) -> npt.NDArray[Any]:
        """Copy an array out.

        Args:
            handle: Where it is.
            shape: The shape that the contract asks for.
            dtype: Wire dtype: ``float64`` for floating point (exact for narrower types), ``int64``, ``bool``.
            loose: Whether axes of length one do not matter, and a flat array will do.

        Returns:
            A private copy; the worker cannot change it any more.

        Raises:
            BadResult: Not an array of numbers of that shape, or bytes that were never written.
        """
        count = math.prod(shape) * np.dtype(dtype).itemsize
        if count > _MOST_FETCHED:
            raise BadResult(
                f"answered with an array of {count:,} bytes, of which at most {_MOST_FETCHED:,} are read"
            )
        with Buffer(shape, np.dtype(dtype)) as out, Packer() as pack:
            body = {
                "op": "fetch",
                "of": pack(handle),
                "shape": out.shape,
                "dtype": out.dtype.str,
                "loose": loose,
            }
            self._request(body, 60.0, (out.fd,))
            return out.array()

    def carried(self, handle: Handle | Target, *, most: int = _MOST_FETCHED, parts: int = _MOST_PARTS) -> Any:
        """A value, exactly as it is: scalars, texts, arrays, containers and records of them.

        Args:
            handle: Where it is.
            most: Bytes of its large arrays that are copied out, all together.
            parts: Items that it may have, in all that it holds.

        Raises:
            BadResult: It does not cross by value, or is larger.
        """
        keep = next(self._numbers)
        with Packer() as pack:
            asked = {"op": "carry", "of": pack(handle), "keep": keep, "far": _ALONG, "parts": parts}
            reply = self._request(asked, 60.0)
        left = most

        def fetched(far: Far) -> npt.NDArray[Any]:
            nonlocal left
            left -= far.nbytes
            if left < 0:
                raise BadResult(f"answered with arrays of more than {most:,} bytes")
            return self.fetch(Handle(keep, (("i", far.index),)), far.shape, far.dtype)

        try:
            value = decode(reply["value"], far=fetched)
        except MalformedError as error:
            raise BadResult(f"answered with {error}") from error
        finally:
            if left < most and self.alive:
                self.drop(Handle(keep))
        return value

    def value(self, handle: Handle) -> Any:
        """Plain data of an object: numbers, texts, lists and dicts."""
        with Packer() as pack:
            return self._request({"op": "value", "of": pack(handle)}, 30.0).get("value")
