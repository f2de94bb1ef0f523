"""Whether blocks that are handed out come back, hold what they should, and are never anyone else's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from judge_tui.checks.bench import Bench
from judge_tui.checks.binding import Binding
from judge_tui.checks.check import Findings, check
from judge_tui.checks.faults import Raised, Unbound
from judge_tui.checks.remote import Handle
from judge_tui.checks.submission import ADAPTER
from judge_tui.checks.tasks.kv import claims
from judge_tui.checks.tasks.kv.judging import precision
from judge_tui.checks.tasks.kv.paging.batched import fed_off
from judge_tui.checks.tasks.kv.paging.churn import churn, differs_from_solo, worst_attention
from judge_tui.checks.tasks.kv.paging.cycles import cycles
from judge_tui.checks.tasks.kv.paging.filling import Filled, fill, tokens_off
from judge_tui.checks.tasks.kv.paging.finding import parts_of
from judge_tui.checks.tasks.kv.paging.pool import Pool, PoolSizes
from judge_tui.checks.verdict import Verdict

__all__ = ["paged"]

_NAMED = r"paged|(page|block)_?(table|pool|manager|alloc)|(kv|cache).*block|block.*(kv|cache)"
_OTHER = (
    r"bytes|memory|size|error|test|bench|demo|print|compare|config|stats|report|ratio|plot|transformer|"
    r"footprint"
)
_SAID = r"\bpaged|page table|block table|pagedattention"


@dataclass(slots=True)
class Job:
    """A paged cache as it is judged.

    Attributes:
        bench: Where it is judged.
        found: Gathers the evidence.
        parts: Its bindings by part.
        limit: For what is read back, relative.
        wrong: What was wrong, for the summary.
        said: What was found, for the summary.
    """

    bench: Bench
    found: Findings
    parts: Mapping[str, Binding]
    limit: float = 1e-6
    wrong: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def pool(self) -> Pool:
        """An empty one."""
        return Pool(self.bench.worker, self.parts, PoolSizes(), lambda: self.bench.left)

    def where(self, *parts: str) -> dict[str, Any]:
        """``file`` and ``line`` of the first of these parts that is no adapter's."""
        for part in (*parts, "append", "create"):
            binding = self.parts.get(part)
            if binding is not None and binding.file != ADAPTER:
                return {"file": binding.file, "line": binding.line or None}
        return {}

    @property
    def frees(self) -> bool:
        """Whether sequences can go."""
        return "free" in self.parts


@check(
    "paged",
    "paged cache",
    establishes="Blocks hold what they should wherever they lie, come back, and are never anyone else's.",
)
def paged(bench: Bench, found: Findings) -> str:
    """Fill a pool, let sequences grow by turns, free twice, and let ten thousand come and go."""
    job = Job(bench, found, _parts(bench))
    if not any(job.parts[p].takes("sequence") for p in ("append", "append_many") if p in job.parts):
        return _together(job)
    job.limit = _limit(job)
    full = _full(job)
    _refused_prompt(job, full)
    _blocks(job, full)
    _churned(job, full)
    if job.frees:
        _freed_twice(job)
        _cycled(job, full)
    else:
        found.claim(
            "sequences can go, so that blocks come back", False, measured="no call frees a sequence",
            otherwise=Verdict.WARN, **job.where("create"),
        )  # fmt: skip
        job.wrong.append("no call frees a sequence, so blocks never come back")
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
        raise claims.skipped(bench.submission, "paged cache", _SAID)
    if "paged" in bindings.faults and not bindings.rejected.get("paged"):
        raise bindings.faults["paged"]
    raise Unbound("paged", [*bindings.rejected.get("paged", ()), *(f"saw {claim}" for claim in named[:6])])


def _limit(job: Job) -> float:
    """Values are copied, so they come back as they were; where float16 is kept, as float16."""
    pool = job.pool()
    pool.add(0, 1)
    x = np.ones((pool.sizes.heads, 1, pool.sizes.head_dim), np.float32)
    pool.append(0, x, x)
    leaves = job.bench.worker.leaves(pool.state) if isinstance(pool.state, Handle) else []
    if any(leaf.get("dtype") == "float16" for leaf in leaves):
        return 2e-2 if pool.attends else 2e-3
    return precision("float32").limit(0.0) if pool.attends else 1e-6


