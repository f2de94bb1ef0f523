"""How a calculator is called: which of its parameters mean which size, and what objects they stand in."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from judge_tui.checks.binding.candidates import Routine, callables
from judge_tui.checks.binding.packed import read_keys
from judge_tui.checks.calling.binding import Argument, Binding, Source
from judge_tui.checks.calling.calls import invoke
from judge_tui.checks.calling.guess import Guess
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.sources import parsed
from judge_tui.checks.submission import ADAPTER
from judge_tui.checks.tasks.kv.memory_model.geometry import Geometry, meaning, neutral

__all__ = ["BY_HAND", "Calculator", "calculators", "explained", "numbers"]

Inventories = Mapping[str, Mapping[str, Any]]
_Arguments = tuple[Argument, ...]
_FIGURE = "figure"
#: What a dict of sizes is called.
_SIZES = re.compile(r"(?i)^(config|cfg|conf|settings|options|opts|hparams|spec|sizes|dims|shape)$")
#: What an ``adapter.py`` may define, with parameters named as any calculator's.
BY_HAND = ("cache_bytes", "max_context")
#: A width that may be that of the model or that of a head.
_EITHER = re.compile(r"(?i)^(dim|width|hidden|d|e)$")
#: What is a cache or a part of one, and no size.
_MEASURED = re.compile(
    r"^_?((kv|layer|my|the|key|value|k|v)_?)?caches?$|^(past(_?key_?values|_?kv)?|kv|state|buffers?|keys?|values?|k|v|"
    r"(block_)?tables?|store|storage|arrays?|pools?)$"
)
_CACHE = re.compile(r"append|^update|^write|^put$|^store|forward|attend|prefill|decode|generate")
#: Types of numbers that a parameter is told by their NumPy name, or by a short one.
_TYPES = ("dtype", "weight_dtype")


@dataclass(frozen=True, slots=True)
class Calculator:
    """A calculator of bytes or of tokens.

    Attributes:
        call: How it is called with sizes, and where its figure is in what that gives.
    """

    call: Binding

    @property
    def told(self) -> frozenset[str]:
        """What it is told in all, by objects too."""
        arguments = (*self.call.args, *(self.call.init or ()))
        return frozenset(_quantity(source) for argument in arguments for source in argument.sources)

    @property
    def direct(self) -> frozenset[str]:
        """What the call itself is told."""
        return frozenset(_quantity(argument.source) for argument in self.call.args if argument.source)

    @property
    def key(self) -> str:
        """Name of its number in what the call gives; empty for the whole."""
        steps = self.call.returns[_FIGURE].steps
        return str(steps[-1][1]) if steps and steps[-1][0] == "k" else ""

    @property
    def name(self) -> str:
        """Its qualified name; that of the property where one is read."""
        read = [str(name) for kind, name in self.call.returns[_FIGURE].steps if kind == "a"]
        return ".".join([self.call.name, *read])

    @property
    def target(self) -> str:
        """``file.py:name``, with the key of a number in its answer."""
        return f"{self.call.file}:{self.name}" + (f"['{self.key}']" if self.key else "")

    @property
    def words(self) -> str:
        """Its own name and key, in lower case, words apart."""
        return f"{_apart(self.name.rpartition('.')[2])} {self.key.lower()}".strip()

    def keyed(self, key: str) -> Calculator:
        """The same for one number of its answer; for the whole where the key is empty."""
        steps = self.call.returns[_FIGURE].steps
        figure = {_FIGURE: Source(steps=(*steps, ("k", key)))}
        return Calculator(replace(self.call, returns=figure)) if key else self

    def otherwise(self) -> Calculator | None:
        """The same with a width taken for a head's that was taken for the model's, or the other way round."""
        args, other = self.call.args, {"embed": "head_dim", "head_dim": "embed"}
        doubtful = [a for a in args if a.source in other and _EITHER.match(a.keyword)]
        if len(doubtful) != 1 or not self.direct & {"heads", "kv_heads"} or set(other) <= self.told:
            return None
        swapped = replace(doubtful[0], source=other[doubtful[0].source])
        return Calculator(replace(self.call, args=tuple(swapped if a is doubtful[0] else a for a in args)))

    def styled(self, style: str) -> Calculator:
        """The same with types told by their ``name`` (float16), or by a ``short`` one (fp16)."""
        made = {f"type:{kind}": f"{kind}_{style}" for kind in _TYPES}
        made |= {f"{kind}_{other}": f"{kind}_{style}" for kind in _TYPES for other in ("name", "short")}

        def one(argument: Argument) -> Argument:
            if (plain := f"{argument.form}:{argument.source}".lstrip(":")) in made:
                return replace(argument, source=made[plain], form="")
            return replace(argument, parts=tuple((k, made.get(part, part)) for k, part in argument.parts))

        init = None if self.call.init is None else tuple(map(one, self.call.init))
        return Calculator(replace(self.call, args=tuple(map(one, self.call.args)), init=init))

    def at(self, worker: Worker, point: Geometry, budget: float) -> Any:
        """What it gives for one geometry, as plain data.

        Raises:
            Fault: It raised, hung or ended the process.
        """
        return invoke(worker, self.call, point.inputs(), budget=budget).value(_FIGURE)


def _quantity(source: str) -> str:
    """What a canonical name means, however a type is spelt and whatever an allowance begins with."""
    return re.sub(r"_(name|short|none|all)$", "", source)


def _apart(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def calculators(
    worker: Worker, loaded: Inventories, pattern: str, avoid: str, tried: list[str]
) -> Iterator[Calculator]:
    """Calls, methods and properties of fitting names, with what they are to be given.

    Args:
        worker: Where the submission is.
        loaded: File → inventory.
        pattern: What their own names say.
        avoid: Names that are something else.
        tried: Those that cannot be called, and why; added to.
    """
    wanted, other = re.compile(pattern), re.compile(avoid)
    for item in callables(loaded):
        own = _apart(item.name.rpartition(".")[2])
        if item.file == ADAPTER and own not in BY_HAND:
            continue
        if own.startswith("__") or not wanted.search(own) or other.search(own):
            continue
        if _measures(loaded, item.params):
            continue
        args = _arguments(loaded, item.params)
        if isinstance(args, str):
            args = _told_by_dict(worker, loaded, item) or args
        if isinstance(args, str):
            tried.append(f"{item.file}:{item.name} {args}")
        elif item.owner is None:
            yield _called(item.file, item.name, item.line, args)
        elif not _is_cache(item.owner):
            init = _made(loaded, item.owner)
            if isinstance(init, str):
                tried.append(f"{item.file}:{item.name} cannot be called: {item.owner['name']} {init}")
            else:
                yield _called(item.file, item.name, item.line, args, init)
    yield from _properties(worker, loaded, wanted, other)


def _called(
    file: str, name: str, line: int, args: _Arguments, init: _Arguments | None = None, read: str = ""
) -> Calculator:
    figure = Source(steps=(("a", read),) if read else ())
    return Calculator(Binding(_FIGURE, file, name, args, {_FIGURE: figure}, init=init, line=line))


def _told_by_dict(worker: Worker, loaded: Inventories, item: Routine) -> _Arguments | None:
    """What a call is given that is told of sizes by dicts, whose keys the source reads off; else ``None``."""
    dicts: list[Argument] = []
    for name in (str(param["name"]) for param in item.params if _SIZES.search(param["name"])):
        known = [(key, meaning(key)) for key in read_keys(worker.submission, item.file, name)]
        held = tuple((key, _source(key, quantity, None)) for key, quantity in known if quantity)
        if held:
            dicts.append(Argument("", name, parts=held))
    rest = [param for param in item.params if param["name"] not in {each.keyword for each in dicts}]
    args = _arguments(loaded, rest) if dicts else ""
    return None if isinstance(args, str) else (*dicts, *args)


def _properties(
    worker: Worker, loaded: Inventories, wanted: re.Pattern[str], other: re.Pattern[str]
) -> Iterator[Calculator]:
    for file, inventory in loaded.items():
        classes = {cls["name"]: cls for cls in inventory.get("classes", ()) if not _is_cache(cls)}
        tree = parsed(worker.submission.read_bytes(file)) if file != ADAPTER else ast.Module([], [])
        for node in tree.body:
            cls = classes.get(node.name) if isinstance(node, ast.ClassDef) else None
            made = _made(loaded, cls) if cls else ""
            if cls is None or isinstance(made, str):
                continue
            for inner in node.body if isinstance(node, ast.ClassDef) else ():
                if not isinstance(inner, ast.FunctionDef) or not _is_property(inner):
                    continue
                own = inner.name.lower()
                if wanted.search(own) and not other.search(own):
                    yield _called(file, cls["name"], inner.lineno, made, read=inner.name)


def _is_property(node: ast.FunctionDef) -> bool:
    named = {ast.unparse(mark).rpartition(".")[2] for mark in node.decorator_list}
    return bool(named & {"property", "cached_property"})


def _is_cache(cls: Mapping[str, Any]) -> bool:
    """Whether a class holds keys and values: what it says of itself is measured, not calculated."""
    return any(_CACHE.search(method["name"].lower()) for method in cls["methods"])


def _measures(loaded: Inventories, params: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a call is handed a cache, or arrays of one, to measure: it calculates nothing from sizes."""
    for param in params:
        if "default" in param or param["kind"] in ("VAR_POSITIONAL", "VAR_KEYWORD"):
            continue
        annotated = _annotated(loaded, param)
        if annotated is not None and not _is_cache(annotated[1]):
            continue
        if annotated is not None or (_MEASURED.search(param["name"].lower()) and not meaning(param["name"])):
            return True
    return False


