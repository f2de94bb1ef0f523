"""How many tokens fit: read off differences, so that reserves and weights need not be guessed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from judge_tui.checks.tasks.kv.memory_model.calculators import Calculator
from judge_tui.checks.tasks.kv.memory_model.closed_form import BINARY, DECIMAL, tokens_bytes
from judge_tui.checks.tasks.kv.memory_model.geometry import Geometry

__all__ = ["Fits", "fits"]

_CLOSE = 2e-3
_TOO_MANY = "a factor of two too many, or less than half of the memory used"
#: What a GB may be taken for.
_GB = {DECIMAL: "1e9 bytes", BINARY: "2^30 bytes"}
_MIXED = "the memory is counted in one kind of GB and the weights in the other"


@dataclass(frozen=True, slots=True)
class Fits:
    """What a calculator of the longest context does.

    Attributes:
        per_gb: Bytes that one more GB of the GPU is worth to it, by the closed form.
        gb: Bytes that it takes a GB for; 0 when the memory is told to it in bytes.
        share: Of the memory that it uses.
        weights: Bytes that it takes away for each byte of the weights; 0 when unknown.
        cause: What is wrong; empty when nothing.
        mild: Whether that may be meant: billions of parameters taken for GiB, half of the memory kept free.
        batch: What it does with a batch: ``"each"`` (tokens of each sequence), ``"all"`` or ``""``.
    """

    per_gb: float
    gb: float
    share: float
    weights: float
    cause: str
    batch: str = ""
    mild: bool = False

    @property
    def unit(self) -> str:
        """What it takes a GB for, in words; empty when the memory is told to it in bytes."""
        return _GB.get(self.gb, "")


def fits(calculator: Calculator, ask: Callable[[Geometry], float], point: Geometry) -> Fits | None:
    """Ask for several GPUs and models, and see what a GB and a weight are worth.

    Args:
        calculator: What it is told.
        ask: The tokens that it says, for one geometry.
        point: Where to start.

    Returns:
        ``None`` when tokens do not grow with the memory: it is not asked as it is meant to be.
    """
    base, more = replace(point, memory=400.0), replace(point, memory=800.0)
    tokens = [ask(base), ask(more)]
    if not tokens[1] > tokens[0] >= 0:
        return None
    per_token = tokens_bytes(point, calculator.told)
    if not calculator.told & {"itemsize", "bits", "dtype", "per_token"}:
        per_token *= 2
    batch = _batch(calculator, ask, base, tokens[0])
    each = per_token * (point.batch if batch == "each" else 1)
    slope = (tokens[1] - tokens[0]) * each
    in_bytes = "memory" not in calculator.told
    per_gb = slope / 400.0
    gb, share = _gb(per_gb)
    if in_bytes:
        gb, share = 0.0, per_gb / DECIMAL
    weights = _weights(calculator, ask, base, tokens[0], each)
    cause = _cause(calculator, per_gb, share, gb, weights)
    mild = cause == _TOO_MANY or (cause == _MIXED and "params_b" in calculator.told)
    return Fits(per_gb, gb, share, weights, cause, batch, mild)


def _batch(calculator: Calculator, ask: Callable[[Geometry], float], base: Geometry, tokens: float) -> str:
    if "batch" not in calculator.told:
        return ""
    alone = ask(replace(base, batch=1))
    return "each" if abs(alone / max(tokens, 1e-9) / base.batch - 1) < _CLOSE else "all"


def _gb(per_gb: float) -> tuple[float, float]:
    """The bytes that a GB is taken for, and the share of it that is used: the rounder one."""
    options = [(size, per_gb / size) for size in _GB]
    return min(options, key=lambda option: abs(option[1] * 20 - round(option[1] * 20)))


def _weights(
    calculator: Calculator, ask: Callable[[Geometry], float], base: Geometry, tokens: float, each: float
) -> float:
    """Bytes taken away for one byte more of weights; 0 when it is told nothing of them."""
    if not calculator.told & {"params", "params_b", "weight_bytes", "weight_gb"}:
        return 0.0
    heavier = replace(base, params=base.params * 2)
    size = base.weight_itemsize
    return (tokens - ask(heavier)) * each / (base.params * size)


def _cause(calculator: Calculator, per_gb: float, share: float, gb: float, weights: float) -> str:
    """What is wrong with it; a share over one or under a half that a usual mistake explains."""
    ratio = weights / share if weights and share else 0.0
    in_gb = "weight_gb" in calculator.told
    if share > 1.0 + _CLOSE or (0 < share < 0.45):
        for words, factor in (
            ("keys and values are counted once, not twice", 2.0), (_TOO_MANY, 0.5),
            ("bits are taken for bytes", 0.125),
        ):  # fmt: skip
            for size in (DECIMAL, BINARY):
                used = per_gb / size / factor
                if 0.5 <= used <= 1 + _CLOSE and abs(used * 20 - round(used * 20)) < 0.05:
                    return words
        return f"it uses {share:.3g} of the memory that there is" if share > 1 else ""
    if not weights or (in_gb and not gb):
        return ""
    kinds = BINARY / DECIMAL
    # Weights that are told in GB are told in the same ones as the memory.
    sound = kinds if in_gb and gb == BINARY else 1.0
    other = 1.0 if sound != 1.0 else kinds
    near = [
        abs(size / value - 1) < _CLOSE for value in (sound, other, 1 / kinds) for size in (weights, ratio)
    ]
    return _MIXED if not any(near[:2]) and any(near[2:]) else ""
