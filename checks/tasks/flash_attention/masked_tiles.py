"""Whether tiles without a visible key are survived: −inf scores, rows that see nothing.

Square causal attention in ascending tiles never meets a row whose running maximum and
tile maximum are both −inf, so the check brings keys of −inf against positive queries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.faults import Fault, Raised
from judge_tui.checks.tasks.flash_attention.cases import Case, Shape
from judge_tui.checks.tasks.flash_attention.forward import Forward
from judge_tui.checks.tasks.flash_attention.gate import sound
from judge_tui.checks.tasks.flash_attention.lowered import of_lower_precision
from judge_tui.checks.tasks.flash_attention.reference import Array
from judge_tui.checks.tasks.flash_attention.rows import Rows
from judge_tui.checks.verdict import Verdict

__all__ = ["nan_masked_tiles"]

Keys = Callable[[int, int], slice]

#: Which keys are hidden, of N and T.
_HIDDEN: dict[str, Keys] = {
    "first tile masked": lambda n, t: slice(0, t),
    "first two tiles and a bit masked": lambda n, t: slice(0, 2 * t + 1),
    "a middle tile masked": lambda n, t: slice(2 * t, 3 * t),
    "last tiles masked": lambda n, t: slice(n - 2 * t, n),
    "only one key visible": lambda n, t: slice(0, n - 1),
}
_FAR_HIDDEN: dict[str, Keys] = {"first tiles masked": lambda n, t: slice(0, 300)}
_EMPTY = "every key masked in one head"
#: Scores of the keys behind a masked tile: a running maximum that is a finite number by then outweighs them.
_LOW = -900.0
_BELOW = f"first tile masked, the others score near {_LOW:g}"
#: Tiles and how many of them; the long ones reach code that chooses its own of up to 256.
_SHORT, _LONG = ((3, 11), (5, 8)), ((14, 20), (30, 32))


@check(
    "nan_masked_tiles",
    "survives tiles without a visible key",
    establishes="O is finite and right where whole tiles score -inf for a row, 0 where a row sees no key.",
    roles=("forward",),
    version=6,
)
def nan_masked_tiles(bench: Bench, found: Findings) -> str:
    """Hide keys behind −inf scores and hold O against the reference; NaN values and invalid events apart."""
    forward = Forward(bench)
    seeing, empty, elsewhere = Rows(), Rows(), Rows()
    overflow = _refuses_infinity(bench, forward)
    leaks: list[float] = []
    for case in _cases(bench, forward, overflow):
        out = forward(case)
        blind = _blind(case)
        held = seeing.hold(case, np.where(blind, case.truth, out))
        if held.verdict is Verdict.FAIL and held.error == held.error and _wrong_anyway(bench, forward, case):
            elsewhere.held.append(seeing.held.pop())
        if blind.any():
            leaks.extend(_hold_blind(empty, case, out, blind))
    counters = forward.counters(next(_cases(bench, forward, overflow)))
    where = forward.located(counters.get("invalid_at"))
    error = limit = 0.0
    if elsewhere.held:
        error, limit = sound(found, forward, bench, causal=forward.causal[0])
        elsewhere.decide(found, "rows that are as wrong without masked tiles", past=Verdict.WARN)
    for rows, which in ((seeing, "rows that see some key"), (empty, "rows that see no key: 0 is right")):
        if rows.held:
            rows.decide(found, which, strict=False, **(where if _fails(rows) else {}))
    if leaks and max(leaks) > 0:
        found.claim(
            "causal rows that see only -inf keys are 0",
            False,
            measured=max(leaks),
            limit=0,
            otherwise=Verdict.WARN,
            **forward.place,
            note="They average keys beyond the diagonal: the mask's finite sentinel lies above -inf.",
        )
    _strict(bench, forward, found)
    if counters:
        found.note(
            "floating-point invalid events in one call",
            counters.get("invalid_events"),
            note="Those that the submission does not silence itself; evidence only.",
        )
    if overflow:
        found.note(
            "keys of -inf are refused",
            "yes",
            note="Scores of -inf were reached by overflow of finite inputs.",
        )
    if error > limit:
        return f"what it computes is not attention ({error:.2g} off), masked tiles or not"
    told = _summary(seeing, empty, elsewhere, leaks)
    lower = of_lower_precision(forward, elsewhere) if elsewhere.held else None
    return told if lower is None else f"{told}; {lower.text}"


def _fails(rows: Rows) -> bool:
    return bool(rows.held) and rows.worst.verdict is Verdict.FAIL


def _only_below(rows: Rows) -> bool:
    """Whether rows are wrong behind a masked tile only where all visible keys score far below 0."""
    wrong = [held.case.name for held in rows.held if held.verdict is Verdict.FAIL]
    return bool(wrong) and all(name == _BELOW for name in wrong)


def _cases(bench: Bench, forward: Forward, overflow: bool) -> Iterator[Case]:
    for tiles, count in (_SHORT, _LONG):
        for causal in reversed(forward.causal):
            sizes = bench.sizes("masked", tiles[0], causal)
            tile = sizes.between(*tiles)
            shape = (1, 2, tile * sizes.between(*count), sizes.between(2, 24))
            for name, keys in _HIDDEN.items() if tiles is _SHORT[0] else _FAR_HIDDEN.items():
                rng = bench.rng(name, tiles[0], causal)
                yield _hidden(rng, shape, tile, causal, keys(shape[2], tile), name, overflow)
            if tiles is _SHORT[0]:
                rng = bench.rng(_BELOW, causal)
                yield _low(_hidden(rng, shape, tile, causal, slice(0, tile), _BELOW, False), overflow)
        if tiles is _SHORT[0]:
            # with the mask a finite number that hides later keys lends all rows but the last a maximum
            yield _all_hidden(bench.rng(_EMPTY), shape, tile, forward.causal[-1], overflow)


def _hidden(
    rng: np.random.Generator, shape: Shape, tile: int, causal: bool, keys: slice, name: str, overflow: bool
) -> Case:
    q, k, v = (rng.standard_normal(shape) for _ in range(3))
    q[..., 0] = rng.uniform(0.5, 1.5, q.shape[:-1])
    k[:, :, keys, 0] = -np.inf
    return _overflowing(Case(q, k, v, tile, causal, name)) if overflow else Case(q, k, v, tile, causal, name)


def _low(case: Case, overflow: bool) -> Case:
    """The same where visible keys score far below 0, in rows alike: softmax does not change."""
    q, k = case.q.copy(), case.k.copy()
    q[..., 0], k[..., 0] = 1.0, k[..., 0] + _LOW * case.q.shape[-1] ** 0.5
    low = replace(case, q=q, k=k)
    return _overflowing(low) if overflow else low


def _all_hidden(rng: np.random.Generator, shape: Shape, tile: int, causal: bool, overflow: bool) -> Case:
    case = _hidden(rng, shape, tile, causal, slice(0, 0), _EMPTY, False)
    case.k[:, 1, :, 0] = -np.inf
    return _overflowing(case) if overflow else case


def _overflowing(case: Case) -> Case:
    """The same scores of −inf from finite inputs: 1e200 against −1e200; the others stay as they were."""
    q, k = case.q.copy(), case.k.copy()
    hidden = np.isneginf(k[..., 0])
    q[..., 0] *= 1e200
    k[..., 0] = np.where(hidden, -1e200, k[..., 0] * 1e-200)
    return replace(case, q=q, k=k)


def _refuses_infinity(bench: Bench, forward: Forward) -> bool:
    """Whether −inf among the keys raises ValueError: a validation of inputs, and no failure."""
    try:
        forward(next(_cases(bench, forward, False)))
    except Raised as fault:
        if fault.kind in ("ValueError", "AssertionError"):
            return True
        raise
    return False


def _blind(case: Case) -> npt.NDArray[np.bool_]:
    """Rows (B, H, N, 1) that see no key."""
    open_ = np.isfinite(case.k[..., 0]) & (case.k[..., 0] > -1e199)
    seen = (
        np.logical_or.accumulate(open_, axis=-1)
        if case.causal
        else np.broadcast_to(open_.any(-1, keepdims=True), open_.shape)
    )
    return ~np.asarray(seen)[..., None]


def _hold_blind(rows: Rows, case: Case, out: Array, blind: npt.NDArray[np.bool_]) -> list[float]:
    """Rows without a key: 0 is right. Under the causal mask a finite other value is a leak, told apart."""
    own = np.where(blind, out, case.truth)
    if not case.causal or not np.isfinite(own).all():
        rows.hold(case, own)
        return []
    rows.hold(case, case.truth)
    return [float(np.max(np.abs(np.where(blind, out, 0.0))))]


def _wrong_anyway(bench: Bench, forward: Forward, case: Case) -> bool:
    """Whether the same call is as wrong with every key visible: then no masked tile is to blame."""
    k = case.k.copy()
    seen = k[..., 0][np.isfinite(k[..., 0]) & (k[..., 0] > -1e199)]
    usual = float(np.median(seen)) if case.name == _BELOW else 0.0
    k[..., 0] = usual + bench.rng("visible").standard_normal(k.shape[:-1])
    visible = replace(case, k=k, q=np.where(np.abs(case.q) > 1e100, case.q * 1e-200, case.q))
    return Rows().hold(visible, forward(visible)).verdict is Verdict.FAIL


def _strict(bench: Bench, forward: Forward, found: Findings) -> None:
    """NaN in the values of masked keys: 0 · NaN is NaN in every plain product, so this decides nothing."""
    name, shape = "NaN values behind the mask", (1, 2, 40, 6)
    case = _hidden(bench.rng("strict"), shape, 8, forward.causal[-1], slice(0, 8), name, False)
    case.v[:, :, :8] = np.nan
    try:
        out = forward(case)
    except Fault as fault:
        found.note("values of NaN at masked keys", fault.message)
        return
    rows = float(np.mean(~np.isfinite(out[:, :, 8:]).all(axis=-1)))
    found.note(
        "rows with NaN when masked values are NaN", 100 * rows, unit="%", note="0 · NaN; evidence only."
    )


def _summary(seeing: Rows, empty: Rows, elsewhere: Rows, leaks: list[float]) -> str:
    if _fails(seeing):
        held = seeing.worst
        what = "NaN or infinite" if held.error != held.error else f"{held.error:.2g} off"
        why = ": the maximum that a masked tile leaves is a finite number" if _only_below(seeing) else ""
        return f"O is {what} in rows that see a key: {held.case} (limit {held.most:.0e}){why}"
    if _fails(empty):
        held = empty.worst
        what = "NaN or infinite" if held.error != held.error else f"{held.error:.2g} off instead of 0"
        return f"O is {what} in rows that see no key: {held.case}; -inf - (-inf), or a division by l = 0?"
    if leaks and max(leaks) > 0:
        return (
            f"rows that see only -inf keys average masked keys instead of giving 0 (up to {max(leaks):.2g})"
        )
    if elsewhere.held:
        held = elsewhere.worst
        return f"finite, but {held.error:.2g} off, and as wrong without masked tiles: not by the masking"
    held = seeing.worst
    blind = "rows that see none are 0" if empty.held else "no row was without a key"
    count = len(seeing.held)
    reached = f"{held.error:.1e} of the reference in {count} calls (limit {held.most:.0e})"
    return f"rows with masked tiles are {reached}; {blind}"
