"""Pairs of calls that turn numbers into codes and back: functions, methods, or an object with a method."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.binding.candidates import Routine, callables
from judge_tui.checks.binding.inventories import Inventories
from judge_tui.checks.binding.signatures import arguments
from judge_tui.checks.calling.binding import Argument, Binding
from judge_tui.checks.calling.calls import Returned, invoke
from judge_tui.checks.calling.guess import Guess
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.contract import Param, Return, Role
from judge_tui.checks.submission import ADAPTER

__all__ = ["Pair", "pairs"]

Array = npt.NDArray[Any]

_QUANTIZE = re.compile(
    r"^(?!.*de_?quant|.*un_?quant)(.*quanti[sz]e|.*quant(_|$)|to_?(u?int[48]|q[48])|.*from_float|compress$|encode$)"
)
#: What is called after codes has to make some.
_NAMED = re.compile(r"(?i)quant|int_?[48]|q[48]|compress|pack")
_DEQUANTIZE = re.compile(r"de_?quant|un_?quant|to_float|from_u?int[48]|decompress|^decode$|^restore")
_OTHER = re.compile(
    r"test|demo|bench|error|bytes|memory|size|print|check|compare|analy|report|attention|attn|cache$|update|append"
)
_DATA = {
    "x", "tensor", "t", "arr", "array", "data", "values", "value", "k", "v", "kv", "w", "inp", "input", "a",
    "key", "keys", "fp", "x_fp", "tensor_fp", "kv_tensor", "xs", "mat", "matrix", "vec", "vectors",
}  # fmt: skip
#: How far off a pair may be on numbers in ±1: half a step of four bits is 0.07.
_NEAR = 0.25
#: Last axes that are tried: groups of a fixed size may refuse a short one.
_WIDTHS = (8, 64)
#: A last axis that is filled up to a group is no longer than this.
_FILLED = 128
#: Pairs that are judged at most.
_MOST = 3


def _told(name: str, names: str, *, spare: bool = True) -> Param:
    return Param(name, "int", tuple(names.split()), required=False, spare=spare, named=True)


_BITS = _told("bits", "n_bits num_bits bit_width", spare=False)
_AXIS = _told("axis", "dim channel_axis quant_axis reduce_axis")
_SHAPE = _told("shape", "orig_shape original_shape out_shape x_shape")
_LENGTH = _told(
    "length",
    "n d head_dim orig_dim original_dim orig_len original_length dim size last_dim num_elements",
)
_GROUP = _told("group", "group_size block_size block")
#: Turns numbers into codes: what has a default keeps it, but for the width of the codes.
_CODING = Role(
    "quantize",
    (Param("x", "array", tuple(_DATA), spare=True), _BITS, _AXIS, _GROUP),
    (Return("codes", "handle"),),
    (_QUANTIZE.pattern,),
    strict=True,
)
#: An object that does.
_MADE_FROM = replace(_CODING, params=(_BITS, _AXIS, _GROUP, _LENGTH))


@dataclass(frozen=True, slots=True)
class Pair:
    """Two calls, the second of which undoes the first.

    Attributes:
        worker: Where the submission is.
        quantize: Takes ``x``, and ``bits`` where it can be told.
        dequantize: Takes what the first gave.
        rank: Axes of what goes in: 4 for (B, H, N, D), 2 for (N, D).
    """

    worker: Worker
    quantize: Binding
    dequantize: Binding
    rank: int = 4

    @property
    def takes_bits(self) -> bool:
        """Whether the width of the codes can be told."""
        return self.quantize.takes("bits")

    def codes(self, x: Array, bits: int, budget: float) -> Returned:
        """What the first call makes of ``x``."""
        return invoke(self.worker, self.quantize, _inputs(x, bits), budget=budget)

    def back(self, coded: Returned, shape: Sequence[int], bits: int, budget: float) -> Array:
        """What the second call makes of that.

        Returns:
            Float64, in ``shape``; a last axis that fills no group may come back filled up, which is cut off.

        Raises:
            BadResult: Another shape, or no numbers.
        """
        inputs = {**_inputs(np.empty(tuple(shape)), bits), **_given(coded)}
        second = self.dequantize
        if second.init is not None and coded.instance is not None and _owner(second) == _owner(self.quantize):
            # What the first call left on its object, the second may need.
            second, inputs = replace(second, init=None, on="object"), {**inputs, "object": coded.instance}
        returned = invoke(self.worker, second, inputs, budget=budget)
        told = self.worker.describe(returned.result.handle).get("shape")
        if told and tuple(told[:-1]) == tuple(shape[:-1]) and shape[-1] < told[-1] <= _FILLED:
            return self.worker.fetch(returned.result.handle, tuple(told))[..., : shape[-1]]
        return self.worker.fetch(returned.result.handle, shape)

    def restored(self, x: Array, bits: int, budget: float) -> Array:
        """Both calls on (B, H, N, D), piece by piece where fewer axes go in."""
        if self.rank == x.ndim:
            return self.back(self.codes(x, bits, budget), x.shape, bits, budget)
        return np.stack([self.restored(part, bits, budget) for part in x])

    def nbytes(self, x: Array, bits: int, budget: float) -> int:
        """Bytes of what the first call gives or leaves on its object, scales and all."""
        coded = self.codes(self.first(x), bits, budget)
        kept = [handle for handle in (coded.result.handle, coded.instance) if handle is not None]
        return self.worker.footprint(self.worker.put(kept))

    def first(self, x: Array) -> Array:
        """The part of ``x`` that goes in at once."""
        while x.ndim > self.rank:
            x = x[0]
        return x


def _inputs(x: Array, bits: int) -> dict[str, Any]:
    return {
        "x": x,
        "bits": bits,
        "axis": -1,
        "shape": tuple(x.shape),
        "length": x.shape[-1],
        "group": x.shape[-1],
    }


def _owner(binding: Binding) -> tuple[str, str]:
    return binding.file, binding.name.rpartition(".")[0]


def _given(coded: Returned) -> dict[str, Any]:
    """What the first call gave, as a whole, and by the names of its parts."""
    handle, tree = coded.result.handle, coded.result.tree
    parts = {f"named_{key}": handle.part((step, key)) for step, key, _below in tree.get("parts", ())}
    return {"whole": handle, **parts}


def pairs(worker: Worker, loaded: Inventories, tried: list[str]) -> Iterator[Pair]:
    """Pairs that give back about what went in, or that are named for each other; else the first that runs.

    Args:
        worker: Where the submission is.
        loaded: File → inventory.
        tried: What failed, and how; added to.

    Raises:
        Fault: A call ended the process.
    """
    meant: Pair | None = None
    given = 0
    for quantize in _quantizers(loaded):
        right: list[Pair] = []
        runs: list[Pair] = []
        for width in _WIDTHS:
            ran = False
            for rank in (4, 3, 2):
                x = np.random.default_rng(12).uniform(-1, 1, (2, 3, 4, width)[4 - rank :]).astype(np.float32)
                coded = None
                with Guess(worker) as guess:
                    coded = invoke(worker, quantize, _inputs(x, 8), budget=8.0)
                if coded is None:
                    _noted(tried, f"{quantize.target} {guess.said}")
                    continue
                ran = True
                found, wrong = _second(worker, loaded, quantize, coded, x, rank, tried)
                right += [found] if found is not None else []
                runs += [wrong] if wrong is not None else []
            if ran:
                break
        if right and _as_it_is(right[0]):
            # one codec among others: the one that stores what comes in
            continue
        if right:
            yield _lightest(right)
        elif runs and _namesakes(runs[0]):
            yield runs[0]
        else:
            meant = meant or next(iter(runs), None)
            continue
        given += 1
        if given == _MOST:
            return
    if meant is not None and not given:
        yield meant


def _as_it_is(pair: Pair) -> bool:
    """Whether what is not called after codes gives everything back bit by bit: it quantizes nothing."""
    if _NAMED.search(pair.quantize.name):
        return False
    x = np.random.default_rng(14).uniform(-1, 1, (2, 3, 4, 64)).astype(np.float32)
    with Guess(pair.worker):
        return bool(np.array_equal(pair.restored(x, 8, 8.0), x))
    return False


def _namesakes(pair: Pair) -> bool:
    """Whether two calls have one name but for what undoes the other: they belong together, right or not."""
    second = re.sub(r"(de|un)_?(?=quant|compress)", "", _words(pair.dequantize.name))
    return second == _words(pair.quantize.name)


def _lightest(options: Sequence[Pair]) -> Pair:
    """The number of axes that is meant: the first of two is that of tokens, the first of four is not."""
    x = np.random.default_rng(13).uniform(-1, 1, (2, 4, 32, 64)).astype(np.float32)
    each = [pair.nbytes(x, 8, 8.0) / pair.first(x).size for pair in options]
    return next(pair for pair, size in zip(options, each, strict=True) if size <= 1.1 * min(each))


def _second(
    worker: Worker,
    loaded: Inventories,
    quantize: Binding,
    coded: Returned,
    x: Array,
    rank: int,
    tried: list[str],
) -> tuple[Pair | None, Pair | None]:
    """The call that undoes the first: one that is near, with four bits, too, else one that runs."""
    runs: Pair | None = None
    near: Pair | None = None
    for dequantize in _dequantizers(loaded, quantize, coded.result.tree):
        pair = Pair(worker, quantize, dequantize, rank)
        error: float | None = None
        with Guess(worker) as guess:
            error = float(np.max(np.abs(pair.back(coded, x.shape, 8, 8.0) - x)))
        if error is None:
            _noted(tried, f"{quantize.target}, {dequantize.target} {guess.said}")
            continue
        if error <= _NEAR:
            if _with_four(pair, x):
                return pair, runs
            near = near or pair
            continue
        _noted(tried, f"{quantize.target}, {dequantize.target} gives back other numbers ({error:.2g} off)")
        runs = runs or pair
    return near, runs


def _with_four(pair: Pair, x: Array) -> bool:
    """Whether a pair is near with four bits as well; a wrong reading of a parameter may show there alone."""
    if not pair.takes_bits:
        return True
    with Guess(pair.worker):
        back = pair.back(pair.codes(x, 4, 8.0), x.shape, 4, 8.0)
        return float(np.max(np.abs(back - x))) <= _NEAR
    return False


def _noted(tried: list[str], line: str) -> None:
    if len(tried) < 24 and line not in tried:
        tried.append(line)


def _words(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.rpartition(".")[2]).lower()


def _quantizers(loaded: Inventories) -> list[Binding]:
    found = []
    for item in callables(loaded):
        words = _words(item.name)
        if item.file == ADAPTER or _OTHER.search(words) or not _QUANTIZE.search(words):
            continue
        told = arguments(item.params, _CODING)
        if told is not None and any(a.source == "x" for a in told[0]):
            found += _bound(item, "quantize", told[0])
    return sorted(found, key=lambda b: (not b.takes("bits"), b.name.rpartition(".")[2].startswith("_")))


def _dequantizers(loaded: Inventories, quantize: Binding, tree: Mapping[str, Any]) -> Iterator[Binding]:
    """Calls that may take what the first gave: same class, then same file, best first."""
    parts = list(tree.get("parts", ())) if tree.get("kind") in ("tuple", "list", "dict", "object") else []
    mine = quantize.name.rpartition(".")[0]
    routines = [i for i in callables(loaded) if _DEQUANTIZE.search(_words(i.name)) and i.file != ADAPTER]
    suffix = _words(quantize.name).replace("quantize", "").strip("_")

    def far(item: Routine) -> tuple[bool, bool, bool]:
        return (
            item.name.rpartition(".")[0] != mine, item.file != quantize.file,
            suffix not in _words(item.name),
        )  # fmt: skip

    for item in sorted(routines, key=far):
        if item.owner is not None and tree.get("kind") == "object" and item.owner["name"] == tree.get("type"):
            args = _taking(item.params, parts, own=True)
            if args is not None:
                yield Binding("dequantize", item.file, item.name, args, {}, on="whole", line=item.line)
            continue
        for args in dict.fromkeys(
            _taking(item.params, taken, sized=sized) for taken in (parts, []) for sized in (False, True)
        ):
            if args is not None:
                yield from _bound(item, "dequantize", args)


def _bound(item: Routine, role: str, args: tuple[Argument, ...]) -> list[Binding]:
    plain = Binding(role, item.file, item.name, args, {}, why="its name and its parameters", line=item.line)
    if item.owner is None:
        return [plain]
    init = arguments(item.owner["params"] or (), _MADE_FROM)
    return [replace(plain, init=init[0])] if init is not None else []


def _taking(
    params: Sequence[Mapping[str, Any]],
    parts: Sequence[Sequence[Any]],
    *,
    own: bool = False,
    sized: bool = False,
) -> tuple[Argument, ...] | None:
    """How the second call takes the parts of what the first gave (or the whole, where there are none).

    ``sized``: what may be an axis or a length (``dim``) is the length.
    """
    given = [Param(f"named_{key}", "handle", (str(key),), required=False) for _step, key, _below in parts]
    given = [] if own else given or [Param("whole", "handle", required=False)]
    settings = (_BITS, _SHAPE, *((_LENGTH, _AXIS) if sized else (_AXIS, _LENGTH)))
    role = replace(_CODING, params=(*given, *settings), strict=False)
    known = [any(p.means(str(param["name"])) for p in role.params) for param in params]
    # a part may come in where nothing is the default: by its place
    asked = [
        param if told or place >= len(given) else {key: param[key] for key in param if key != "default"}
        for place, (param, told) in enumerate(zip(params, known, strict=True))
    ]
    called = arguments(asked, role)
    taken = called is not None and (own or any(a.source in {p.name for p in given} for a in called[0]))
    return called[0] if called is not None and taken else None
