"""The worker's side of the conversation: keep objects, call the submission, copy bytes out."""

from __future__ import annotations

import contextlib
import gc
import mmap
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from . import arrays, describe, heap, namespace, places
from .beside import data_beside
from .bfloat16 import widened
from .capture import Capture, sendable
from .each import for_each
from .holding import footprint, listed
from .load import Library
from .raising import told
from .replacing import copied, replaced
from .scripted import models
from .series import repeat
from .shelf import Shelf
from .values import (
    BadValueError,
    alike,
    array_of,
    plain,
    poisoned,
    refill,
    shape_text,
    writable,
)

if TYPE_CHECKING:
    import socket

    from .frameworks import Framework
    from .suite import Suite

__all__ = ["Session"]


class Border(Protocol):
    """What goes on with the control socket in place of a session."""

    def serve(self, main: socket.socket) -> None:
        """Serve until the engine is gone."""


_TOLD_PLAINLY = (BadValueError, describe.NoPart)


def _nobody(data: bytes) -> Mapping[str, Any]:
    raise BadValueError("nobody to ask")


class Session:
    """Objects of one submission by number, and the operations on them.

    Args:
        root: The submission's folder.
        adapter: An ``adapter.py`` that stands elsewhere.
        module: What the submission gets for NumPy: ``numpy``, or a module with CuPy's interface.
        refused: Modules that it does not get, wherever they are.
    """

    def __init__(
        self,
        root: Path,
        adapter: Path | None = None,
        module: str = "numpy",
        refused: frozenset[str] = frozenset(),
    ) -> None:
        self.root = root
        self.counts = namespace.Counters(arrays.hosted)
        self.module = module
        self.arrays = places.settle(module)
        self.trace = self.arrays.trace()
        self.library = Library(
            root, adapter, namespaces={"numpy": self.arrays.namespace(self.counts)}, refused=refused
        )
        self.shelf = Shelf(self.library)
        self._suite: Suite | None = None
        self.ask: Callable[[bytes], Mapping[str, Any]] = _nobody
        self.border: Border | None = None
        self._laid_out: set[Path] = set()

    def handle(self, request: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        """Carry out one request; whatever goes wrong is told in the reply."""
        # Arrays that came along have a descriptor each, before those of the request itself.
        first = request.get("first", ())
        self.shelf.fds = fds
        captured = Capture()
        reply: dict[str, Any]
        try:
            with contextlib.redirect_stdout(captured), contextlib.redirect_stderr(captured):
                self.shelf.answers.before(request["op"])
                self.shelf.keep(first)
                self.shelf.fds = fds[len(first) :]
                reply = getattr(self, f"op_{request['op']}")(request)
        except _TOLD_PLAINLY as error:
            reply = {"bad": str(error)}
        # Whatever a submission raises, SystemExit and KeyboardInterrupt included.
        except BaseException as error:
            reply = {"raised": self._told(error)}
            if lost := self.arrays.lost():
                reply = {"lost": sendable(lost)}
        finally:
            for fd in fds:
                with contextlib.suppress(OSError):
                    os.close(fd)
        if text := captured.text():
            reply["printed"] = text
        return reply

    def op_load(self, request: dict[str, Any]) -> dict[str, Any]:
        """Import one file; reply with what it defines."""
        self._lay_out(self.root / request["file"])
        module = self.library.module(request["file"])
        missing = {name: sorted(files) for name, files in self.library.missing.items()}
        return {**describe.inventory(module), "missing": missing, "present": self.library.present()}

    def op_edited(self, request: dict[str, Any]) -> dict[str, Any]:
        """Forget everything, and go on as if a file held another source."""
        self.shelf = Shelf(self.library)
        self.library.begin_anew(request["file"], request["source"].encode())
        return {}

    def _lay_out(self, file: Path) -> None:
        """Lay the data beside a script where it looks for it, as if it were run in its own folder."""
        folder = file.parent
        if folder not in self._laid_out and folder.is_dir() and not Path.cwd().samefile(folder):
            data_beside(folder)
        self._laid_out.add(folder)

    def op_script(self, request: dict[str, Any]) -> dict[str, Any]:
        """Run a file as ``__main__``."""
        try:
            self.library.run_main(request["file"])
        except SystemExit as error:
            if error.code not in (None, 0):
                raise
        return {}

    def op_move(self, request: dict[str, Any]) -> dict[str, Any]:
        """Go on in a writable copy of the submission, before anything was imported, where there is room."""
        # Here and below: what few processes need costs the start of all of them nothing.
        from .copies import writable_copy

        try:
            copy = writable_copy(self.root)
            os.chdir(copy)
        except OSError as error:
            return {"moved": False, "reason": str(error)}
        self.root = copy
        self.library.move(copy)
        return {"moved": True}

    def op_collect(self, request: dict[str, Any]) -> dict[str, Any]:
        """Collect the tests of a file with pytest; reply with them, or with why pytest cannot."""
        from .suite import Suite

        if self._suite is None:
            try:
                self._suite = Suite(self.library, self._told, hooks=request.get("hooks", True))
            except Exception as error:
                return {"without": self._told(error)}
        return self._suite.collect(request["file"])

    def op_test(self, request: dict[str, Any]) -> dict[str, Any]:
        """Run one of the tests that were collected last; reply with what came of it."""
        if self._suite is None:
            raise BadValueError("no test was collected")
        return self._suite.run(request["index"])

    def op_border(self, request: dict[str, Any]) -> dict[str, Any]:
        """From now on answer for a border: of the submission, or (``tests``) of a challenge's author."""
        import socket

        beside = socket.socket(fileno=os.dup(self.shelf.fds[0]))
        if request.get("tests"):
            from .border.trials import Trials

            self.border = Trials(self.root, beside, self.library)
        else:
            from .border.serving import Serving

            self.border = Serving(self.library, beside, request["entry"], request["seed"])
        return {}

    def op_outline(self, request: dict[str, Any]) -> dict[str, Any]:
        """What the test files of a challenge hold; nothing else is asked of this process afterwards."""
        from .border.outline import outline

        return outline(self.root, self.library)

    def op_claim(self, request: dict[str, Any]) -> dict[str, Any]:
        """Run a claim about a function that is here, or about one whose calls the engine carries."""
        from .border.asking import asked

        call = self.shelf.callable(request["file"], "reference") if request["reference"] else asked(self.ask)
        self.shelf.callable(request["file"], request["name"])(call, np.random.default_rng(request["seed"]))
        return {}

    def op_put(self, request: dict[str, Any]) -> dict[str, Any]:
        """Keep values."""
        self.shelf.keep(request["values"])
        return {}

    def op_drop(self, request: dict[str, Any]) -> dict[str, Any]:
        """Forget kept values."""
        for number in request["handles"]:
            self.shelf.kept.pop(number, None)
        # Cycles among young objects; of old ones that are no GPU's the next trace gets rid.
        gc.collect(1 if self.module == "numpy" else 2)
        self.arrays.release()
        if request.get("trim"):
            heap.give_back()
        return {}

    def op_call(self, request: dict[str, Any]) -> dict[str, Any]:
        """Call a function, class or method; keep its result; reply with its tree and the counters."""
        function, method = self.shelf.decoded(request["target"]), request.get("method")
        if each := request.get("each"):
            places, keys = each["args"], each["kwargs"]
            function = for_each(function, places, keys, each["leading"], each["count"], method=method)
        elif method:
            function = getattr(function, method)
        args = [self.shelf.decoded(value) for value in request["args"]]
        kwargs = {name: self.shelf.decoded(value) for name, value in request.get("kwargs", {}).items()}
        counters: dict[str, Any] = {}
        framework = self._framework(function)
        if framework is not None:
            args, kwargs = framework.given(args), framework.given(kwargs)
            counters["handed"] = framework.told
        models.asked()
        if (seed := request.get("seeded")) is not None:
            from .seeding import seed_all

            seed_all(seed)
        with self._patched(request.get("patches", [])), self._watched(request, counters, args, kwargs):
            result = function(*args, **kwargs)
            result = self.shelf.kept[request["keep"]] = (
                result if framework is None else framework.back(result)
            )
            self.shelf.answers.take(self.shelf.kept, request.get("answers", ()))
        counters.update(models.asked())
        return {"tree": describe.describe(result), "counters": counters}

    def _framework(self, function: Any) -> Framework | None:
        """The framework whose arrays a callable takes, where the challenge lets one in."""
        if "torch" not in sys.modules and "jax" not in sys.modules:
            return None
        from .frameworks import taken_by

        return taken_by(function)

    def op_series(self, request: dict[str, Any]) -> dict[str, Any]:
        """Make calls over and over; reply with how often, and with what ended it."""

        def decoded() -> Iterator[Any]:
            for call in request["calls"]:
                function = self.shelf.decoded(call["target"])
                if method := call.get("method"):
                    function = getattr(function, method)
                args = [self.shelf.decoded(value) for value in call["args"]]
                kwargs = {name: self.shelf.decoded(value) for name, value in call["kwargs"].items()}
                yield function, args, kwargs, call["keep"]

        done, error = repeat(decoded, self.shelf.kept, request["times"])
        return {"done": done, **({} if error is None else {"ended": self._told(error)})}

    @contextlib.contextmanager
    def _patched(self, patches: list[Any]) -> Iterator[None]:
        """Attributes of modules and classes replaced for as long as a call lasts."""
        with contextlib.ExitStack() as stack:
            for target, name, value in patches:
                owner = self.shelf.decoded(target)
                own = vars(owner)
                # The raw attribute: getattr would unwrap a static method.
                undo = (setattr, owner, name, own[name]) if name in own else (delattr, owner, name)
                setattr(owner, name, self.shelf.decoded(value))
                stack.callback(*undo)
            yield

    @contextlib.contextmanager
    def _watched(
        self, request: dict[str, Any], counters: dict[str, Any], args: list[Any], kwargs: dict[str, Any]
    ) -> Iterator[None]:
        if request.get("memory"):
            self.trace.start()
        if request.get("count"):
            self.counts.start()
            tracked = self.arrays.tracked
            args[:] = [tracked(value, self.counts) for value in args]
            kwargs.update({name: tracked(value, self.counts) for name, value in kwargs.items()})
        before = time.perf_counter()
        try:
            with self.arrays.clocked(counters):
                before = time.perf_counter()
                yield
        finally:
            counters["seconds"] = time.perf_counter() - before
            if request.get("count"):
                counters.update(self.counts.stop())
            if request.get("memory"):
                counters["peak_bytes"] = self.trace.stop()
                counters["held_bytes"] = self.trace.held

    def op_set(self, request: dict[str, Any]) -> dict[str, Any]:
        """Set an attribute of a kept object (or a key of a dict), or of something in the submission.

        An array takes the place of nested lists as nested lists; ``within`` fills the array that is there.
        """
        target, value = self.shelf.decoded(request["target"]), self.shelf.decoded(request["value"])
        name, keyed = request["name"], isinstance(target, dict)
        if arrays.is_array(value):
            before: Any = target.get(name) if keyed else getattr(target, name, None)
            if request.get("within") and arrays.is_array(before) and before.shape == value.shape:
                before[...] = value
                return {}
            value = value.tolist() if isinstance(before, list) else value
        if keyed:
            target[name] = value
        else:
            setattr(target, name, value)
        return {}

    def op_describe(self, request: dict[str, Any]) -> dict[str, Any]:
        """Describe a kept object again."""
        return {"tree": describe.describe(self.shelf.decoded(request["of"]))}

    def op_settable(self, request: dict[str, Any]) -> dict[str, Any]:
        """Describe the properties of a kept object that can be assigned to."""
        return {"parts": describe.settable(self.shelf.decoded(request["of"]))}

    def op_leaves(self, request: dict[str, Any]) -> dict[str, Any]:
        """List arrays and scalars under an object, and which of the named inputs they share memory with."""
        inputs = {name: self.shelf.decoded(value) for name, value in request.get("inputs", {}).items()}
        return {"leaves": listed(self.shelf.decoded(request["of"]), inputs)}

    def op_footprint(self, request: dict[str, Any]) -> dict[str, Any]:
        """Bytes of all that an object keeps."""
        return {"bytes": footprint(self.shelf.decoded(request["of"]))}

    def op_fill(self, request: dict[str, Any]) -> dict[str, Any]:
        """Overwrite an array in place: with values, or NaN (integers: a huge value); a list: its items."""
        array, value = self.shelf.decoded(request["of"]), self.shelf.decoded(request["value"])
        if isinstance(array, list) and isinstance(value, list):
            refill(array, value)
            return {}
        if not arrays.is_array(array):
            raise BadValueError("no array to fill")
        with writable(array):
            array[...] = poisoned(array) if value is None else value
        return {}

    def op_replace(self, request: dict[str, Any]) -> dict[str, Any]:
        """Keep a copy of an object with one part replaced: by a value, by NaN, or scaled and shifted."""
        value, path = self.shelf.decoded(request["of"]), request["path"]
        old = describe.locate(value, path)
        new = poisoned(old) if "poison" in request else self.shelf.decoded(request["value"])
        if "scale" in request:
            new = old * request["scale"] + request["shift"]
        self.shelf.kept[request["keep"]] = replaced(value, path, new)
        return {}

    def op_copy(self, request: dict[str, Any]) -> dict[str, Any]:
        """Keep a deep copy of an object."""
        self.shelf.kept[request["keep"]] = copied(self.shelf.decoded(request["of"]))
        return {}

    def op_fetch(self, request: dict[str, Any]) -> dict[str, Any]:
        """Copy an array into the attached memfd, as the dtype and shape that the trusted side expects."""
        value = self.shelf.decoded(request["of"])
        shape, dtype = tuple(request["shape"]), np.dtype(request["dtype"])
        if value is None:
            raise BadValueError("None instead of an array")
        array = widened(array_of(value))
        if array.dtype.kind not in "fiub":
            later = hasattr(type(value), "__next__") or hasattr(type(value), "__await__")
            told = f"a {type(value).__name__}" if later else f"dtype {array.dtype}"
            raise BadValueError(f"{told} instead of numbers")
        if array.dtype.kind == "f" and dtype.kind in "iub":
            raise BadValueError(f"dtype {array.dtype} instead of integers")
        if request.get("loose") and alike(array.shape, shape):
            array = array.reshape(shape)
        if array.shape != shape:
            raise BadValueError(f"shape {shape_text(array.shape)} instead of {shape_text(shape)}")
        size = dtype.itemsize * array.size
        if size:
            with mmap.mmap(self.shelf.fds[0], size) as buffer:
                np.frombuffer(buffer, dtype=dtype).reshape(shape)[...] = array
        return {"dtype": str(array.dtype)}

    def op_carry(self, request: dict[str, Any]) -> dict[str, Any]:
        """Any value, exactly, where it crosses by value; keep its large arrays, to be fetched one by one."""
        from .border.answered import Answered
        from .border.codec import TooMuchError

        encoder = Answered(far=request["far"], most=request["parts"])
        try:
            data = encoder.encode(arrays.hosted(self.shelf.decoded(request["of"])))
        except (TooMuchError, TypeError) as error:
            raise BadValueError(str(error).replace(" does not", ", which does not")) from error
        self.shelf.kept[request["keep"]] = encoder.apart
        return {"value": data}

    def op_value(self, request: dict[str, Any]) -> dict[str, Any]:
        """Plain data of an object: numbers, texts, lists and dicts."""
        return {"value": plain(self.shelf.decoded(request["of"]))}

    def _told(self, error: BaseException) -> dict[str, Any]:
        return told(error, self.root, self.library.adapter, self.module)
