"""Whether blocks that are handed out come back, hold what they should, and are never anyone else's."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.check import Findings, check
from judge_tui.checks.faults import Raised, Unbound
from judge_tui.checks.tasks.kv.faces.batched import fed_off
from judge_tui.checks.tasks.kv.faces.block_tables import chooses
from judge_tui.checks.tasks.kv.faces.pool import Pool, PoolSizes
from judge_tui.checks.tasks.kv.finding.paged import parts_of
from judge_tui.checks.tasks.kv.limits import precision
from judge_tui.checks.tasks.kv.paged.allocator import judge_allocator
from judge_tui.checks.tasks.kv.paged.chosen import judge_filled, not_judged
from judge_tui.checks.tasks.kv.paged.churn import churn, differs_from_solo, worst_attention
from judge_tui.checks.tasks.kv.paged.filling import Filled, fill, tokens_off
from judge_tui.checks.tasks.kv.paged.fullness import judge_blocks, judge_full, judge_refused, judge_room_again
from judge_tui.checks.tasks.kv.paged.job import Job
from judge_tui.checks.tasks.kv.paged.large import judge_large
from judge_tui.checks.tasks.kv.paged.leaving import judge_cycled, judge_freed_twice, judge_returned
from judge_tui.checks.tasks.kv.words import claims
from judge_tui.checks.verdict import Verdict

__all__ = ["paged"]

_NAMED = r"paged|(page|block)_?(table|pool|manager|alloc|store|arena)|(kv|cache).*block|block.*(kv|cache)"
_OTHER = (
    r"bytes|memory|size|error|test|bench|demo|print|compare|config|stats|report|ratio|plot|transformer|"
    r"footprint"
)
#: What code over pages or blocks of a cache calls them, however its class is called.
_PAGES = r"(^|_)(pages?|block_?(tables?|ids?|lists?|map)|(used|physical|phys|logical)_?blocks?)(_|$)"
#: Blocks may be a model's, too; those of a cache are free, or taken.
_BLOCKS, _FREE = r"(^|_)blocks?(_|$)", r"(^|_)free(_|$)"
_SAID = r"\bpaged|page table|block table|pagedattention"


@check(
    "paged",
    "paged cache",
    establishes="Blocks hold what they should wherever they lie, come back, and are never anyone else's.",
    optional=True,
    version=14,
)
def paged(bench: Bench, found: Findings) -> str:
    """Fill a pool, let sequences grow by turns, free twice, and let ten thousand come and go."""
    job = Job(bench, found, _parts(bench))
    if chooses(job.parts):
        return _told(job)
    feeding = [job.parts[part] for part in ("append", "append_many") if part in job.parts]
    if not any(one.takes("sequence") or one.takes("rows") or one.on == "sequence" for one in feeding):
        return _together(job)
    _rehearsed(job)
    job.measure()
    try:
        _comes_and_goes(job)
    except Raised as fault:
        # what has failed before is what it comes from
        if found.verdict is not Verdict.FAIL:
            raise
        found.note("what was to be tried next", fault.message, file=fault.file, line=fault.line)
    return "; ".join(job.wrong[:3] or job.said)


def _comes_and_goes(job: Job) -> None:
    """Fill it, empty it, and let sequences come and go."""
    full = judge_full(job)
    judge_refused(job, full)
    judge_room_again(job, full)
    judge_blocks(job, full)
    judge_large(job)
    _churned(job, full)
    if job.frees:
        judge_freed_twice(job)
        judge_returned(job)
        judge_cycled(job, full)
    else:
        job.found.claim(
            "sequences can go, so that blocks come back", False, measured="no call frees a sequence",
            otherwise=Verdict.WARN, **job.where("create"),
        )  # fmt: skip
        job.wrong.append("no call frees a sequence, so blocks never come back")


def _rehearsed(job: Job) -> None:
    """Two sequences side by side, small: a trial has shown one, and what they are called is a guess.

    Raises:
        Unbound: It raises.
    """
    pool = job.pool()
    if all(binding.origin != "found" for binding in job.parts.values()):
        return
    x = np.random.default_rng(21).standard_normal((2, pool.sizes.heads, 2, pool.sizes.head_dim))
    k, v = x.astype(np.float32)
    try:
        for sequence in (0, 1):
            pool.add(sequence, 2)
        for t in (0, 1):
            for sequence in (0, 1):
                pool.append(sequence, k[:, t : t + 1], v[:, t : t + 1])
        tokens_off(pool)
    except Raised as fault:
        raise Unbound("paged", [f"with two sequences side by side it {fault.placed}"]) from fault


def _told(job: Job) -> str:
    """A pool whose blocks the caller chooses: what is looked up and written is judged, and no more."""
    job.measure()
    full, pool = judge_filled(job)
    if not job.wrong:
        # Every block has had an owner before, and holds what that one left.
        pool.leave(*pool.fed)
        _churned(job, full, pool)
    if not judge_allocator(job):
        not_judged(job)
    return "; ".join(job.wrong[:3] or job.said)


def _together(job: Job) -> str:
    """A batch that is always fed whole: what it holds, across the edges of blocks."""
    size = PoolSizes().block_size
    worst = 0.0
    for name, pieces in (("one by one", (1,) * (2 * size + 1)), ("prompts", (size - 1, 1, size + 1, size))):
        error = fed_off(job.bench.worker, job.parts, lambda: job.bench.left, job.bench.rng(name), pieces)
        limit = precision("float32").limit(0.0)
        if not job.found.limit(
            f"a batch fed whole, {name}, {sum(pieces)} tokens in blocks of {size}: largest relative error",
            error, limit, **job.where("append"),
        ):  # fmt: skip
            job.wrong.append(f"{name}: what comes back is off by {error:.2g}")
        worst = max(worst, error)
    job.found.note(
        "sequences that come and go",
        "not judged",
        note="every call feeds the whole batch",
        **job.where("append"),
    )
    right = f"a batch fed whole comes back within {worst:.1g}; no call lets a sequence come or go by itself"
    return "; ".join(job.wrong) or right


def _parts(bench: Bench) -> Mapping[str, Binding]:
    bindings = bench.bindings
    parts = parts_of(bindings.found)
    if parts is not None:
        return parts
    named = claims.claims(bench.submission, _NAMED, _OTHER)
    if not named:
        submission = bench.submission
        handled = claims.handling(submission, _PAGES) + claims.handling(submission, _BLOCKS, _FREE)
        if handled:
            saw = [f"saw {one}" for one in dict.fromkeys(handled)]
            raise Unbound("paged", [*saw[:3], *bindings.rejected.get("paged", ())])
        raise claims.skipped(bench.submission, "paged cache", _SAID)
    if "paged" in bindings.faults and not bindings.rejected.get("paged"):
        raise bindings.faults["paged"]
    raise Unbound("paged", [*bindings.rejected.get("paged", ()), *(f"saw {claim}" for claim in named[:6])])


def _churned(job: Job, full: Filled, pool: Pool | None = None) -> None:
    pool = pool or job.pool()
    if job.frees and full.refused:
        # Every block has had an owner before, and holds what that one left.
        fill(job.bench, pool, each=pool.sizes.max_len, name="stale")
        pool.leave(*pool.fed)
    try:
        done = churn(job.bench, pool, full.tokens, full.longest)
    except Raised as fault:
        held = sum(k.shape[1] for k, _v in pool.fed.values())
        job.found.claim(
            "sequences that grow by turns, go and come again: taken while there is room", False,
            measured=fault.brief(160), limit=f"room for {full.tokens} tokens, {held} held",
            **{**job.where("append"), **({"file": fault.file, "line": fault.line} if fault.file else {})},
            output=fault.output,
        )  # fmt: skip
        job.wrong.append(f"with {held} of {full.tokens} tokens held it {fault.brief(90)}")
        return
    where = job.where("read", "attend")
    note = f"{done.steps} steps, {done.freed} sequences freed{done.where and '; worst ' + done.where}"
    ok = job.found.limit(
        "sequences that grow by turns, go and come again: what is read, largest relative error", done.error,
        job.limit, note=note, **where,
    )  # fmt: skip
    if not ok:
        job.wrong.append(f"what a sequence gives back is off by {done.error:.2g} ({done.where})")
        return
    other = differs_from_solo(job.bench, pool, job.pool())
    if not job.found.claim(
        "blocks anywhere in the pool: the same bits as from a pool of its own", not other,
        measured=other or "same bits", limit="same bits", **job.where("read", "attend"),
    ):  # fmt: skip
        job.wrong.append(f"{other} differs from the same in a pool of its own")
    if "attend" in job.parts and "read" in job.parts:
        error, limit = worst_attention(job.bench, pool), max(job.limit, precision("float32").limit(0.0))
        if not job.found.limit(
            "attention over blocks against attention over what was fed, largest relative error", error, limit,
            **job.where("attend"),
        ):  # fmt: skip
            job.wrong.append(f"attention over its blocks is off by {error:.2g}")
    if pool.tail > 0:
        job.found.note(
            "behind a sequence's tokens, up to the end of its block", "what others left there",
            note="the caller has to cut it off", **job.where("read"),
        )  # fmt: skip
    job.said.append(f"right after {done.steps} turns of {done.freed + len(pool.fed)} sequences")
