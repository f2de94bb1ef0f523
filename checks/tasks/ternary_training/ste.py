"""Whether the gradient reaches the latent weights as identity, with the scale as a constant.

dL/dW_latent = dL/dW_projected is dyᵀ·x whatever the weights are, and dx = dy·W_projected. Differences of
the submission's own forward by its latent weights are no judge of that: but for the scale they are zero
almost everywhere. Its forward is linear in x and in the bias, so there they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.faults import Raised, Unbound
from judge_tui.checks.gradients import Independence, differences
from judge_tui.checks.refusing import refusal
from judge_tui.checks.sizes import Sizes
from judge_tui.checks.tasks.ternary_training import estimator
from judge_tui.checks.tasks.ternary_training.again import AGAIN, hold_again
from judge_tui.checks.tasks.ternary_training.apart import APART, hold_apart
from judge_tui.checks.tasks.ternary_training.beside import ZERO, of_bias, of_input
from judge_tui.checks.tasks.ternary_training.draws import exact_inputs, mixed
from judge_tui.checks.tasks.ternary_training.layer import Layer
from judge_tui.checks.tasks.ternary_training.learning import LEARNING, hold_learning
from judge_tui.checks.tasks.ternary_training.projection import COARSE
from judge_tui.checks.tolerance import is_single, relative_error
from judge_tui.checks.verdict import Verdict

__all__ = ["ste"]

Array = npt.NDArray[Any]

#: The tolerance of the challenge, far above float32's rounding of these sums.
_LIMIT = 1e-5
_NAMES = ("dweight", "dx", "dbias")


@check(
    "ste",
    "straight-through gradient",
    establishes="dL/dW_latent is dL/dW_projected, the scale a constant; dx and dbias are right.",
    roles=("forward", "backward"),
    budget=120,
    version=8,
)
def ste(bench: Bench, found: Findings) -> str:
    """Compare gradients on every draw, exchange the latent weights, difference the forward."""
    layer = Layer(bench)
    out = layer.whole(bench.rng("few"))
    if why := layer.unsuited(mixed(bench.rng("linear"), (out, 128))):
        raise Unbound("forward", [f"{layer.binding.target} {why}"])
    binding = bench.binding("backward")
    place: dict[str, Any] = {"file": binding.file, "line": binding.line or None}
    held = {name: _Worst() for name in _NAMES}
    causes: list[str] = []
    for index, (shape, rows, ragged) in enumerate(_shapes(bench.sizes("draws"), out)):
        case = _Case.drawn(bench.rng(index), shape, rows)
        try:
            _compare(layer, case, held, causes)
        except Raised as fault:
            if ragged and (told := refusal(bench.submission, fault)):
                found.note(f"not called at {shape}", told, file=fault.file, line=fault.line)
                continue
            raise
    with bench.fresh() as worker:
        _compare(layer, _Case.drawn(bench.rng("fresh"), (out, 128), 6), held, causes, worker=worker)
    if not held["dx"].error <= _LIMIT and not held["dx"].cause:
        # more rows than outputs show what dy is multiplied by
        _compare(layer, _Case.drawn(bench.rng("wide"), (out, 384), out + 8), held, causes)
    common = _common(causes)
    explained = _decided(found, layer, held, common, place)
    explained[LEARNING] = hold_learning(bench, found, layer, out, _LIMIT)
    if found.verdict is Verdict.PASS:
        explained[AGAIN] = hold_again(bench, found, layer, out, _LIMIT)
        explained[APART] = hold_apart(bench, found, layer, out)
    if found.verdict is Verdict.PASS:
        explained |= dict.fromkeys(_exchanged(bench, found, layer, out, place), common)
        explained |= _differenced(bench, found, layer, out, place)
    if found.verdict is not Verdict.FAIL:
        told = "float32" if held["dweight"].single else "float64"
        found.claim(
            "dweight in the precision of its inputs", told == "float64", measured=told, limit="float64",
            otherwise=Verdict.WARN, **({} if told == "float64" else place),
        )  # fmt: skip
    return _summary(found, held, explained)


def _common(causes: list[str]) -> str:
    """The cause of most wrong draws; of some that are large, short or ragged nothing may be known."""
    known = Counter(cause for cause in causes if cause)
    told, count = next(iter(known.most_common(1)), ("", 0))
    return told if 3 * count >= 2 * known.total() and 2 * count >= len(causes) else ""


def _shapes(sizes: Sizes, out: int) -> Iterator[tuple[tuple[int, int], int, bool]]:
    """(out, in) and B, one pair twice; ragged groups, the last, may be refused: ``projection`` tells."""
    rows = sizes.between(3, 9)
    yield (out, 128), rows, False
    yield (out, 128 * sizes.between(2, 3)), sizes.between(2, 8), False
    yield (out, 128), rows, False
    yield (out, 128 * sizes.between(9, 16)), 2, False
    yield (out, 128), sizes.between(64, 200), False
    yield (128, 128), sizes.between(3, 9), False
    yield (sizes.between(3, 9), 256 + sizes.between(20, 108)), sizes.between(2, 6), True


@dataclass(frozen=True, slots=True)
class _Case:
    weight: Array
    bias: Array
    x: Array
    dy: Array

    @classmethod
    def drawn(cls, rng: np.random.Generator, shape: tuple[int, int], rows: int) -> _Case:
        out, width = shape
        x = exact_inputs(rng, rows, width)
        return cls(mixed(rng, shape), rng.standard_normal(out), x, rng.standard_normal((rows, out)))


@dataclass(slots=True)
class _Worst:
    """The worst figure of one gradient, and where it was; ``count`` is 0 where the layer gives none.

    ``single`` says that all of its numbers were float32 ones; ``causes`` what wrong ones are instead.
    """

    error: float = 0.0
    note: str = ""
    causes: list[tuple[str, ...]] = field(default_factory=list)
    count: int = 0
    single: bool = True

    def add(self, gradient: Array, truth: Array, note: str, causes: tuple[str, ...] = ()) -> None:
        error = relative_error(gradient, truth)
        self.count += 1
        self.single = self.single and is_single(gradient)
        if causes:
            self.causes.append(causes)
        if self.count == 1 or not error <= self.error:
            self.error, self.note = error, note

    @property
    def cause(self) -> str:
        """What it is instead by all draws; empty where they tell different things."""
        told = [each for each in self.causes if each != (ZERO,)] or self.causes[:1]
        return next((each for each in told[0] if all(each in other for other in told)), "") if told else ""


def _compare(
    layer: Layer, case: _Case, held: Mapping[str, _Worst], causes: list[str], *, worker: Any = None
) -> None:
    run = layer.forward(case.weight, case.x, bias=case.bias, worker=worker)
    given = layer.backward(run, case.dy, worker=worker)
    through = case.dy.T @ case.x
    note = f"worst at W {case.weight.shape}, B = {len(case.x)}"
    held["dweight"].add(given.dweight, through, note)
    if not relative_error(given.dweight, through) <= _LIMIT:
        causes.append(
            estimator.cause(
                given.dweight, through, case.weight, case.x, case.dy, layer.transposed,
                _answers(run.y, case.dy, case.bias if layer.biased else np.zeros(len(case.bias))),
            )
        )  # fmt: skip
    if given.dx is not None:
        truth = case.dy @ layer.effective(case.weight, worker=worker)
        why: tuple[str, ...] = ()
        if not relative_error(given.dx, truth) <= _LIMIT:
            effective = layer.effective(case.weight, worker=worker)
            why = of_input(given.dx, case.dy, case.weight, effective, layer.transposed)
        held["dx"].add(given.dx, truth, note, why)
    if given.dbias is not None:
        truth = case.dy.sum(axis=0)
        wrong = not relative_error(given.dbias, truth) <= _LIMIT
        held["dbias"].add(given.dbias, truth, note, of_bias(given.dbias, case.dy) if wrong else ())


def _answers(y: Array, dy: Array, bias: Array) -> dict[str, Array]:
    """What a forward answered, and what may be made of it where dy belongs, (B, out) each."""
    return {
        "the forward's answer": y,
        "the forward's answer without its bias": y - bias,
        "the forward's answer less dy": y - dy,
        "dy times the forward's answer": dy * y,
    }


def _decided(
    found: Findings, layer: Layer, held: Mapping[str, _Worst], why: str, place: Mapping[str, Any]
) -> dict[str, str]:
    """Hold every gradient against its limit; what each quantity is instead, as far as that is known."""
    explained = {}
    for name, truth in (("dweight", "dyᵀ·x"), ("dx", "dy·W_projected"), ("dbias", "Σ dy")):
        figures = held[name]
        if figures.count:
            quantity = f"{name}, relative error per row against {truth}"
            explained[quantity] = cause = why if name == "dweight" else figures.cause
            note = "; ".join(filter(None, (figures.note, cause)))
            found.limit(quantity, figures.error, _LIMIT, note=note, **place)
        elif name == "dx" or layer.biased:
            what = "the input" if name == "dx" else "the bias that it takes"
            found.claim(
                f"a gradient for {what}", False, measured="none given", otherwise=Verdict.WARN, **place
            )
    return explained


def _exchanged(
    bench: Bench, found: Findings, layer: Layer, out: int, place: Mapping[str, Any]
) -> tuple[str, ...]:
    """An identity without a reference: other latent weights, the same gradient; and linear in dy.

    Returns:
        The quantities.
    """
    quantities = (
        "dweight with other latent weights, relative change",
        "dweight with dy times -3, relative change from -3 times",
    )
    case = _Case.drawn(bench.rng("exchanged"), (out, 128), 6)
    given = layer.backward(layer.forward(case.weight, case.x, bias=case.bias), case.dy)
    other = mixed(bench.rng("other"), (out, 128)) * 10.0
    exchanged = layer.backward(layer.forward(other, case.x, bias=case.bias), case.dy)
    error = relative_error(exchanged.dweight, given.dweight)
    found.limit(quantities[0], error, _LIMIT, **place)
    scaled = layer.backward(layer.forward(case.weight, case.x, bias=case.bias), -3.0 * case.dy)
    error = relative_error(scaled.dweight / -3.0, given.dweight)
    found.limit(quantities[1], error, _LIMIT, **place)
    return quantities


def _differenced(
    bench: Bench, found: Findings, layer: Layer, out: int, place: Mapping[str, Any]
) -> dict[str, str]:
    """Dx and dbias against central differences of the submission's own forward, all rows at once.

    Returns:
        What quantities are instead, as far as that is known.
    """
    shape, rows = (out, 128), 5
    case = _Case.drawn(bench.rng("differences"), shape, rows)

    def y(at: Mapping[str, Array]) -> Array:
        return layer.forward(case.weight, at["x"], bias=at["bias"]).y

    at = {"x": case.x, "bias": case.bias}
    far = bench.rng("far").standard_normal(case.x.shape)
    # Its own answer to zeros, so that a bias which is used wrongly is not taken for what is not linear.
    plain = far @ layer.effective(case.weight).T + y({**at, "x": 0 * far})
    linear = relative_error(y({**at, "x": far}), plain) <= _LIMIT
    there = layer.backward(layer.forward(case.weight, far, bias=case.bias), case.dy)
    found.limit(
        "dweight at inputs of no particular form, relative error per row against dyᵀ·x",
        relative_error(there.dweight, case.dy.T @ far), _LIMIT if linear else COARSE,
        note="" if linear else "Its forward is not linear in x: as far as coarse inputs may be off.", **place,
    )  # fmt: skip
    if not linear:
        # What quantizes its input as well has no differences that its gradient must equal.
        found.note("its forward is linear in x", "no", note="not differenced", **layer.place)
        return {}
    given = layer.backward(layer.forward(case.weight, case.x, bias=case.bias), case.dy)
    # A linear function may be differenced by a long step: nothing is truncated, and float32 rounds little.
    by_x = Independence("x", ((0, 0),))
    wanted = slice(0, 12)
    if given.dx is not None:
        estimate = differences(y, at, by_x, case.dy, scale=64.0, steps=(1.0,), only=wanted)
        error = relative_error(given.dx[:, wanted], estimate.value[:, wanted])
        quantity = "dx, relative error against differences of its own forward, 12 columns"
        found.limit(quantity, error, 1e-3, note="step 64: its forward is linear in x", **place)
    if given.dbias is not None and layer.biased:
        estimate = differences(y, at, Independence("bias", ((0, 1),)), case.dy, scale=64.0, steps=(1.0,))
        error = relative_error(given.dbias, estimate.value)
        quantity = "dbias, relative error against differences of its own forward"
        found.limit(quantity, error, 1e-3, **place)
        if not error <= 1e-3:
            return {quantity: _of_forward(given.dbias, estimate.value)}
    return {}


def _of_forward(dbias: Array, slope: Array) -> str:
    """What the forward makes of a bias whose gradient is another one, as a clause."""
    if not slope.any():
        return "the forward does not add the bias"
    factor = float((dbias * slope).sum() / max(float((dbias * dbias).sum()), 1e-300))
    if not relative_error(factor * dbias, slope) <= 1e-3:
        return ""
    if abs(factor + 1.0) <= 1e-3:
        return "its sign is turned: the forward subtracts the bias"
    return f"the forward adds the bias {factor:.4g} times"


def _summary(found: Findings, held: Mapping[str, _Worst], explained: Mapping[str, str]) -> str:
    bad = [item for item in found.evidence if item.ok is False]
    if not bad:
        shown = ", ".join(f"{name} {held[name].error:.1e}" for name in _NAMES if held[name].count)
        return f"identity to the latent weights, scale constant: {shown} off at worst (limit {_LIMIT:g})"
    first = bad[0]
    if found.verdict is Verdict.WARN:
        return f"dweight is the identity's; {first.quantity}: {first.measured}"
    # what only warns has no limit
    first = next((item for item in bad if item.limit is not None), first)
    if first.quantity in (AGAIN, APART) and explained[first.quantity]:
        return f"{first.quantity}: {explained[first.quantity]}"
    error = f"{first.measured:.2g}" if isinstance(first.measured, float) else str(first.measured)
    cause = explained.get(first.quantity, "")
    return f"{first.quantity}: {error} (limit {first.limit:g})" + (f": {cause}" if cause else "")
