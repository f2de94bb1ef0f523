"""Ten thousand sequences that come and go: made as one request, so that seconds suffice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.calling.remote import Call, Handle, Target
from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.kv.faces.axis_orders import to_wire
from judge_tui.checks.tasks.kv.faces.pool import Pool
from judge_tui.checks.tasks.kv.faces.store import names_it

__all__ = ["Cycled", "cycles"]

_SEQUENCES = 10_000
_UNIT = 25
#: Seconds that they may take.
_SECONDS = 8.0


@dataclass(frozen=True, slots=True)
class Cycled:
    """What came of it.

    Attributes:
        finished: Sequences that came, were fed and went.
        fault: What ended it early.
        cut: Whether it was too slow for all of them.
        nbytes: What the pool kept after the first hundred, and at the end.
    """

    finished: int
    fault: Fault | None = None
    cut: bool = False
    nbytes: tuple[int, int] = (0, 0)


def cycles(pool: Pool, rng: np.random.Generator, live: int) -> Cycled:
    """Let sequences of 1 to two blocks of tokens come and go, two or three of them at once.

    Args:
        pool: Where; sequences that it holds stay.
        rng: Draws lengths and orders.
        live: Sequences that there is room for at once.

    Raises:
        TimedOut: A single round hangs.
        Died: The process ended.
    """
    unit = _unit(pool, rng, live)
    rounds, done, step, before = _SEQUENCES // _UNIT, 0, 4, 0
    account = pool.worker.account
    started = account.spent
    while done < rounds:
        asked = min(step, rounds - done)
        more, fault = pool.worker.series(unit, asked, budget=pool.left())
        # no more were made than were asked for, whatever is told
        done += min(more, asked)
        if fault is not None or not more:
            return Cycled(done * _UNIT, fault)
        before = before or _kept(pool)
        spent = account.spent - started
        if spent > min(_SECONDS, 0.4 * pool.left()):
            break
        # About a second's worth at a time, so that a slow machine is noticed in time.
        step = max(1, int(done / max(spent, 1e-3)))
    return Cycled(done * _UNIT, None, done < rounds, (before, _kept(pool)))


def _kept(pool: Pool) -> int:
    return pool.worker.footprint(state) if isinstance(state := pool.state(), Handle) else 0


def _unit(pool: Pool, rng: np.random.Generator, live: int) -> list[Call]:
    """The calls of one round: every sequence that comes in it also goes in it."""
    calls: list[Call] = []
    first = max(pool.fed, default=-1) + 1
    open_: list[tuple[int, dict[str, Any]]] = []
    names = list(range(first, min(first + live, pool.sizes.batch)))
    block = pool.sizes.block_size
    for turn in range(_UNIT):
        if len(open_) == len(names):
            _gone(pool, calls, *open_.pop(int(rng.integers(len(open_)))))
        sequence = next(n for n in names if n not in [s for s, _ in open_])
        length = int(rng.integers(1, 2 * block + 1)) if turn % 5 else block
        open_.append((sequence, _come(pool, calls, sequence, length, rng)))
    while open_:
        _gone(pool, calls, *open_.pop())
    return calls


def _come(
    pool: Pool, calls: list[Call], sequence: int, length: int, rng: np.random.Generator
) -> dict[str, Any]:
    inputs = pool.asked(sequence, count=length)
    sizes = pool.sizes
    many = pool.bound.get("append_many")
    steps = [length] if many is not None else [1] * length
    stored = 0
    add = pool.bound.get("add")
    if add is not None and not pool.comes_with_tokens:
        calls.append(_come_first(pool, inputs))
    for tokens in steps:
        comes = stored == 0 and pool.comes_with_tokens
        feeding = add if comes else many if many is not None else pool.bound["append"]
        assert feeding is not None
        k = rng.standard_normal((1, sizes.heads, tokens, sizes.head_dim)).astype(np.float32)
        now = {
            **inputs, "k": to_wire(k, feeding.layout), "v": to_wire(-k, feeding.layout), "position": stored,
            "length": stored + tokens, "lengths": np.array([tokens]), "totals": np.array([stored + tokens]),
            "positions": np.array([stored]), "count": tokens,
            # each round hands the same numbers over under the same ids
            "prompt": [len(calls) * 2 * sizes.block_size + n for n in range(tokens)],
        }  # fmt: skip
        if comes:
            inputs.update(now)
            calls.append(_come_first(pool, inputs))
        else:
            around = pool.bound.get("reserve"), feeding, pool.bound.get("advance")
            calls += [_call(pool, part, now) for part in around if part is not None]
        stored += tokens
    return {**inputs, "position": stored, "length": stored}


def _come_first(pool: Pool, inputs: dict[str, Any]) -> Call:
    """The call that a sequence comes with; the name that it gives is taken down."""
    call = _call(pool, pool.bound["add"], inputs)
    if names_it(pool.bound["add"]):
        inputs.update(sequence=call.result, rows=[call.result])
    return call


def _gone(pool: Pool, calls: list[Call], sequence: int, inputs: dict[str, Any]) -> None:
    calls.append(_call(pool, pool.bound["free"], inputs))


def _call(pool: Pool, binding: Binding, inputs: dict[str, Any]) -> Call:
    """One call as it goes over the wire; arrays are put into the worker once, for all rounds."""
    target: Target | Handle = Target(binding.file, binding.name)
    method = ""
    if binding.on:
        target, method = inputs[binding.on], binding.name.rpartition(".")[2]

    def value(source: str, literal: Any) -> Any:
        given = inputs[source] if source else literal
        return pool.worker.put(given) if isinstance(given, np.ndarray) else given

    args = [value(a.source, a.literal) for a in binding.args if not a.keyword]
    kwargs = {a.keyword: value(a.source, a.literal) for a in binding.args if a.keyword}
    return Call(target, pool.worker.slot(), args, kwargs, method)
