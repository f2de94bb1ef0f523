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
from .answers import Answers
from .beside import data_beside
from .bfloat16 import dtype_named, widened
from .capture import Capture, sendable
from .context import Context
from .each import for_each
from .load import Library
from .raising import told
from .replacing import copied, replaced
from .scripted import models, targets
from .series import repeat
from .strides import read_as
from .values import (
    BadValueError,
    alike,
    array_of,
    owner_of,
    plain,
    poisoned,
    refill,
    shape_text,
    share_memory,
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
        self.kept: dict[int, Any] = {}
        self.answers = Answers()
        self._fds: list[int] = []
        self._suite: Suite | None = None
        self.ask: Callable[[bytes], Mapping[str, Any]] = _nobody
        self.border: Border | None = None
        self._laid_out: set[Path] = set()

    def handle(self, request: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        """Carry out one request; whatever goes wrong is told in the reply."""
        # Arrays that came along have a descriptor each, before those of the request itself.
        first = request.get("first", ())
        self._fds = fds
        captured = Capture()
        reply: dict[str, Any]
        try:
            with contextlib.redirect_stdout(captured), contextlib.redirect_stderr(captured):
                self.answers.before(request["op"])
                self._keep(first)
                self._fds = fds[len(first) :]
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

        beside = socket.socket(fileno=os.dup(self._fds[0]))
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

        call = self._callable(request["file"], "reference") if request["reference"] else asked(self.ask)
        self._callable(request["file"], request["name"])(call, np.random.default_rng(request["seed"]))
        return {}

    def op_put(self, request: dict[str, Any]) -> dict[str, Any]:
        """Keep values."""
        self._keep(request["values"])
        return {}

    def _keep(self, values: list[Any]) -> None:
        for value in values:
            self.kept[value["keep"]] = self._decoded(value["value"])

    def op_drop(self, request: dict[str, Any]) -> dict[str, Any]:
        """Forget kept values."""
        for number in request["handles"]:
            self.kept.pop(number, None)
        # Cycles among young objects; of old ones that are no GPU's the next trace gets rid.
        gc.collect(1 if self.module == "numpy" else 2)
        self.arrays.release()
        if request.get("trim"):
            heap.give_back()
        return {}

    def op_call(self, request: dict[str, Any]) -> dict[str, Any]:
        """Call a function, class or method; keep its result; reply with its tree and the counters."""
        function, method = self._decoded(request["target"]), request.get("method")
        if each := request.get("each"):
            places, keys = each["args"], each["kwargs"]
            function = for_each(function, places, keys, each["leading"], each["count"], method=method)
        elif method:
            function = getattr(function, method)
        args = [self._decoded(value) for value in request["args"]]
        kwargs = {name: self._decoded(value) for name, value in request.get("kwargs", {}).items()}
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
            result = self.kept[request["keep"]] = result if framework is None else framework.back(result)
            self.answers.take(self.kept, request.get("answers", ()))
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
                function = self._decoded(call["target"])
                if method := call.get("method"):
                    function = getattr(function, method)
                args = [self._decoded(value) for value in call["args"]]
                kwargs = {name: self._decoded(value) for name, value in call["kwargs"].items()}
                yield function, args, kwargs, call["keep"]

        done, error = repeat(decoded, self.kept, request["times"])
        return {"done": done, **({} if error is None else {"ended": self._told(error)})}

    @contextlib.contextmanager
    def _patched(self, patches: list[Any]) -> Iterator[None]:
        """Attributes of modules and classes replaced for as long as a call lasts."""
        with contextlib.ExitStack() as stack:
            for target, name, value in patches:
                owner = self._decoded(target)
                own = vars(owner)
                # The raw attribute: getattr would unwrap a static method.
                undo = (setattr, owner, name, own[name]) if name in own else (delattr, owner, name)
                setattr(owner, name, self._decoded(value))
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
        """Set an attribute of a kept object (or a key of a dict), or of something in the submission."""
        target, value = self._decoded(request["target"]), self._decoded(request["value"])
        if isinstance(target, dict):
            target[request["name"]] = value
        else:
            setattr(target, request["name"], value)
        return {}

    def op_describe(self, request: dict[str, Any]) -> dict[str, Any]:
        """Describe a kept object again."""
        return {"tree": describe.describe(self._decoded(request["of"]))}

    def op_settable(self, request: dict[str, Any]) -> dict[str, Any]:
        """Describe the properties of a kept object that can be assigned to."""
        return {"parts": describe.settable(self._decoded(request["of"]))}

    def op_leaves(self, request: dict[str, Any]) -> dict[str, Any]:
        """List arrays and scalars under an object, and which of the named inputs they share memory with."""
        inputs = {name: self._decoded(value) for name, value in request.get("inputs", {}).items()}
        found: list[dict[str, Any]] = []
        seen: list[tuple[int, Any]] = []
        for path, value in describe.leaves(self._decoded(request["of"])):
            entry = {"path": path, **describe.describe(value, depth=0)}
            if isinstance(value, (list, tuple)):
                whole = np.asarray(arrays.hosted(value))
                entry = {
                    "path": path,
                    "kind": "list",
                    "shape": list(whole.shape),
                    "dtype": str(whole.dtype),
                    "nbytes": whole.nbytes,
                }
            if arrays.is_array(value):
                entry["inputs"] = [name for name, other in inputs.items() if share_memory(value, other)]
                entry["same_as"] = next((index for index, other in seen if share_memory(value, other)), None)
                seen.append((len(found), value))
                owner = owner_of(value)
                entry["base"], entry["base_nbytes"] = id(owner), owner.nbytes
            found.append(entry)
        return {"leaves": found[:512]}

    def op_footprint(self, request: dict[str, Any]) -> dict[str, Any]:
        """Bytes of all that an object keeps: memory behind several views once, and 8 for a Python float."""
        owners: dict[int, int] = {}
        floats = 0
        for _path, value in describe.leaves(self._decoded(request["of"])):
            if arrays.is_array(value):
                owner = owner_of(value)
                owners[id(owner)] = owner.nbytes
            elif isinstance(value, (list, tuple)):
                floats += np.asarray(arrays.hosted(value)).nbytes
            elif isinstance(value, (float, np.floating)):
                floats += 8
        return {"bytes": floats + sum(owners.values())}

    def op_fill(self, request: dict[str, Any]) -> dict[str, Any]:
        """Overwrite an array in place: with values, or NaN (integers: a huge value); a list: its items."""
        array, value = self._decoded(request["of"]), self._decoded(request["value"])
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
        value, path = self._decoded(request["of"]), request["path"]
        old = describe.locate(value, path)
        new = poisoned(old) if "poison" in request else self._decoded(request["value"])
        if "scale" in request:
            new = old * request["scale"] + request["shift"]
        self.kept[request["keep"]] = replaced(value, path, new)
        return {}

    def op_copy(self, request: dict[str, Any]) -> dict[str, Any]:
        """Keep a deep copy of an object."""
        self.kept[request["keep"]] = copied(self._decoded(request["of"]))
        return {}

    def op_fetch(self, request: dict[str, Any]) -> dict[str, Any]:
        """Copy an array into the attached memfd, as the dtype and shape that the trusted side expects."""
        value = self._decoded(request["of"])
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
            with mmap.mmap(self._fds[0], size) as buffer:
                np.frombuffer(buffer, dtype=dtype).reshape(shape)[...] = array
        return {"dtype": str(array.dtype)}

    def op_carry(self, request: dict[str, Any]) -> dict[str, Any]:
        """Any value, exactly, where it crosses by value; keep its large arrays, to be fetched one by one."""
        from .border.answered import Answered
        from .border.codec import TooMuchError

        encoder = Answered(far=request["far"], most=request["parts"])
        try:
            data = encoder.encode(arrays.hosted(self._decoded(request["of"])))
        except (TooMuchError, TypeError) as error:
            raise BadValueError(str(error).replace(" does not", ", which does not")) from error
        self.kept[request["keep"]] = encoder.apart
        return {"value": data}

    def op_value(self, request: dict[str, Any]) -> dict[str, Any]:
        """Plain data of an object: numbers, texts, lists and dicts."""
        return {"value": plain(self._decoded(request["of"]))}

    def _decoded(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._decoded(item) for item in value]
        if not isinstance(value, dict):
            return value
        if "$h" in value:
            number, path = value["$h"], value.get("path", [])
            return self.answers.at(number, path, lambda: describe.locate(self.kept[number], path))
        if "$a" in value:
            return self._array(value)
        if "$l" in value:
            array = self._decoded(value["$l"])
            return array.tolist() if arrays.is_array(array) else array
        if "$t" in value:
            return tuple(self._decoded(item) for item in value["$t"])
        if "$c" in value:
            return Context({key: self._decoded(item) for key, item in value["$c"].items()})
        return self._made(value)

    def _made(self, value: dict[str, Any]) -> Any:
        """What is made here of what stands on the wire."""
        if "$v" in value:
            return self._carried(value["$v"])
        if "$d" in value:
            return getattr(np, value["$d"])
        if "$g" in value:
            return self.library.namespaces["numpy"].random.default_rng(value["$g"])
        if "$m" in value:
            # The model's tables are ours, and stay on the host.
            spec = arrays.hosted({key: self._decoded(item) for key, item in value["$m"].items()})
            return models.build(spec, targets.Target if spec.get("masked") else models.Model)
        if "$f" in value:
            return self._callable(value["$f"]["file"], value["$f"]["name"])
        return {key: self._decoded(item) for key, item in value.items()}

    def _carried(self, data: bytes) -> Any:
        from .border.codec import decode
        from .border.records import made

        return decode(data, record=made)

    def _array(self, value: dict[str, Any]) -> Any:
        shape, dtype = tuple(value["shape"]), dtype_named(value["dtype"])
        size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        if size == 0:
            return arrays.moved(read_as(np.empty(shape, dtype), value))
        # Private: older kernels refuse any shared mapping of a memfd that is sealed against writing.
        with mmap.mmap(self._fds[value["$a"]], size, mmap.MAP_PRIVATE, mmap.PROT_READ) as buffer:
            return arrays.moved(read_as(np.frombuffer(buffer, dtype=dtype).reshape(shape).copy(), value))

    def _callable(self, file: str, name: str) -> Any:
        found: Any = self.library.module(file)
        for part in name.split(".") if name else ():
            found = getattr(found, part)
        return found

    def _told(self, error: BaseException) -> dict[str, Any]:
        return told(error, self.root, self.library.adapter, self.module)
