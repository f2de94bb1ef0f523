"""Paged caches that are told the ids of their tokens, and give blocks of another to what begins alike."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from judge_tui.checks.faults import BadResult, Raised
from judge_tui.checks.tasks.kv.faces.pool import Pool
from judge_tui.checks.tasks.kv.paged.filling import Filled, fill, tokens_off
from judge_tui.checks.tasks.kv.paged.fullness import as_much
from judge_tui.checks.tasks.kv.paged.job import Job

__all__ = ["judge"]

#: Prompts of blocks, which are named by letters; each comes while those before it are there.
_PROMPTS = (
    ("the same block behind another", ("ab", "cb")),
    ("the blocks of another in another order", ("ab", "ba")),
    ("the same first block, and others behind it", ("abc", "ad")),
    ("the first block of one and the second of another", ("ab", "cd", "ad")),
    ("the same block twice", ("ab", "aab")),
    ("the same blocks, and a token more", ("ab", "ab")),
    ("the second block of another alone", ("abc", "b")),
    ("the same whole blocks and no token more, then each goes on", ("ab.", "ab.", "+")),
)
#: Last tokens of two blocks that a weak key takes for one.
_ALIKE = (
    ("the same tokens in another order", (1, 2, 3), (2, 3, 1)),
    ("the same sum of tokens", (1, 2), (3, 0)),
    ("the same first and last token", (1, 2, 3), (1, 4, 3)),
    ("the same digits", (1, 12), (11, 2)),
    ("the same last 8 bits of each token", (1, 2), (257, 2)),
    ("the same last 16 bits of each token", (1, 2), (65537, 2)),
    *(
        (f"the same hash h · {base} + token", (7, base + 9), (8, 9))
        for base in (31, 33, 37, 131, 257, 1000003)
    ),
)


def judge(job: Job, full: Filled | None) -> None:
    """Let prompts come that have blocks in common, and hold what each reads against its own past.

    Args:
        job: What is judged.
        full: How much goes into an empty pool, where sequences can go.
    """
    shared, before = 0, len(job.wrong)
    for words, prompts in _PROMPTS:
        shared += _judged(job, f"prompts with {words}", prompts, full)
    for words, one, other in _ALIKE if shared else ():
        _judged(job, f"prompts whose blocks have {words}, {[*one]} and {[*other]}", (one, other), None)
    if job.frees:
        _judged(
            job,
            "prompts with the same blocks, the first goes and others come",
            ("ab", "ab", "-"),
            full,
        )
        _judged(
            job,
            "a prompt again, once others have had its blocks",
            ("ab", "-", "~", "ab", "ac"),
            full,
        )
    whole = job.parts["add"].takes("k")
    if not whole:
        job.found.note("tokens that were there when their prompt came", shared, **job.where("add"))
    if len(job.wrong) == before:
        # what takes a prompt with its keys and values does not tell what it had of them
        apart = "prompts that begin alike read their own past"
        alike = "blocks are shared by the whole past" if shared else "prompts share no blocks"
        job.said.append(apart if whole else alike)


def _judged(job: Job, words: str, prompts: Sequence[str | Sequence[int]], full: Filled | None) -> int:
    """One way to come; how many tokens were there when their prompt came.

    ``-``: the first goes, and others take every block that is free. ``~``: all go. ``+``: all go on.
    """
    pool, shared = job.pool(), 0
    rng = job.bench.rng("prefixes", words)
    quantity = f"{words}: what is read, largest relative error"
    try:
        for sequence, letters in enumerate(prompts):
            if letters == "-":
                pool.leave(0)
                fill(job.bench, pool, each=pool.sizes.max_len, name=words)
            elif letters == "~":
                pool.leave(*pool.fed)
            elif letters == "+":
                for one in [*pool.fed] * 2:
                    shape = (2, pool.sizes.heads, 1, pool.sizes.head_dim)
                    pool.append(one, *rng.standard_normal(shape).astype(np.float32))
            else:
                shared += _comes(pool, sequence, _ids(rng, pool, letters))
    except (Raised, BadResult) as fault:
        at = {"file": fault.file, "line": fault.line} if fault.file else job.where("add")
        job.found.claim(quantity, False, measured=fault.brief(160), limit="goes", output=fault.output, **at)
        job.wrong.append(f"{words}: {fault.brief(90)}")
        return shared
    worst, place = tokens_off(pool)
    if not job.found.limit(quantity, worst, job.limit, note=place, **job.where("add")):
        job.wrong.append(f"{words}: one reads what another's past gave ({place})")
    elif full is not None and full.refused:
        pool.leave(*pool.fed)
        as_much(job, pool, full, f"{words}, then all go", "prompted")
    return shared


def _ids(rng: np.random.Generator, pool: Pool, letters: str | Sequence[int]) -> list[int]:
    """The ids of blocks of tokens, one more behind them but where ``.`` ends them.

    A letter stands for the same ids in a pool; ids are those that a block ends with.
    """
    size = pool.sizes.block_size
    if isinstance(letters, str):
        ids = [100 * ord(letter) + n for letter in letters.rstrip(".") for n in range(size)]
    else:
        ids = [*[5] * (size - len(letters)), *letters]
    return ids if letters[-1] == "." else [*ids, int(rng.integers(1, 90))]


def _comes(pool: Pool, sequence: int, ids: Sequence[int]) -> int:
    """Let a prompt come, and feed what is not there yet; how many tokens were there."""
    pool.add(sequence, len(ids), ids)
    k, v = (
        np.concatenate([_of(which, ids[: n + 1], pool) for n in range(len(ids))], axis=1) for which in (0, 1)
    )
    if pool.comes_with_tokens:
        # what it has of them already, it takes from there
        pool.append(sequence, k, v)
        return 0
    # what is read by attention alone does not tell how much it holds
    there = 0 if pool.attends else pool.holds(sequence, len(ids))
    pool.fed[sequence] = k[:, :there], v[:, :there]
    pool.append(sequence, k[:, there:], v[:, there:], whole=False)
    return there


def _of(which: int, past: Sequence[int], pool: Pool) -> npt.NDArray[np.float32]:
    """Keys or values of the last token of a past, (H, 1, D): the whole past tells them."""
    shape = (pool.sizes.heads, 1, pool.sizes.head_dim)
    return np.random.default_rng([which, *past]).standard_normal(shape).astype(np.float32)
