"""A pool filled to the end: what it took is there, what it refuses costs nothing, its blocks are used."""

from __future__ import annotations

import numpy as np

from judge_tui.checks.faults import Raised
from judge_tui.checks.tasks.kv.faces.pool import Pool
from judge_tui.checks.tasks.kv.paged.filling import Filled, fill, tokens_off
from judge_tui.checks.tasks.kv.paged.job import Job
from judge_tui.checks.verdict import Verdict

__all__ = ["as_much", "judge_blocks", "judge_full", "judge_refused", "judge_room_again"]


def judge_full(job: Job) -> Filled:
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
    sizes = pool.sizes
    if full.refused and full.sequences > 1 and sizes.block_size < sizes.max_len:
        ok = job.found.claim(
            "a sequence goes on into another block while blocks are free", full.longest > sizes.block_size,
            measured=f"{full.longest} tokens in the longest of {full.sequences} sequences",
            limit=f"more than the {sizes.block_size} of a block", note=full.refused[:120],
            **job.where("append"),
        )  # fmt: skip
        if not ok:
            job.wrong.append(
                f"no sequence gets a second block: refused after {full.longest} tokens, while blocks are free"
            )
    job.said.append(
        f"{full.tokens} tokens in {made.removeprefix('made for ')}" if full.refused else "grows on"
    )
    if job.frees and full.refused:
        pool.leave(*pool.fed)
        as_much(job, pool, full, "emptied after it refused", "again")
    return full


def as_much(job: Job, pool: Pool, full: Filled, when: str, name: str) -> None:
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


def judge_refused(job: Job, full: Filled) -> None:
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
                measured=fault.brief(120), limit=f"{block} tokens", note=said[:120],
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


def judge_room_again(job: Job, full: Filled) -> None:
    """A token that was refused goes in once another sequence has gone, and behind it the next ones."""
    pool = job.pool()
    block = pool.sizes.block_size
    if not (full.refused and job.frees):
        return
    rng = job.bench.rng("room again")
    drawn = rng.standard_normal((2, pool.sizes.heads, block + 3, pool.sizes.head_dim)).astype(np.float32)
    pool.add(0, block + 3)
    pool.append(0, *drawn[:, :, :block], whole=False)
    fill(job.bench, pool, each=block, name="beside")
    try:
        pool.append(0, *drawn[:, :, block : block + 1])
        return
    except Raised as fault:
        said = fault.message
    others = [sequence for sequence, (k, _v) in pool.fed.items() if sequence and k.shape[1] == block]
    pool.leave(*others[:2])
    quantity = "a token that was refused, again when there is room, and two more: largest relative error"
    try:
        pool.append(0, *drawn[:, :, block:], whole=False)
    except Raised as fault:
        job.found.claim(quantity, False, measured=fault.brief(120), limit="goes", **job.where("append"))
        job.wrong.append(f"a token that was refused is so for good: {fault.brief(90)}")
        return
    worst, place = tokens_off(pool)
    if not job.found.limit(quantity, worst, job.limit, note=f"{said[:120]}{place and '; worst at ' + place}",
                           **job.where("append")):  # fmt: skip
        job.wrong.append(f"a token that was refused, again when there is room: tokens are lost ({place})")


def judge_blocks(job: Job, full: Filled) -> None:
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