def _made(loaded: Inventories, cls: Mapping[str, Any], *, nested: bool = True) -> _Arguments | str:
    """How an object of a class is made, or why it cannot be; ``nested``: of objects, too."""
    return "cannot be made" if cls["params"] is None else _arguments(loaded, cls["params"], nested=nested)


def _arguments(
    loaded: Inventories, params: Sequence[Mapping[str, Any]], *, nested: bool = True
) -> _Arguments | str:
    """What a call is given, or why that cannot be said; ``nested``: objects that hold sizes, too."""
    args: list[Argument] = []
    used: set[str] = set()
    for param in params:
        if param["kind"] in ("VAR_POSITIONAL", "VAR_KEYWORD"):
            continue
        quantity, name = meaning(param["name"]), str(param["name"])
        default, has = param.get("default"), "default" in param
        if quantity and quantity not in used and _annotated(loaded, param) is None:
            used.add(quantity)
            form, _colon, source = _source(name, quantity, default).rpartition(":")
            args.append(Argument(source, name, form))
            continue
        made = _object(loaded, param) if nested else None
        if made is not None and (not has or default is None):
            args.append(replace(made, keyword=name))
        elif not has:
            return f"asks for '{name}', which is no size that is known"
    return tuple(_in_context(args, used))


def _source(name: str, quantity: str, default: Any) -> str:
    """The canonical name of what a parameter is given, with its form in front if it has one."""
    if quantity in _TYPES:
        text = isinstance(default, str) and "numpy" not in default and not default.startswith("<")
        short = text and default.lower().startswith(("fp", "bf"))
        return f"{quantity}_{'short' if short else 'name'}" if text else f"type:{quantity}"
    if quantity == "reserve":
        return "reserve_all" if neutral(name, default) else "reserve_none"
    return quantity


