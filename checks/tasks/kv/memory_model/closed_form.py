"""2 · layers · kv_heads · head_dim · bytes per token: the form, the units, and what usually goes wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from judge_tui.checks.tasks.kv.memory_model.geometry import Geometry

__all__ = ["BINARY", "DECIMAL", "GB", "MB", "Reading", "read", "tokens_bytes"]

DECIMAL, BINARY = 1e9, float(2**30)
#: Units that a name may promise in vain.
GB, MB = "GB (1e9)", "MB"
#: What a calculator may answer in.
_UNITS: tuple[tuple[str, float], ...] = (
    ("bytes", 1.0), ("kB", 1e3), ("KiB", 1024.0), (MB, 1e6), ("MiB", float(2**20)), (GB, DECIMAL),
    ("GiB (2^30)", BINARY), ("bits", 0.125), ("TB", 1e12), ("TiB", float(2**40)),
)  # fmt: skip
#: Powers of 1000 and of 1024 in one product.
_MIXED: tuple[tuple[str, float], ...] = (
    ("1024 · 1000", 1024e3), ("1024 · 1000²", 1024e6), ("1024² · 1000", 1024.0**2 * 1e3),
    ("8 · 2^30", 8 * BINARY), ("8 · 1e9", 8e9),
)  # fmt: skip
#: Bytes of a code, and of the scale (and zero point) that a vector of codes has.
_CODES = tuple(product((1.0, 0.5), (2.0, 4.0, 8.0)))
#: Wrong by a factor that depends on the geometry.
_WRONG: tuple[tuple[str, Callable[[Geometry], float]], ...] = (
    ("keys and values are counted once, not twice", lambda g: 0.5),
    ("keys and values are counted twice over", lambda g: 2.0),
    ("query heads are counted where key and value heads are fewer", lambda g: g.heads / g.kv_heads),
    ("layers are left out", lambda g: 1 / g.layers),
    ("heads are left out", lambda g: 1 / g.kv_heads),
    ("the head size is left out", lambda g: 1 / g.head_dim),
    ("heads are counted twice", lambda g: float(g.heads)),
    ("key and value heads are counted twice", lambda g: float(g.kv_heads)),
    ("the width of the model stands where the head size belongs", lambda g: g.embed / g.head_dim),
    ("the bytes of a number are ignored", lambda g: 1 / g.itemsize),
    ("a number takes two bytes, whatever it is told", lambda g: 2 / g.itemsize),
    ("a number takes four bytes, whatever it is told", lambda g: 4 / g.itemsize),
    ("bits are taken for bytes", lambda g: 8.0),
    ("bytes are divided by eight as if they were bits", lambda g: 0.125),
    ("layers are counted twice", lambda g: float(g.layers)),
    ("the head size is counted twice", lambda g: float(g.head_dim)),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reading:
    """What answers amount to.

    Attributes:
        right: Whether they are the closed form in some unit.
        unit: The unit.
        cause: What is wrong; empty when nothing, or nothing that is known.
        itemsize: Bytes of a number that it takes by itself, where it cannot be told.
        factor: Answers over the closed form, when it is the same everywhere and nothing above.
        left_out: Sizes that it was told and that it does not count: batch, tokens, layers.
        scales: Bytes beside the codes of a vector, where it counts those of a quantized cache.
    """

    right: bool
    unit: str = ""
    cause: str = ""
    itemsize: float = 0.0
    factor: float = 0.0
    left_out: tuple[str, ...] = ()
    scales: float = 0.0


def tokens_bytes(point: Geometry, told: frozenset[str]) -> float:
    """Bytes of one token in all that a call was told of; a size that it was not told counts as one.

    Heads stand for key and value heads where only they are told, and the width of the model for both.
    """
    if "per_token" in told:
        return 2.0 * point.layers * point.kv_heads * point.head_dim * point.itemsize
    heads = point.kv_heads if "kv_heads" in told else point.heads
    width = float(heads * point.head_dim)
    if "heads" not in told and "kv_heads" not in told:
        width = float(point.embed) if "embed" in told else float(point.head_dim if "head_dim" in told else 1)
    elif "head_dim" not in told and "embed" not in told:
        width = float(heads)
    layers = point.layers if "layers" in told else 1
    size = point.itemsize if told & {"itemsize", "bits", "dtype"} else 1
    return 2.0 * layers * width * size


def read(
    answers: Sequence[float], points: Sequence[Geometry], told: frozenset[str], optional: Sequence[str]
) -> Reading | None:
    """What answers amount to: the closed form in some unit, a usual mistake, or neither.

    Args:
        answers: One per point.
        points: Where they were given.
        told: What the call was told.
        optional: Of ``batch``, ``seq`` and ``layers``, those that it may leave out.

    Returns:
        ``None`` when they follow no form that is known.
    """
    fixed = not told & {"itemsize", "bits", "dtype", "per_token"}
    for left_out in _subsets(optional):
        forms = [_form(point, told - set(left_out)) for point in points]
        for name, unit in _UNITS:
            if found := _matching(answers, forms, unit, fixed):
                return Reading(True, name, itemsize=found, left_out=left_out)
        for code, scales in _CODES if fixed and "head_dim" in told else ():
            coded = [f * (code + scales / p.head_dim) for f, p in zip(forms, points, strict=True)]
            if _matching(answers, coded, 1.0, False):
                return Reading(True, _UNITS[0][0], itemsize=code, left_out=left_out, scales=scales)
    for left_out in _subsets(optional):
        forms = [_form(point, told - set(left_out)) for point in points]
        for name, unit in _MIXED:
            if found := _matching(answers, forms, unit, fixed):
                return Reading(False, "", f"powers of 1000 and of 1024 are mixed: {name}", found)
        for (cause, factor), (name, unit) in product(_WRONG, _UNITS):
            wrong = [form * factor(point) for form, point in zip(forms, points, strict=True)]
            if found := _matching(answers, wrong, unit, fixed, resolution=0.01):
                return Reading(False, name, cause, found, left_out=left_out)
        ratios = [answer / form for answer, form in zip(answers, forms, strict=True)]
        if not fixed and min(ratios) > 0 and max(ratios) / min(ratios) < 1.001:
            return Reading(False, "", "", factor=ratios[0], left_out=left_out)
    return None


def _subsets(optional: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for mask in range(1 << len(optional)):
        yield tuple(name for index, name in enumerate(optional) if mask >> index & 1)


def _form(point: Geometry, told: frozenset[str]) -> float:
    batch = point.batch if "batch" in told else 1
    return tokens_bytes(point, told) * batch * (point.seq if "seq" in told else 1)


def _matching(
    answers: Sequence[float], forms: Sequence[float], unit: float, fixed: bool, *, resolution: float = 1.0
) -> float:
    """The itemsize under which all answers are the forms in a unit; 0 when there is none.

    A calculator that can be told no width has one of its own: that of float16 or float32.
    """
    for size in (2.0, 4.0) if fixed else (1.0,):
        pairs = zip(answers, (form * size / unit for form in forms), strict=True)
        if all(_same(answer, truth, resolution) for answer, truth in pairs):
            return size
    return 0.0


def _same(answer: float, truth: float, resolution: float) -> bool:
    """Equal, or rounded to so many decimals that one in the last is no more than ``resolution`` of it."""
    if abs(answer - truth) <= 1e-6 * abs(truth):
        return True
    if not 0.3 < truth < 1e5:
        return False
    return any(
        answer == round(truth, digits) and 10.0**-digits <= resolution * truth for digits in (1, 2, 3, 4)
    )
