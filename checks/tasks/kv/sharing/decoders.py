"""Decoders whose cache, or which themselves, put rows in another order or take the newest tokens back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.remote import Handle
from judge_tui.checks.check import Findings
from judge_tui.checks.contract import Role
from judge_tui.checks.faults import BadResult, Raised, Skipped
from judge_tui.checks.tasks.kv.faces.decoding import Decoder
from judge_tui.checks.tasks.kv.faces.maker import Maker
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.sharing_roles import LEAVE, REORDER, ROLL_BACK
from judge_tui.checks.tolerance import relative_error

__all__ = ["Mover", "judge", "movers"]

Array = npt.NDArray[Any]
#: Rows before and after they are moved; tokens of a prompt, and steps before and after.
_ORDER, _PROMPT, _BEFORE, _AFTER = (2, 0, 0), 6, 2, 3
#: How far off an answer is at most that is summed up in another order.
_ROUNDED = 1e-3
_CACHE = re.compile(r"(?i)cache|state|past|kv")
#: What comes of a call that moves rows.
_MOVED = ("none", "object")
#: Names of what is told how many tokens go.
_TAKES_AWAY = re.compile(r"(?i)roll|rewind|undo|revert|retract|append|pop|drop|remove|discard|delete")


@dataclass(frozen=True, slots=True)
class Mover:
    """A method that moves rows, or takes tokens back.

    Attributes:
        role: Which of both.
        name: Its name.
        of_model: Whether it is one of the decoder, and not of its cache.
        takes_cache: Whether it is handed the cache.
        param: The parameter behind that.
        file: Where it stands.
        line: Its line.
    """

    role: Role
    name: str
    of_model: bool
    takes_cache: bool
    param: str
    file: str
    line: int


def movers(bench: Bench) -> list[Mover]:
    """Those of the decoder that is bound; none where there is none."""
    bound = bench.bindings.found
    if not {"prefill", "decode"} <= set(bound) or bound["decode"].takes("sequence"):
        return []
    found: list[Mover] = []
    try:
        make = Subject.of(bench).maker()
        decoder = make(1)
        decoder.prefill(decoder.draw(np.random.default_rng(41), 2))
    except (Raised, BadResult, Skipped):
        return []
    for owner in (decoder.state, decoder.model):
        if isinstance(owner, Handle):
            kind = str(bench.worker.describe(owner).get("type", ""))
            found += _methods(bench, kind, of_model=owner is decoder.model)
    return found


def _methods(bench: Bench, kind: str, *, of_model: bool) -> Iterator[Mover]:
    for file, inventory in bench.worker.loaded.items():
        for owner in inventory.get("classes", ()):
            if owner["name"] != kind.rpartition(".")[2]:
                continue
            for method in owner["methods"]:
                role = next((role for role in (REORDER, ROLL_BACK) if _plays(role, method["name"])), None)
                needed = [str(p["name"]) for p in _params(method["params"]) if "default" not in p]
                cached = of_model and len(needed) == 2 and bool(_CACHE.search(needed[0]))
                if role is not None and len(needed) == 1 + cached and _is_told(role, needed[-1]):
                    name, line = str(method["name"]), int(method["line"])
                    yield Mover(role, name, of_model, cached, needed[-1], file, line)


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
        case = _reordered if mover.role is REORDER else _taken_back
        try:
            told = case(bench, make, mover)
        except (Raised, BadResult, Skipped) as fault:
            found.note(f"decoder: {mover.name}", "not judged", note=fault.message)
            continue
        if told is None:
            continue
        words, error = told
        quantity = f"decoder: {words}: largest error against new decoders"
        if found.limit(quantity, error, _ROUNDED, file=mover.file, line=mover.line or None):
            said.append(f"decoder: {words}: right")
        else:
            wrong.append(f"decoder: {words}: off by {error:.2g} from new decoders of the same tokens")


def _called(decoder: Decoder, mover: Mover, value: Any) -> None:
    """Call it; a new cache that it gives is the decoder's from now on.

    Raises:
        Skipped: What it gives is neither nothing nor a cache.
    """
    owner = decoder.model if mover.of_model else decoder.state
    assert isinstance(owner, Handle)
    before = decoder.state
    args = [before, value] if mover.takes_cache else [value]
    result = decoder.worker.call(owner, args, method=mover.name)
    if mover.role is REORDER and result.tree.get("kind") not in _MOVED:
        raise Skipped(f"it gives a {result.tree.get('kind')}, as what only looks does")
    if isinstance(before, Handle):
        kind = decoder.worker.describe(before).get("type")
        if result.tree.get("kind") == "object" and result.tree.get("type") == kind:
            decoder.state = result.handle


def _reordered(bench: Bench, make: Maker, mover: Mover) -> tuple[str, float] | None:
    """Rows in another order, one twice and one no more, and steps behind them."""
    rows = len(_ORDER)
    if not make.any_batch:
        raise Skipped("it takes one sequence")
    decoder = make(rows)
    given = decoder.draw(bench.rng("decoder rows"), _PROMPT + _BEFORE + _AFTER)
    if _fed(decoder, make, given) > _ROUNDED:
        return None
    try:
        _called(decoder, mover, np.arange(rows))
        form: Any = np.array
    except Raised:
        decoder = make(rows)
        _fed(decoder, make, given)
        _called(decoder, mover, list(range(rows)))
        form = list
    _called(decoder, mover, form(_ORDER))
    first = _PROMPT + _BEFORE
    held = given[list(_ORDER), :first]
    return f"rows in another order by {mover.name}", _behind(decoder, make, held, given[:, first:])


def _taken_back(bench: Bench, make: Maker, mover: Mover) -> tuple[str, float] | None:
    """The newest tokens taken back, and others in their place."""
    errors = []
    for told in _told(mover):
        decoder = make(1)
        given = decoder.draw(bench.rng("decoder back"), _PROMPT + _BEFORE + _AFTER)
        if _fed(decoder, make, given) > _ROUNDED:
            return None
        _called(decoder, mover, told)
        decoder.counts, decoder.real = decoder.counts - _BEFORE, decoder.real[:, :-_BEFORE]
        if decoder.history is not None:
            decoder.history = decoder.history[:, :-_BEFORE]
        errors.append(_behind(decoder, make, given[:, :_PROMPT], given[:, _PROMPT + _BEFORE :]))
        if errors[-1] <= _ROUNDED:
            break
    return f"{_BEFORE} tokens taken back by {mover.name}, then others", min(errors)


def _told(mover: Mover) -> Sequence[int]:
    """How many tokens go, or how many stay; one after the other where its name tells neither."""
    count, length = (next(p for p in ROLL_BACK.params if p.name == name) for name in ("count", "length"))
    if length.means(mover.param) and not count.means(mover.param):
        return (_PROMPT,)
    return (_BEFORE,) if _TAKES_AWAY.search(mover.name) else (_BEFORE, _PROMPT)


def _fed(decoder: Decoder, make: Maker, given: Array) -> float:
    """Feed a prompt and steps; how far off the last answer is."""
    decoder.prefill(given[:, :_PROMPT])
    answer = None
    for t in range(_PROMPT, _PROMPT + _BEFORE):
        answer = decoder.decode(given[:, t])
    assert answer is not None
    return _off(answer, make, given[:, : _PROMPT + _BEFORE])


def _behind(decoder: Decoder, make: Maker, held: Array, new: Array) -> float:
    """How far off steps are behind what is held, (B, S); ``new`` are their tokens, (B, _AFTER)."""
    worst = 0.0
    for t in range(new.shape[1]):
        answer = decoder.decode(new[:, t])
        held = np.concatenate([held, new[:, t : t + 1]], axis=1)
        worst = max(worst, _off(answer, make, held))
    return worst


def _off(answer: Array, make: Maker, held: Array) -> float:
    """The largest error of rows against new decoders that are fed all of it at once."""
    truths = [make(1).prefill(held[b : b + 1]) for b in range(len(held))]
    return relative_error(answer, np.concatenate(truths)) if truths else float("nan")
