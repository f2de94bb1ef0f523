"""Whether the online softmax rescales by exp(m_old − m_new): row maxima that rise, fall and stay.

O / l is invariant to a factor common to both, but the newest tile is added without it,
so a wrong factor shows as soon as the maximum rises. Keeping the first maximum as
reference and scaling later tiles up is exact until exp overflows, so scores rise by
more than the 709 that float64 holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.tasks.flash_attention.cases import Case
from judge_tui.checks.tasks.flash_attention.forward import Forward
from judge_tui.checks.tasks.flash_attention.gate import sound
from judge_tui.checks.tasks.flash_attention.lowered import lower_precision
from judge_tui.checks.tasks.flash_attention.naming import named
from judge_tui.checks.tasks.flash_attention.narrow import narrow_rescaling
from judge_tui.checks.tasks.flash_attention.reference import Array, Factor, streamed
from judge_tui.checks.tasks.flash_attention.rows import Held, Rows
from judge_tui.checks.tasks.flash_attention.together import rows_together
from judge_tui.checks.tolerance import relative_error
from judge_tui.checks.verdict import Verdict

__all__ = ["rescaling_direction"]

#: Rise of the scores from the first key to the last: soft enough that every tile still counts.
_SOFT = 12.0
#: Past the largest argument of exp in float64, 709.78.
_STEEP = 1600.0
#: Rise per tile, over so many tiles that float32 overflows where a rise is put off once too often.
_SLOW, _SLOW_TILES, _SLOW_TILE = (3, 6, 10, 14), 32, 4
#: Tiles and how many of them; the long ones reach code that chooses its own of up to 256.
_TILES = (((5, 9), (8, 10)), ((88, 104), (8, 8)))
_RISING, _FALLING, _CONSTANT, _PAST, _FALLEN, _MIXED = _KINDS = (
    "rising",
    "falling",
    "constant",
    "rising past the range of exp",
    "falling past the range of exp",
    "rising in some rows, falling in others",
)
_MISTAKES: dict[Factor, str] = {
    "reversed": "as exp(m_new - m_old) gives",
    "absent": "as it is with the factor left out",
    "only l": "as it is with O left unscaled",
    "only O": "as it is with l left unscaled",
}


@check(
    "rescaling_direction",
    "rescales by exp(m_old - m_new)",
    establishes="O is right while row maxima rise over many tiles, fall, stay, and pass the range of exp "
    "as they rise or fall.",
    roles=("forward",),
    version=10,
)
def rescaling_direction(bench: Bench, found: Findings) -> str:
    """Hold O against the reference for scores whose running maximum rises, falls and stays."""
    forward = Forward(bench)
    # A causal row sees few tiles at the start; without the mask every row sees them all.
    causal = forward.causal[-1]
    rows = {kind: Rows() for kind in _KINDS}
    for case in _cases(bench, causal):
        rows[case.name].hold(case, forward(case))
    worst = {kind: rows[kind].worst for kind in _KINDS}
    wrong = [kind for kind in _KINDS if not _right(worst[kind])]
    elsewhere = bool(wrong) and all(_untiled_alike(forward, worst[kind]) for kind in wrong)
    counters = forward.counters(rows[_RISING].held[0].case)
    largest = counters.get("exp_max_argument")
    grown = isinstance(largest, float) and largest > 0
    where = forward.located(counters.get("exp_at") if grown else None)
    for kind in _KINDS:
        rows[kind].decide(
            found,
            f"O, maxima {kind}",
            strict=False,
            past=Verdict.WARN if elsewhere else Verdict.FAIL,
            **(where if kind in wrong else {}),
        )
    if isinstance(largest, float):
        found.note(
            "largest argument that exp saw while maxima rise",
            largest,
            note="A hint only: right code may evaluate exp on lanes that it discards.",
        )
    # On the CPU NumPy computes float16 by way of float32, one number at a time, and has no bfloat16.
    if bench.place.gpu:
        narrow_rescaling(bench, found, forward)
    cause = _cause(forward, rows[_RISING].held[0])
    soft = [worst[kind].error for kind in _KINDS[:3]]
    lower = lower_precision(forward) if wrong and not cause else None
    lower = lower if lower is not None and lower.explains(soft, len(soft)) else None
    if elsewhere:
        error, limit = sound(found, forward, bench, causal=forward.causal[0])
        if error > limit:
            return f"what it computes is not attention ({error:.2g} off), with any maxima and any tiles"
        told = f"O is {worst[wrong[0]].error:.2g} off, and as far off in a single tile: not by the rescaling"
        return told if lower is None else f"{told}; {lower.text}"
    every = [held for each in rows.values() for held in each.held]
    if wrong and not cause and lower is None and (known := named(forward, Rows(every))):
        return f"{known}; with maxima {_errors(worst)} of the reference"
    if lower is not None:
        return f"{lower.text}; with maxima {', '.join(wrong)} that is more than is right: {_errors(worst)}"
    beside = "" if _right(worst[_MIXED]) or cause else rows_together(forward)
    return _summary(worst, cause, causal, beside)


def _cases(bench: Bench, causal: bool) -> Iterator[Case]:
    for tiles, count in _TILES:
        sizes = bench.sizes("ramp", tiles[0])
        tile = sizes.between(*tiles)
        length, width = tile * sizes.between(*count), sizes.between(3, 24)
        place = np.arange(length) / length
        level = {
            _RISING: _SOFT * place,
            _FALLING: _SOFT * (1 - place),
            # The same key every few places: whatever the tiles, a row meets its maximum in each of them.
            _CONSTANT: np.where(np.arange(length) % 4, 0.0, _SOFT),
            _PAST: _STEEP * place,
            _FALLEN: _STEEP * (1 - place),
            _MIXED: _STEEP * place,
        }
        for kind in _KINDS if length < 100 else (_RISING, _PAST):
            rng = bench.rng(kind, length)
            signs = rng.choice([-1.0, 1.0], length) if kind == _MIXED else np.ones(length)
            yield _ramp(rng, level[kind], signs, tile, causal, kind, width=width)
    for step in _SLOW:
        rise = step * np.repeat(np.arange(float(_SLOW_TILES)), _SLOW_TILE)
        rng, same = bench.rng("slow", step), np.ones(rise.size)
        width = bench.sizes("slow", step).between(3, 24)
        yield _single(_ramp(rng, rise, same, _SLOW_TILE, causal, _PAST, noise=0.3, width=width))


def _single(case: Case) -> Case:
    q, k, v = (x.astype(np.float32) for x in (case.q, case.k, case.v))
    return replace(case, q=q, k=k, v=v)


def _ramp(
    rng: np.random.Generator,
    level: Array,
    signs: Array,
    tile: int,
    causal: bool,
    name: str,
    *,
    width: int,
    noise: float = 1.0,
) -> Case:
    """Scores ``signs_i · level_j`` and noise, a little steeper for some rows than for others."""
    shape = (1, 2 if level.size < 100 else 1, level.size, width)
    q, k, v = (rng.standard_normal(shape) for _ in range(3))
    q *= noise
    q[..., 0] = signs * rng.uniform(0.8, 1.2, level.size)
    k[..., 0] = level * shape[-1] ** 0.5
    if name == _CONSTANT:
        k[:, :, ::4] = k[:, :, :1]
        q[..., 1:] *= 0.3
    return Case(q, k, v, tile, causal, name)


def _right(held: Held) -> bool:
    return bool(held.error <= held.most)


def _untiled_alike(forward: Forward, held: Held) -> bool:
    """Whether one tile for all gives the same wrong answer: then no rescaling is to blame."""
    if held.error != held.error or not forward.tiled:
        return False
    case = held.case
    whole = forward(replace(case, tile=case.q.shape[2]))
    return relative_error(forward(case), whole) <= held.most


def _cause(forward: Forward, held: Held) -> str:
    """The mistake whose result the answer is, if it is one of the known ones."""
    if _right(held):
        return ""
    case = held.case
    out = forward(case)
    for factor, words in _MISTAKES.items():
        with np.errstate(all="ignore"):
            if relative_error(out, streamed(case.q, case.k, case.v, case.tile, case.causal, factor)) < 1e-6:
                return f", {words}"
    return ""


def _errors(worst: dict[str, Held]) -> str:
    return ", ".join(f"{kind} {worst[kind].error:.1e}" for kind in _KINDS[:3])


def _summary(worst: dict[str, Held], cause: str, causal: bool, beside: str) -> str:
    told = _errors(worst)
    mask = "causal" if causal else "full attention"
    soft, past, fallen, mixed = worst[_RISING], worst[_PAST], worst[_FALLEN], worst[_MIXED]
    if not _right(soft):
        return f"wrong while row maxima rise{cause}: {told} of the reference ({mask}, limit {soft.most:.0e})"
    for kind in (_FALLING, _CONSTANT):
        if not _right(worst[kind]):
            return f"wrong with maxima {kind}: {told} of the reference ({mask}, limit {worst[kind].most:.0e})"
    if not _right(past):
        why = "later tiles are scaled up to an earlier maximum, a rise is put off, or none is subtracted"
        return (
            f"overflows while maxima rise past the range of exp ({past.error:.1e}): {why}; otherwise {told}"
        )
    if not _right(fallen):
        why = "each tile's own maximum is taken, and none is carried on"
        return (
            f"overflows while maxima fall past the range of exp ({fallen.error:.1e}): {why}; otherwise {told}"
        )
    if not _right(mixed):
        why = f": {beside}" if beside else ""
        return f"{mixed.error:.1e} off with maxima {_MIXED} (limit {mixed.most:.0e}){why}; otherwise {told}"
    return (
        f"maxima {told} of the reference ({mask}, limit {soft.most:.0e}); "
        f"past the range of exp {past.error:.1e} (limit {past.most:.0e})"
    )
