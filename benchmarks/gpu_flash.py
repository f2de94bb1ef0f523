"""The flash checks' claims at long sequences, one line for each: what was measured, what it is held to.

The checks themselves decide on short sequences, where a float64 reference takes no time; here the same
claims are tried at thousands of tokens, with single precision and one head, and timed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.faults import Fault, Skipped
from judge_tui.checks.tasks.flash_attention.cases import Case
from judge_tui.checks.tasks.flash_attention.forward import Forward
from judge_tui.checks.tasks.flash_attention_bwd.passes import Attention
from judge_tui.checks.tasks.flash_attention_bwd.reference import NAMES, Problem
from judge_tui.checks.tolerance import relative_error

__all__ = ["backward", "forward", "tried"]

Array = Any
_WIDTH, _TILE = 64, 128
#: Rows that the reference takes at a time.
_CHUNK = 1024
#: What float32 reaches at these lengths, with room; scores that rise past the range of exp round by as much.
_CLOSE, _STEEP = 1e-3, 2e-2
_RISE, _PAST = 12.0, 1600.0


@dataclass(frozen=True)
class Line:
    """One claim at one length."""

    claim: str
    holds: bool
    told: str
    seconds: float

    def __str__(self) -> str:
        return f"  - {self.claim}: {'holds' if self.holds else 'FAILS'}, {self.told}, {self.seconds:.3g} s"


def forward(bench: Bench, length: int) -> Iterator[Line]:
    """Accuracy, rescaling, masked tiles, causality, work and memory of a forward."""
    call, rng = Forward(bench), bench.rng("long", length)
    full = call.causal[-1]
    plain = _case(rng, length, full)
    call(_cut(plain, 256))
    for causal in call.causal:
        yield _held(call, replace(plain, causal=causal), f"accuracy, {_mask(causal)}")
    for rise, name, limit in ((_RISE, "rise", _CLOSE), (_PAST, "rise past exp", _STEEP)):
        yield _held(call, _ramp(plain, rise), f"rescaling_direction, maxima {name}", limit)
    hidden = plain.k.copy()
    hidden[:, :, :_TILE] = -np.inf
    yield _held(call, replace(plain, q=np.abs(plain.q), k=hidden), "nan_masked_tiles, first tile masked")
    if True in call.causal:
        yield _causality(call, replace(plain, causal=True), rng)
    if len(call.causal) > 1:
        yield _skipped(call, plain)
    yield _memory(call, plain)


def backward(bench: Bench, length: int) -> Iterator[Line]:
    """Gradients, their identities, L and the memory of forward and backward together."""
    call, rng = Attention(bench), bench.rng("long", length)
    case = _case(rng, length, call.causal[0])
    problem = Problem(case, rng.standard_normal(case.q.shape).astype(np.float32), _TILE)
    small = replace(problem, case=_cut(case, 256), d_out=problem.d_out[:, :, :256])
    call(small)
    began = time.monotonic()
    run = call.run(problem, memory=True)
    returned = call.returned(run, memory=True)
    took = time.monotonic() - began
    found, truth = call.read(run, returned), _differentiated(problem)
    for name in NAMES:
        error = relative_error(found[name], truth[name])
        yield Line(f"gradients, {name}", error <= _CLOSE, f"{error:.1e} of the reference", took)
    sums = np.abs(found["dK"].sum(axis=2)).max() / np.abs(found["dK"]).sum(axis=2).max()
    yield Line("gradient_identities, Σ dK = 0", bool(sums <= _CLOSE), f"{sums:.1e} of Σ |dK|", took)
    peak = max(each.result.counters.get("peak_bytes", 0) for each in (run.returned, returned))
    share = peak / (4 * length * length)
    yield Line("peak_memory, forward and backward", share < 0.2, f"{share:.2%} of one (N, N)", took)


def tried(lines: Callable[[Bench, int], Iterator[Line]], bench: Bench, length: int) -> Iterator[Line]:
    """The lines as they come, and a last one where the submission ends them."""
    try:
        yield from lines(bench, length)
    except Skipped as fault:
        yield Line("nothing to try", True, fault.message, 0.0)
    except Fault as fault:
        yield Line("all that is left", False, fault.message, 0.0)


def _case(rng: np.random.Generator, length: int, causal: bool) -> Case:
    q, k, v = (rng.standard_normal((1, 1, length, _WIDTH)).astype(np.float32) for _ in range(3))
    return Case(q, k, v, _TILE, causal)


def _cut(case: Case, length: int) -> Case:
    return replace(case, q=case.q[:, :, :length], k=case.k[:, :, :length], v=case.v[:, :, :length])


def _ramp(case: Case, rise: float) -> Case:
    """Scores that rise from the first key to the last, and little else."""
    q, k = (0.1 * case.q).astype(np.float32), case.k.copy()
    q[..., 0] = 1.0
    k[..., 0] = np.linspace(0, rise * _WIDTH**0.5, case.k.shape[2], dtype=np.float32)
    return replace(case, q=q, k=k)


def _mask(causal: bool) -> str:
    return "causal" if causal else "full"


def _held(call: Forward, case: Case, claim: str, limit: float = _CLOSE) -> Line:
    began = time.monotonic()
    out = call(case)
    took = time.monotonic() - began
    error = relative_error(out, _answered(case))
    return Line(claim, bool(error <= limit), f"{error:.1e} of the reference (limit {limit:.0e})", took)


def _causality(call: Forward, case: Case, rng: np.random.Generator) -> Line:
    """Change keys and values of the second half; the first half's rows stay bit for bit."""
    half = case.k.shape[2] // 2
    k, v = case.k.copy(), case.v.copy()
    for array in (k, v):
        array[:, :, half:] = rng.standard_normal(array[:, :, half:].shape)
    began = time.monotonic()
    before, after = call(case), call(replace(case, k=k, v=v))
    same = bool(np.array_equal(before[:, :, :half], after[:, :, :half]))
    told = "earlier rows the same bits" if same else "earlier rows changed"
    return Line("causality", same, told, time.monotonic() - began)


