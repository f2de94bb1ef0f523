"""Decoders whose cache, or which themselves, put rows in another order or take the newest tokens back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.binding.candidates import Routine, callables
from judge_tui.checks.calling.remote import Handle
from judge_tui.checks.check import Findings
from judge_tui.checks.contract import Role
from judge_tui.checks.faults import BadResult, Raised, Skipped
from judge_tui.checks.tasks.kv.faces.maker import Maker
from judge_tui.checks.tasks.kv.sharing import decoders_back
from judge_tui.checks.tasks.kv.sharing.moves import (
    AFTER,
    BEFORE,
    PROMPT,
    ROUNDED,
    Mover,
    behind,
    called,
    fed,
    limit_of,
)
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.parameters import SEQUENCE
from judge_tui.checks.tasks.kv.words.sharing_roles import LEAVE, REORDER, ROLL_BACK

__all__ = ["judge", "movers"]

#: Rows before and after they are moved.
_ORDER = (2, 0, 0)
_CACHE = re.compile(r"(?i)cache|state|past|kv")


def movers(bench: Bench) -> list[Mover]:
    """Those of the decoder that is bound; none where there is none."""
    bound = bench.bindings.found
    if not {"prefill", "decode"} <= set(bound):
        return []
    found: list[Mover] = []
    try:
        make = Subject.of(bench).maker()
        decoder = make(1)
        decoder.prefill(decoder.draw(np.random.default_rng(41), 2))
    except (Raised, BadResult, Skipped):
        return []
    kinds = {
        str(bench.worker.describe(owner).get("type", "")).rpartition(".")[2]: of
        for of, owner in (("cache", decoder.state), ("model", decoder.model))
        if isinstance(owner, Handle)
    }
    apart = bound["decode"].takes("sequence")
    for item in callables(bench.worker.loaded):
        of = kinds.get(str(item.owner["name"])) if item.owner else ""
        if of is not None and (of or isinstance(decoder.state, Handle)):
            found += _movers(item, of, apart=apart)
    return found


def _movers(item: Routine, of: str, *, apart: bool) -> Iterator[Mover]:
    """What a method of a decoder or of its cache, or a function, may move; ``apart``: of one sequence."""
    own = item.name.rpartition(".")[2]
    role = next((role for role in (REORDER, ROLL_BACK) if _plays(role, own)), None)
    needed = [str(p["name"]) for p in _params(item.params) if "default" not in p]
    if role is None or not needed or not _is_told(role, needed[-1]):
        return
    handed = ""
    if len(needed) == 2 and of != "cache":
        handed = "sequence" if apart and SEQUENCE.means(needed[0]) else ""
        handed = handed or ("cache" if _CACHE.search(needed[0]) else "")
    alone = not handed and of and not (apart and role is ROLL_BACK)
    if len(needed) == 1 + bool(handed) and (handed or alone) and not (apart and role is REORDER):
        yield Mover(role, own, of, handed, needed[-1], item.file, item.line)


def _is_told(role: Role, param: str) -> bool:
    """Whether a parameter's name says that it is an order of rows, or how many tokens go or stay."""
    return any(each.means(param) for each in role.params if each.name in {"order", "count", "length"})


def _params(params: Sequence[Mapping[str, Any]] | None) -> list[Mapping[str, Any]]:
    return [param for param in params or () if param["name"] != "self"]


def _plays(role: Role, name: str) -> bool:
    named = name.lower()
    patterns = (pattern for pattern in role.patterns if pattern != LEAVE)
    avoided = any(re.search(pattern, named) for pattern in role.avoid)
    return not avoided and any(re.search(pattern, named) for pattern in patterns)


def judge(bench: Bench, moving: Sequence[Mover], found: Findings, wrong: list[str], said: list[str]) -> None:
    """Hold what a decoder answers behind each of them against new decoders.

    Args:
        bench: Where the submission is.
        moving: What is judged.
        found: Gathers the evidence.
        wrong: What is wrong is added.
        said: What is right is added.
    """
    make = Subject.of(bench).maker()
    for mover in moving:
        case = _reordered if mover.role is REORDER else decoders_back.taken_back
        try:
            told = case(bench, make, mover)
        except (Raised, BadResult, Skipped) as fault:
            found.note(f"decoder: {mover.name}", "not judged", note=fault.message)
            continue
        if told is None:
            continue
        words, error, limit = told
        quantity = f"decoder: {words}: largest error against new decoders"
        if found.limit(quantity, error, limit, file=mover.file, line=mover.line or None):
            said.append(f"decoder: {words}: right")
            if mover.role is ROLL_BACK and limit == ROUNDED:
                decoders_back.judge(bench, mover, found, wrong)
        else:
            wrong.append(f"decoder: {words}: off by {error:.2g} from new decoders of the same tokens")


def _reordered(bench: Bench, make: Maker, mover: Mover) -> tuple[str, float, float] | None:
    """Rows in another order, one twice and one no more, and steps behind them."""
    rows = len(_ORDER)
    if not make.any_batch:
        raise Skipped("it takes one sequence")
    decoder = make(rows)
    given = decoder.draw(bench.rng("decoder rows"), PROMPT + BEFORE + AFTER)
    if fed(decoder, make, given) > limit_of(decoder):
        return None
    try:
        called(decoder, mover, np.arange(rows))
        form: Any = np.array
    except Raised:
        decoder = make(rows)
        fed(decoder, make, given)
        called(decoder, mover, list(range(rows)))
        form = list
    called(decoder, mover, form(_ORDER))
    first = PROMPT + BEFORE
    held = given[list(_ORDER), :first]
    off = behind(decoder, make, held, given[:, first:])
    return f"rows in another order by {mover.name}", off, limit_of(decoder)