def _in_context(args: list[Argument], used: set[str]) -> list[Argument]:
    """The same where a name means something else beside the others than by itself."""
    if "weight_itemsize" in used and not used & {"itemsize", "bits", "dtype", "params", "params_b"}:
        # "bytes_per_param" of a call that is told of no parameters is the width of what is cached.
        args = [a.handed({"weight_itemsize": "itemsize"}) if not a.parts else a for a in args]
    if "window" in used and "seq" not in used:
        # what holds a window of tokens alone is told how many by it
        args = [a.handed({"window": "seq"}) if not a.parts else a for a in args]
    if "kv_heads" in used and not used & {"heads", "head_dim"}:
        # beside heads of keys and values alone a width can only be that of a head
        wide = ((a, a.source == "embed" and bool(_EITHER.match(a.keyword))) for a in args)
        args = [replace(a, source="head_dim") if head else a for a, head in wide]
    return args


def _annotated(loaded: Inventories, param: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]] | None:
    names = set(re.findall(r"\w+", str(param.get("annotation", ""))))
    for file, inventory in loaded.items():
        for cls in inventory.get("classes", ()):
            if cls["name"] in names:
                return file, cls
    return None


def _object(loaded: Inventories, param: Mapping[str, Any]) -> Argument | None:
    """An object for a parameter: of the class that its annotation names, else of a fitting one."""
    if found := _annotated(loaded, param):
        return _of_class(loaded, *found)
    name = param["name"].lower()
    if not re.search(r"model|spec|config|cfg|arch|gpu|device|hardware|hw|card|^m$|^c$|^g$", name):
        return None
    about = {"memory", "memory_bytes"} if re.search(r"gpu|device|hardware|hw|card", name) else {"layers"}
    every = ((file, cls) for file, inventory in loaded.items() for cls in inventory.get("classes", ()))
    made = (_of_class(loaded, file, cls) for file, cls in every if not _is_cache(cls))
    return next((one for one in made if one is not None and about & {*one.sources}), None)


def _of_class(loaded: Inventories, file: str, cls: Mapping[str, Any]) -> Argument | None:
    """An object of a class, made of the sizes that it holds."""
    args = _made(loaded, cls, nested=False)
    if isinstance(args, str):
        return None
    parts = tuple((a.keyword, f"{a.form}:{a.source}".lstrip(":")) for a in args)
    return Argument("", parts=parts, made=f"{file}:{cls['name']}")


def numbers(value: Any) -> Iterator[tuple[str, float]]:
    """The numbers of an answer with their keys; one key deep."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        yield "", float(value)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if isinstance(item, (int, float)) and not isinstance(item, bool):
                yield str(key), float(item)


def explained(worker: Worker, calculator: Calculator, point: Geometry, budget: float) -> tuple[Any, str]:
    """What a calculator gives, and how it failed to, if it did."""
    with Guess(worker) as guess:
        return calculator.at(worker, point, budget), ""
    return None, guess.said