def _skipped(call: Forward, case: Case) -> Line:
    began = time.monotonic()
    seconds = {}
    for causal in (True, False):
        returned = call.returned(replace(case, causal=causal))[1]
        counters = returned.result.counters
        seconds[causal] = counters.get("device_seconds") or counters["seconds"]
    ratio = seconds[True] / seconds[False]
    told = f"causal takes {ratio:.2f} of the time of full"
    return Line("causal_skip", ratio < 0.75, told, time.monotonic() - began)


def _memory(call: Forward, case: Case) -> Line:
    began = time.monotonic()
    returned = call.returned(case, memory=True)[1]
    share = returned.result.counters.get("peak_bytes", 0) / (4 * case.q.shape[2] ** 2)
    told = f"{share:.2%} of one (N, N)"
    return Line("peak_memory", share < 0.2, told, time.monotonic() - began)


def _chunks(case: Case) -> Iterator[tuple[slice, Array]]:
    """Rows of the softmax of a case with one head, float64, some at a time."""
    q, k = (np.asarray(value[0, 0], np.float64) for value in (case.q, case.k))
    for start in range(0, len(q), _CHUNK):
        rows = slice(start, start + _CHUNK)
        with np.errstate(invalid="ignore"):
            scores = q[rows] @ k.T / np.sqrt(q.shape[1])
        if case.causal:
            scores[np.arange(len(k)) > np.arange(len(q))[rows, None]] = -np.inf
        top = scores.max(axis=1, keepdims=True)
        weights = np.exp(scores - np.where(np.isfinite(top), top, 0.0))
        total = weights.sum(axis=1, keepdims=True)
        yield rows, weights / np.where(total > 0, total, 1.0)


def _answered(case: Case) -> Array:
    v, out = np.asarray(case.v[0, 0], np.float64), np.zeros(case.q.shape)
    for rows, weights in _chunks(case):
        out[0, 0, rows] = weights @ v
    return out


def _differentiated(problem: Problem) -> dict[str, Array]:
    """dQ, dK and dV in float64.

    Source: Dao et al., FlashAttention (2022), appendix B.2.
    """
    case = problem.case
    arrays = (case.q, case.k, case.v, problem.d_out)
    q, k, v, d_o = (np.asarray(value[0, 0], np.float64) for value in arrays)
    found = {name: np.zeros(case.q.shape) for name in NAMES}
    for rows, weights in _chunks(case):
        d_p = d_o[rows] @ v.T
        d_s = weights * (d_p - (weights * d_p).sum(axis=1, keepdims=True)) / np.sqrt(q.shape[1])
        found["dQ"][0, 0, rows] = d_s @ k
        found["dK"][0, 0] += d_s.T @ q[rows]
        found["dV"][0, 0] += weights.T @ d_o[rows]
    return found
