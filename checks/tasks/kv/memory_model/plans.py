"""How a calculator is called: which of its parameters mean which size, and what objects they stand in."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from judge_tui.checks.binding.candidates import Routine, callables
from judge_tui.checks.binding.packed import read_keys
from judge_tui.checks.calling.guess import Guess
from judge_tui.checks.calling.handover import Context
from judge_tui.checks.calling.remote import Handle, NumpyType, Target, Worker
from judge_tui.checks.sources import parsed
from judge_tui.checks.submission import ADAPTER
from judge_tui.checks.tasks.kv.memory_model.geometry import Geometry, meaning, neutral

__all__ = ["BY_HAND", "Asked", "Plan", "explained", "numbers", "plans"]

Inventories = Mapping[str, Mapping[str, Any]]
_DEPTH = 2
#: What a dict of sizes is called.
_SIZES = re.compile(r"(?i)^(config|cfg|conf|settings|options|opts|hparams|spec|sizes|dims|shape)$")
#: What an ``adapter.py`` may define, with parameters named as any calculator's.
BY_HAND = ("cache_bytes", "max_context")
_FLOATS = {1: "int8", 2: "float16", 4: "float32", 8: "float64"}
_SHORT = {1: "int8", 2: "fp16", 4: "fp32", 8: "fp64"}
#: A width that may be that of the model or that of a head.
_EITHER = re.compile(r"(?i)^(dim|width|hidden|d|e)$")
#: What is a cache or a part of one, and no size.
_MEASURED = re.compile(
    r"^_?((kv|layer|my|the|key|value|k|v)_?)?caches?$|^(past(_?key_?values|_?kv)?|kv|state|buffers?|keys?|values?|k|v|"
    r"(block_)?tables?|store|storage|arrays?|pools?)$"
)
_CACHE = re.compile(r"append|^update|^write|^put$|^store|forward|attend|prefill|decode|generate")


@dataclass(frozen=True, slots=True)
class Asked:
    """One parameter and what it is given.

    Attributes:
        keyword: Its name.
        quantity: What it means; empty for an object.
        made: How the object is made.
        default: Its default, as described.
    """

    keyword: str
    quantity: str = ""
    made: Plan | None = None
    default: Any = None


@dataclass(frozen=True, slots=True)
class Plan:
    """How something is called.

    Attributes:
        file: File of the callable.
        name: Its qualified name; empty for a dict of what is asked.
        line: 1-based.
        asked: Its parameters that are given.
        owner: How the object is made whose method or property it is.
        is_property: Whether it is read and not called.
        key: Name of that number in what it gives; empty for the whole.
    """

    file: str
    name: str
    line: int = 0
    asked: tuple[Asked, ...] = ()
    owner: Plan | None = None
    is_property: bool = False
    key: str = ""

    @property
    def target(self) -> str:
        """``file.py:name``, with the key of a number in its answer."""
        return f"{self.file}:{self.name}" + (f"['{self.key}']" if self.key else "")

    @property
    def words(self) -> str:
        """Its own name and key, in lower case, words apart."""
        own = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", self.name.rpartition(".")[2]).lower()
        return f"{own} {self.key.lower()}".strip()

    @property
    def direct(self) -> frozenset[str]:
        """What the call itself is told."""
        return frozenset(a.quantity for a in self.asked if a.quantity)

    @property
    def told(self) -> frozenset[str]:
        """What it is told in all, by objects too."""
        nested = [a.made.told for a in self.asked if a.made] + ([self.owner.told] if self.owner else [])
        return self.direct.union(*nested)

    def parameter(self, quantity: str) -> str:
        """The name under which it is told something."""
        for asked in self.asked:
            if asked.quantity == quantity:
                return asked.keyword
            if asked.made and (name := asked.made.parameter(quantity)):
                return name
        return self.owner.parameter(quantity) if self.owner else ""

    def otherwise(self) -> Plan | None:
        """The same with a width taken for a head's that was taken for the model's, or the other way round."""
        other = {"embed": "head_dim", "head_dim": "embed"}
        doubtful = [a for a in self.asked if a.quantity in other and _EITHER.match(a.keyword)]
        if len(doubtful) != 1 or not self.direct & {"heads", "kv_heads"} or set(other) <= self.told:
            return None
        (width,) = doubtful
        swapped = replace(width, quantity=other[width.quantity])
        return replace(self, asked=tuple(swapped if a is width else a for a in self.asked))

    def styled(self, text: str) -> Plan:
        """The same with types told by names such as ``text``."""
        return replace(
            self,
            asked=tuple(
                replace(a, default=text)
                if a.quantity in ("dtype", "weight_dtype")
                else replace(a, made=a.made.styled(text) if a.made else None)
                for a in self.asked
            ),
            owner=self.owner.styled(text) if self.owner else None,
        )

    def at(self, worker: Worker, point: Geometry, budget: float) -> Any:
        """What it gives for one geometry, as plain data.

        Raises:
            Fault: It raised, hung or ended the process.
        """
        value = worker.value(self._handle(worker, point, budget))
        return value.get(self.key) if self.key and isinstance(value, Mapping) else value

    def _handle(self, worker: Worker, point: Geometry, budget: float) -> Handle:
        owner = self.owner._handle(worker, point, budget) if self.owner else None
        own = self.name.rpartition(".")[2]
        if not self.name:
            return worker.put(Context({a.keyword: _value(a, point) for a in self.asked}))
        if self.is_property and owner is not None:
            return owner.part(("a", own))
        given = {
            a.keyword: a.made._handle(worker, point, budget) if a.made else _value(a, point)
            for a in self.asked
        }
        if owner is not None:
            return worker.call(owner, (), given, method=own, budget=budget).handle
        return worker.call(Target(self.file, self.name), (), given, budget=budget).handle


def _value(asked: Asked, point: Geometry) -> Any:
    """What a parameter is given."""
    size, default = point.itemsize, asked.default
    simple: dict[str, Any] = {
        "layers": point.layers, "heads": point.heads, "kv_heads": point.kv_heads, "embed": point.embed,
        "head_dim": point.head_dim, "batch": point.batch, "seq": point.seq, "window": point.seq,
        "itemsize": size,
        "bits": 8 * size, "params": point.params, "params_b": point.params / 1e9, "memory": point.memory,
        "memory_bytes": int(point.memory * 1e9), "weight_itemsize": point.weight_itemsize,
        "weight_gb": point.params * point.weight_itemsize / 1e9,
        "weight_bytes": point.params * point.weight_itemsize, "vocab": 32_000, "ff": 4 * point.embed,
        "name": "model", "bandwidth": 2000.0, "flops": 300.0, "reserve_gb": 0,
        "per_token": 2 * point.layers * point.kv_heads * point.head_dim * size,
        "reserve": neutral(asked.keyword, default),
    }  # fmt: skip
    if asked.quantity in ("dtype", "weight_dtype"):
        width = size if asked.quantity == "dtype" else point.weight_itemsize
        if isinstance(default, str) and "numpy" not in default and not default.startswith("<"):
            return (_SHORT if default.lower().startswith(("fp", "bf")) else _FLOATS)[width]
        return NumpyType(_FLOATS[width])
    return simple[asked.quantity]


def plans(worker: Worker, loaded: Inventories, pattern: str, avoid: str, tried: list[str]) -> Iterator[Plan]:
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
        own = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", item.name.rpartition(".")[2]).lower()
        if item.file == ADAPTER and own not in BY_HAND:
            continue
        if own.startswith("__") or not wanted.search(own) or other.search(own):
            continue
        if _measures(loaded, item.params):
            continue
        plan = _planned(loaded, item.file, item.name, item.line, item.params, _DEPTH)
        if isinstance(plan, str):
            plan = _told_by_dict(worker, loaded, item) or plan
        if isinstance(plan, str):
            tried.append(f"{item.file}:{item.name} {plan}")
        elif item.owner is None:
            yield plan
        elif not _is_cache(item.owner):
            owner = _made(loaded, item.file, item.owner, _DEPTH)
            if isinstance(owner, Plan):
                yield replace(plan, owner=owner)
            else:
                tried.append(f"{item.file}:{item.name} cannot be called: {item.owner['name']} {owner}")
    yield from _properties(worker, loaded, wanted, other)


def _told_by_dict(worker: Worker, loaded: Inventories, item: Routine) -> Plan | None:
    """The plan of a call that is told of sizes by dicts, whose keys the source reads off; else ``None``."""
    dicts: list[Asked] = []
    for name in (str(param["name"]) for param in item.params if _SIZES.search(param["name"])):
        known = [(key, meaning(key)) for key in read_keys(worker.submission, item.file, name)]
        held = tuple(Asked(key, quantity) for key, quantity in known if quantity)
        if held:
            dicts.append(Asked(name, made=Plan(item.file, "", asked=held)))
    rest = [param for param in item.params if param["name"] not in {each.keyword for each in dicts}]
    plan = _planned(loaded, item.file, item.name, item.line, rest, _DEPTH) if dicts else None
    return replace(plan, asked=(*dicts, *plan.asked)) if isinstance(plan, Plan) else None


def _properties(
    worker: Worker, loaded: Inventories, wanted: re.Pattern[str], other: re.Pattern[str]
) -> Iterator[Plan]:
    for file, inventory in loaded.items():
        if file == ADAPTER:
            continue
        classes = {cls["name"]: cls for cls in inventory.get("classes", ())}
        for node in parsed(worker.submission.read_bytes(file)).body:
            if (
                not isinstance(node, ast.ClassDef)
                or node.name not in classes
                or _is_cache(classes[node.name])
            ):
                continue
            for inner in node.body:
                if not isinstance(inner, ast.FunctionDef) or not wanted.search(inner.name.lower()):
                    continue
                marks = {ast.unparse(mark).rpartition(".")[2] for mark in inner.decorator_list}
                owner = _made(loaded, file, classes[node.name], _DEPTH)
                if (
                    marks & {"property", "cached_property"}
                    and isinstance(owner, Plan)
                    and not other.search(inner.name.lower())
                ):
                    name = f"{node.name}.{inner.name}"
                    yield Plan(file, name, inner.lineno, (), owner, is_property=True)


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


def _made(loaded: Inventories, file: str, cls: Mapping[str, Any], depth: int) -> Plan | str:
    if cls["params"] is None:
        return "cannot be made"
    return _planned(loaded, file, cls["name"], cls["line"], cls["params"], depth - 1)


def _planned(
    loaded: Inventories, file: str, name: str, line: int, params: Sequence[Mapping[str, Any]], depth: int
) -> Plan | str:
    """The plan of a call, or why there is none."""
    asked: list[Asked] = []
    used: set[str] = set()
    for param in params:
        if param["kind"] in ("VAR_POSITIONAL", "VAR_KEYWORD"):
            continue
        quantity = meaning(param["name"])
        default, has = param.get("default"), "default" in param
        if quantity and quantity not in used and not _is_object(loaded, param):
            used.add(quantity)
            asked.append(Asked(param["name"], quantity, None, default))
            continue
        made = _object(loaded, param, depth)
        if made is not None and (not has or default is None):
            asked.append(Asked(param["name"], "", made, default))
        elif not has:
            return f"asks for '{param['name']}', which is no size that is known"
    if "weight_itemsize" in used and not used & {"itemsize", "bits", "dtype", "params", "params_b"}:
        # "bytes_per_param" of a call that is told of no parameters is the width of what is cached.
        asked = [replace(a, quantity="itemsize") if a.quantity == "weight_itemsize" else a for a in asked]
    if "window" in used and "seq" not in used:
        # what holds a window of tokens alone is told how many by it
        asked = [replace(a, quantity="seq") if a.quantity == "window" else a for a in asked]
    if "kv_heads" in used and not used & {"heads", "head_dim"}:
        # beside heads of keys and values alone a width can only be that of a head
        wide = ((a, a.quantity == "embed" and bool(_EITHER.match(a.keyword))) for a in asked)
        asked = [replace(a, quantity="head_dim") if head else a for a, head in wide]
    return Plan(file, name, line, tuple(asked))


def _annotated(loaded: Inventories, param: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]] | None:
    words = set(re.findall(r"\w+", str(param.get("annotation", ""))))
    for file, inventory in loaded.items():
        for cls in inventory.get("classes", ()):
            if cls["name"] in words:
                return file, cls
    return None


def _is_object(loaded: Inventories, param: Mapping[str, Any]) -> bool:
    return _annotated(loaded, param) is not None


def _object(loaded: Inventories, param: Mapping[str, Any], depth: int) -> Plan | None:
    """How an object for a parameter is made: of the class that its annotation names, else a fitting one."""
    if depth <= 0:
        return None
    if found := _annotated(loaded, param):
        plan = _made(loaded, found[0], found[1], depth)
        return plan if isinstance(plan, Plan) else None
    about = "memory" if re.search(r"gpu|device|hardware|hw|card", param["name"].lower()) else "layers"
    if not re.search(
        r"model|spec|config|cfg|arch|gpu|device|hardware|hw|card|^m$|^c$|^g$", param["name"].lower()
    ):
        return None
    for file, inventory in loaded.items():
        for cls in inventory.get("classes", ()):
            plan = _made(loaded, file, cls, depth)
            if (
                isinstance(plan, Plan)
                and about in plan.told | ({"memory"} if "memory_bytes" in plan.told else set())
                and not _is_cache(cls)
            ):
                return plan
    return None


def numbers(value: Any) -> Iterator[tuple[str, float]]:
    """The numbers of an answer with their keys; one key deep."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        yield "", float(value)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if isinstance(item, (int, float)) and not isinstance(item, bool):
                yield str(key), float(item)


def explained(worker: Worker, plan: Plan, point: Geometry, budget: float) -> tuple[Any, str]:
    """What a plan gives, and how it failed to, if it did."""
    with Guess(worker) as guess:
        return plan.at(worker, point, budget), ""
    return None, guess.said