def _full(job: Job) -> Filled:
    """Filled to the end: what it took is there; emptied, it takes as much again."""
    pool = job.pool()
    full = fill(job.bench, pool, each=pool.sizes.max_len, name="long")
    worst, place = tokens_off(pool)
    made = f"made for {pool.sizes.blocks} blocks of {pool.sizes.block_size}"
    end = f"refuses with: {full.refused[:90]}" if full.refused else "grows on"
    ok = job.found.limit(
        "filled token by token until it refuses: what it took, read back, largest relative error", worst,
        job.limit, note=f"{full.tokens} tokens, {made}; {end}{place and '; worst at ' + place}",
        **job.where("append"),
    )  # fmt: skip
    if not ok:
        job.wrong.append(
            f"filled until it {'refuses' if full.refused else 'grows'}, it has lost tokens ({place})"
        )
    job.said.append(
        f"{full.tokens} tokens in {made.removeprefix('made for ')}" if full.refused else "grows on"
    )
    if job.frees and full.refused:
        pool.leave(*pool.fed)
        _as_much(job, pool, full, "emptied after it refused", "again")
    return full


def _as_much(job: Job, pool: Pool, full: Filled, when: str, name: str) -> None:
    """An empty pool, filled again: it takes as much as at first, and holds it."""
    try:
        again = fill(job.bench, pool, each=pool.sizes.max_len, name=name)
    except Raised as fault:
        again = Filled(0, 0, 0, fault.message)
    if not job.found.claim(
        f"{when}: tokens that fit", again.tokens >= full.tokens, measured=again.tokens, limit=full.tokens,
        unit="tokens", note=again.refused[:120], **job.where("free"),
    ):  # fmt: skip
        job.wrong.append(f"{when}: {again.tokens} of {full.tokens} tokens fit")
    worst, place = tokens_off(pool)
    if not job.found.limit(
        f"{when}: what it took, read back, largest relative error", worst, job.limit,
        note=f"{again.tokens} tokens{place and '; worst at ' + place}", **job.where("free"),
    ):  # fmt: skip
        job.wrong.append(
            f"{when}: {again.tokens} tokens fit where {full.tokens} did, and some are lost ({place})"
        )


def _refused_prompt(job: Job, full: Filled) -> None:
    """A prompt of three blocks where one is free: refused whole, and the free block still to be had."""
    pool = job.pool()
    sizes = pool.sizes
    block = sizes.block_size
    if not (
        full.refused and job.frees and "append_many" in job.parts and full.longest == full.tokens > 4 * block
    ):
        return
    rng = job.bench.rng("prompt")

    def fed(sequence: int, tokens: int) -> None:
        pool.add(sequence, tokens)
        pool.append(
            sequence, *rng.standard_normal((2, sizes.heads, tokens, sizes.head_dim)).astype(np.float32)
        )

    fed(0, full.tokens - block)
    said = "taken"
    try:
        fed(1, 3 * block)
    except Raised as fault:
        said = fault.message
        if 1 in pool.fed:
            pool.leave(1)
        try:
            fed(2, block)
        except Raised as fault:
            job.found.claim(
                "a prompt of three blocks where one is free is refused; the free one can still be had", False,
                measured=fault.message[:120], limit=f"{block} tokens", note=said[:120],
                **job.where("append_many"),
            )  # fmt: skip
            job.wrong.append("a prompt that was refused took the last free block with it")
            return
    worst, place = tokens_off(pool)
    if not job.found.limit(
        "a prompt of three blocks where one is free: what is held then, largest relative error", worst,
        job.limit, note=f"{said[:120]}{place and '; worst at ' + place}", **job.where("append_many"),
    ):  # fmt: skip
        job.wrong.append(
            f"a prompt of three blocks where one is free is {said[:60]}, and tokens are lost ({place})"
        )


