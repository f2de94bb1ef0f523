"""Whether codes give back what went in to half a step, and save bytes."""

from __future__ import annotations

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.faults import Died, Fault, Raised, Skipped, TimedOut, Unbound
from judge_tui.checks.tasks.kv.finding import quantized as compressed
from judge_tui.checks.tasks.kv.quantized.attending import judge_answers
from judge_tui.checks.tasks.kv.quantized.attention import judge_attention
from judge_tui.checks.tasks.kv.quantized.coder import CacheCoder, Coder, PairCoder
from judge_tui.checks.tasks.kv.quantized.modes import judge_modes
from judge_tui.checks.tasks.kv.quantized.pairs import pairs
from judge_tui.checks.tasks.kv.quantized.store import judge_codes
from judge_tui.checks.tasks.kv.words import claims

__all__ = ["quantized"]

_NAMED = r"quant|int_?[48](?!\d)|(^|_)q[48](_|$)"
_OTHER = (
    r"bytes|memory|size|error|test|bench|demo|print|compare|config|stats|report|savings|ratio|page|hybrid|"
    r"footprint"
)
_SAID = r"quanti[sz]|\bint_?[48]\b"


@check(
    "quantized",
    "quantized cache",
    establishes="Dequantized numbers are within half a step, attention uses them, and bytes are saved.",
    version=16,
    optional=True,
)
def quantized(bench: Bench, found: Findings) -> str:
    """Known and moved ranges, an outlier channel, growing tokens, zeros, head sizes, bytes, attention."""
    said = judge_modes(bench, found)
    try:
        coders = _coders(bench)
    except (Skipped, Unbound):
        if said:
            return "; ".join(said)
        raise
    for coder in coders:
        for told in coder.widths:
            said.append(_one(bench, found, coder, told))
    return "; ".join(said)


def _one(bench: Bench, found: Findings, coder: Coder, told: int) -> str:
    if told == 4:
        try:
            coder.weight(told)
        except Raised as fault:
            found.note(f"{coder.name}: 4 bits", "refused", note=fault.brief(160))
            return "4 bits refused"
    if isinstance(coder, CacheCoder) and coder.only_attends:
        return judge_answers(bench, found, coder, told)
    job = judge_codes(bench, found, coder, told)
    wrong = list(job.wrong)
    if isinstance(coder, CacheCoder) and (said := judge_attention(bench, found, coder, told)):
        wrong.append(said)
    if wrong:
        return f"{job.label}: {'; '.join(wrong[:3])}"
    weight = coder.weight(told)
    bytes_ = f", {weight.each:.3g} bytes per number with its scales" if weight else ""
    return f"{job.label}: within half a step{bytes_}"


def _coders(bench: Bench) -> list[Coder]:
    """The caches, else the calls.

    Raises:
        Skipped: Nothing is named after it.
        Unbound: Something is, and cannot be called.
        Fault: What is, ended the process.
    """
    bindings = bench.bindings
    own = (compressed.roles_of(bindings.found, prefix) for prefix in compressed.PREFIXES)
    made = [CacheCoder(bench, roles) for roles in own if roles is not None]
    caches: list[Coder] = list(made)
    if not all(cache.only_attends for cache in made):
        return caches
    tried = list(bindings.rejected.get("quantized", ()))
    ended: Fault | None = None
    try:
        if own_pairs := list(pairs(bench.worker, bench.worker.loaded, tried)):
            return [*caches, *(PairCoder(bench, pair) for pair in own_pairs)]
    except (Died, TimedOut) as fault:
        ended = fault
    if caches:
        return caches
    named = claims.claims(bench.submission, _NAMED, _OTHER)
    if not named:
        raise claims.skipped(bench.submission, "quantized cache", _SAID)
    if ended is not None:
        raise ended
    raise Unbound("quantized", [*tried, *(f"saw {claim}" for claim in named[:6])])
