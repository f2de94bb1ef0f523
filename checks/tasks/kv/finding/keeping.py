"""What a cache keeps that was taken for a plain one: codes, whose roles are others, or no tokens at all."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from judge_tui.checks.binding.solver import Option, Search
from judge_tui.checks.sources import source_text
from judge_tui.checks.tasks.kv.faces.cached import Cached
from judge_tui.checks.tasks.kv.faces.storage import Entry, entries, total
from judge_tui.checks.tasks.kv.words.draws import drawn
from judge_tui.checks.tasks.kv.words.sizes import Sizes, sized

__all__ = ["as_quantized", "becomes_codes", "keeps_codes", "keeps_no_tokens"]

_PLAIN = ("create", "append", "append_many", "read", "attend", "add", "step")
_CODES = frozenset({"int8", "uint8"})
_SIZES = Sizes(batch=2, heads=3, max_len=32, head_dim=8)
_TOKENS = 5
#: Tokens after which the first are codes, where the newest are kept as they are.
_MANY = 140
_BYTES = re.compile(r"\bu?int8\b")
#: Tokens after which what is kept is looked at, and those after which it is again.
_FEW = (4, 8)
_BUDGET = 8.0


def becomes_codes(search: Search, bound: Option) -> bool:
    """Whether a cache that gives its first tokens back as they were keeps codes of them once many have come.

    Args:
        search: Whose cache it is; nothing is tried where its source speaks of no bytes.
        bound: A cache that is right with few tokens: role → binding.
    """
    submission = search.worker.submission
    texts = (source_text(submission.read_bytes(file)) for file in search.loaded if file in submission.files)
    return any(map(_BYTES.search, texts)) and keeps_codes(search, bound, _MANY)


def keeps_codes(search: Search, bound: Option, tokens: int = _TOKENS) -> bool:
    """Whether bytes stand where keys and values went in, with scales beside them.

    A cache that truncates what it is fed has no scales, one of floating point has more numbers than bytes.

    Args:
        search: Whose cache it is.
        bound: A cache that runs: role → binding.
        tokens: That go in before it is looked at.

    Raises:
        Fault: It ended the process.
    """
    kept: list[Entry] = []
    heads = _SIZES.heads
    with search.guess():
        sizes = replace(_SIZES, max_len=max(tokens, _SIZES.max_len))
        cached = Cached(search.worker, bound, sizes, lambda: _BUDGET)
        cached.feed(*drawn(np.random.default_rng(15), cached.sizes, tokens), whole=False)
        kept, heads = entries(cached), cached.sizes.heads
    # scales may stand in the bytes of the codes
    codes = sum(map(_numbers, (each for each in kept if each.dtype in _CODES)))
    scales = sum(map(_numbers, (each for each in kept if _is_float(each.dtype))))
    # Four codes of two bits share a byte; the newest of many tokens may be kept as they are.
    fed = 2 * _SIZES.batch * heads * _TOKENS * _SIZES.head_dim
    newest = 2 * _SIZES.batch * heads * (tokens - _TOKENS) * _SIZES.head_dim
    return 0 < scales <= codes + newest and codes >= fed // 4


def keeps_no_tokens(search: Search, bound: Option) -> bool:
    """Whether what goes from step to step does not grow, and has no room for codes of all tokens that came.

    Running maxima and sums of attention over one query are handed on like a cache, and are none.

    Args:
        search: Whose steps they are.
        bound: Steps that run: role → binding.

    Raises:
        Fault: They ended the process.
    """
    if "step" not in bound or sized(bound.get("create")):
        return False
    kept, fed = [], 0
    with search.guess():
        cached = Cached(search.worker, bound, _SIZES, lambda: _BUDGET)
        for tokens in _FEW:
            q, k, v = drawn(np.random.default_rng(15), cached.sizes, tokens)
            cached.feed(q, k, v, whole=False)
            kept.append(total(cached))
            fed += k.size + v.size
    # Two codes of four bits share a byte.
    return len(kept) == len(_FEW) and 0 < kept[0] == kept[1] < fed // 2


def _numbers(entry: Entry) -> int:
    """How many numbers alike arrays have."""
    return max(len(entry.handles), 1) * int(np.prod(entry.shape, dtype=np.int64))


def _is_float(dtype: str) -> bool:
    return dtype.startswith("float")


def as_quantized(bound: Option) -> Option:
    """The roles of a cache that keeps codes, under the names of a quantized one's."""
    return {
        name: replace(bound[part], role=name)
        for part in _PLAIN
        if part in bound
        for name in ["quantized" if part == "create" else f"quantized_{part}"]
    }