def _blocks(job: Job, full: Filled) -> None:
    """Tokens of a block: how many sequences of one token fit, against how many tokens of long ones."""
    pool = job.pool()
    short = fill(job.bench, pool, each=1, name="short")
    quantity = "tokens that fit in long sequences over those that fit one by one, per slot of a block"
    if not full.refused or short.sequences >= pool.sizes.batch:
        job.found.note(quantity, "the pool does not refuse", note="how blocks are used cannot be counted so")
        return
    size = pool.sizes.block_size
    used = full.tokens / (max(short.sequences, 1) * size)
    note = f"{full.tokens} tokens in long ones, {short.sequences} sequences of one token, blocks of {size}"
    if used < 1.0:
        ok = job.found.claim(
            f"utilization: {quantity}", used >= 0.9, measured=used, limit="0.9 or more", note=note,
            **job.where("append"),
        )  # fmt: skip
        if not ok:
            job.wrong.append(f"long sequences fill {used:.0%} of the slots in their blocks")
        return
    ok = job.found.limit(
        "blocks that a sequence of one token takes", used, 1.25,
        otherwise=Verdict.WARN if used <= 2.1 else Verdict.FAIL, note=note, **job.where("add", "append"),
    )  # fmt: skip
    if not ok:
        job.wrong.append(f"a sequence of one token takes {used:.3g} blocks")


def _churned(job: Job, full: Filled) -> None:
    pool = job.pool()
    if job.frees and full.refused:
        # Every block has had an owner before, and holds what that one left.
        fill(job.bench, pool, each=pool.sizes.max_len, name="stale")
        pool.leave(*pool.fed)
    done = churn(job.bench, pool, full.tokens, full.longest)
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


def _freed_twice(job: Job) -> None:
    """The same sequence freed twice, then the pool filled with others: no block may be in two of them."""
    pool = job.pool()
    sizes = pool.sizes
    rng = job.bench.rng("twice")

    def fed(sequence: int, tokens: int) -> None:
        k, v = rng.standard_normal((2, sizes.heads, tokens, sizes.head_dim)).astype(np.float32)
        pool.append(sequence, k, v)

    for sequence in (0, 1):
        pool.add(sequence, 12)
        fed(sequence, 6)
    pool.free(0)
    said = pool.twice(0)
    pool.ids.pop(0, None)
    fill(job.bench, pool, each=2 * sizes.block_size, name="twice")
    worst, place = tokens_off(pool)
    ok = job.found.limit(
        "a sequence freed twice, then others till it is full: what is read, largest relative error",
        worst, job.limit,
        note=f"the second time: {said[:120] or 'taken without a word'}{place and '; worst at ' + place}",
        **job.where("free"),
    )  # fmt: skip
    if not ok:
        job.wrong.append(f"after a sequence is freed twice others share blocks ({place})")


def _cycled(job: Job, full: Filled) -> None:
    pool = job.pool()
    sizes = pool.sizes
    rng = job.bench.rng("cycles")
    pool.add(0, 6)
    pool.append(0, *rng.standard_normal((2, sizes.heads, 6, sizes.head_dim)).astype(np.float32))
    live = int(np.clip((full.tokens // sizes.block_size - 3) // 3, 1, 3))
    done = cycles(pool, rng, live)
    where = job.where("free")
    quantity = f"sequences that come, are fed and go, {live} at once"
    note = "as many as the time allows" if done.cut else ""
    if done.fault is not None:
        fault = done.fault
        job.found.claim(
            quantity, False, measured=f"{done.finished}, then it {fault.message[:120]}", limit=10_000,
            file=fault.file or where.get("file"), line=fault.line or where.get("line"), output=fault.output,
        )  # fmt: skip
        job.wrong.append(f"after {done.finished} sequences came and went: {fault.message[:90]}")
        return
    job.found.claim(quantity, True, measured=done.finished, limit=10_000, note=note, **where)
    worst, place = tokens_off(pool)
    if not job.found.limit(
        "one that stayed all the while: what is read, largest relative error", worst, job.limit, note=place,
        **job.where("free"),
    ):  # fmt: skip
        job.wrong.append(f"a sequence that stayed is off by {worst:.2g} after {done.finished} others")
    _same_room(job, pool, full, done.finished)
    before, after = done.nbytes
    if not job.found.limit(
        f"bytes kept after {done.finished} sequences over those after 100", after / max(before, 1), 1.5,
        note=f"{before} B and {after} B", **where,
    ):  # fmt: skip
        job.wrong.append(f"{done.finished} sequences that went left {after - before} bytes behind")
    job.said.append(f"{done.finished:,} sequences came and went, nothing lost")


def _same_room(job: Job, pool: Pool, full: Filled, finished: int) -> None:
    if full.refused:
        pool.leave(0)
        _as_much(job, pool, full, f"after {finished} sequences came and went", "after")
