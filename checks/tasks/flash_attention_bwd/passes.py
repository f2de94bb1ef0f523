"""A submission's forward and backward as the checks run them, whatever carries the cache between them."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.binding import Source
from judge_tui.checks.calling.calls import Returned
from judge_tui.checks.calling.layouts import left_out
from judge_tui.checks.calling.remote import Handle, Worker
from judge_tui.checks.faults import BadResult, Fault, Raised, Skipped, Unbound
from judge_tui.checks.sources import parsed, returned_names
from judge_tui.checks.tasks.flash_attention.forward import Forward
from judge_tui.checks.tasks.flash_attention.reference import Array
from judge_tui.checks.tasks.flash_attention_bwd.reference import (
    NAMES,
    Gradients,
    Problem,
    close,
    gradients,
    posed,
)
from judge_tui.checks.tasks.flash_attention_bwd.stated import Stated

__all__ = ["Attention", "Run"]

#: Handles that a forward may give and a backward take.
_CARRIED = ("cache", "L", "O", "layer")


@dataclass(frozen=True, slots=True)
class Run:
    """A forward that was run.

    Attributes:
        problem: What it was given, and what its backward is to be given.
        out: O (B, H, N, D), float64.
        call: The call, with the handles of what it gave; ``None`` where O and L are the judge's own.
    """

    problem: Problem
    out: Array
    call: Returned | None

    @property
    def returned(self) -> Returned:
        """The call.

        Raises:
            Unbound: There was none.
        """
        if self.call is None:
            raise Unbound("forward")
        return self.call

    @property
    def given(self) -> dict[str, Handle]:
        """What the call gave that a backward may take."""
        if self.call is None:
            return {}
        return {name: self.call.handle(name) for name in _CARRIED if self.call.has(name)}


class Attention:
    """The callables that play the roles ``forward`` and ``backward``.

    Args:
        bench: Where they are called.
        alone: Whether a backward without a forward will do: O and L are the judge's own then.

    Attributes:
        causal: The settings that both can be called with.
        switch: Whether they can be told which.
        binding: How the backward is called.
        reordered: The order in which the gradients come, where their positions alone told them and a right
            answer was found in another order than the contract's; empty otherwise.
    """

    def __init__(self, bench: Bench, *, alone: bool = False) -> None:
        self.bench = bench
        self.binding = bench.binding("backward")
        self._told: Forward | Stated = (
            Stated(bench) if alone and _is_open(bench, "forward") else Forward(bench)
        )
        self.causal, self.switch = self._told.causal, self._told.switch
        # Settling may have changed how it is called.
        self.binding = bench.binding("backward")
        if self.stated is None:
            self._as_the_forward()
        self.reordered: tuple[str, ...] = ()
        self._settle_order()

    @property
    def forward(self) -> Forward:
        """The forward, as the checks of the forward task call it.

        Raises:
            Unbound: There is none.
        """
        if isinstance(self._told, Stated):
            raise Unbound("forward")
        return self._told

    @property
    def stated(self) -> Stated | None:
        """What stands in for a forward where there is none."""
        return self._told if isinstance(self._told, Stated) else None

    @property
    def files(self) -> tuple[str, ...]:
        """Where they stand."""
        forward = () if isinstance(self._told, Stated) else (self._told.binding.file,)
        return tuple(dict.fromkeys((*forward, self.binding.file)))

    def __call__(self, problem: Problem, *, worker: Worker | None = None) -> Gradients:
        """Forward and backward of a problem."""
        return self.backward(self.run(problem, worker=worker), worker=worker)

    def run(
        self, problem: Problem, *, worker: Worker | None = None, memory: bool = False, count: bool = False
    ) -> Run:
        """The forward of a problem.

        Raises:
            Fault: The call went wrong; the message says for which case.
        """
        if self.stated is not None:
            return Run(problem, problem.case.truth, None)
        return Run(problem, *self.forward.returned(problem.case, worker=worker, memory=memory, count=count))

    def backward(self, run: Run, *, worker: Worker | None = None, **how: Any) -> Gradients:
        """The gradients of a run, float64; arguments as in :meth:`returned`."""
        return self.read(run, self.returned(run, worker=worker, **how))

    def returned(
        self,
        run: Run,
        *,
        d_o: Array | None = None,
        carried: Mapping[str, Handle] | None = None,
        worker: Worker | None = None,
        budget: float | None = None,
        memory: bool = False,
        count: bool = False,
    ) -> Returned:
        """Call the backward.

        Args:
            run: The forward whose cache is used.
            d_o: Upstream gradient; the problem's own when left out.
            carried: Handles that stand for the forward's own, such as a poisoned cache.
            worker: The worker that ran the forward.
            budget: Seconds.
            memory: Trace allocations.
            count: Count array operations.

        Raises:
            Fault: It raised, hung or died; the message says for which case.
        """
        problem = run.problem
        case = replace(problem.case, tile=problem.tile, key_tile=0)
        inputs = {
            **self._told.inputs(case),
            "dO": problem.d_out if d_o is None else d_o,
            **run.given,
            **(carried or {}),
        }
        try:
            return self.bench.call(
                "backward", inputs, worker=worker, budget=budget, memory=memory, count=count
            )
        except Fault as fault:
            fault.message = f"{fault.message} ({problem})"
            raise

    def read(self, run: Run, returned: Returned) -> Gradients:
        """The gradients that a call gave.

        Raises:
            BadResult: One is missing, or has a wrong shape.
        """
        shape = run.problem.case.q.shape
        return {name: returned.array(name, shape) for name in NAMES}

    def release(self, *runs: Run, worker: Worker | None = None) -> None:
        """Let the worker forget forwards."""
        handles: list[Handle] = []
        for run in runs:
            if (made := run.call) is None:
                continue
            handles += [made.result.handle, *made.given.values(), *([made.instance] if made.instance else [])]
        (worker or self.bench.worker).drop(*handles)

    @property
    def place(self) -> dict[str, Any]:
        """``file`` and ``line`` of the backward."""
        return {"file": self.binding.file, "line": self.binding.line or None}

    @property
    def carrier(self) -> tuple[str, ...]:
        """Names of the handles by which the forward's state reaches the backward."""
        taken = (self.binding.on, *(a.source for a in self.binding.args))
        return tuple(name for name in dict.fromkeys(taken) if name in _CARRIED)

    def _as_the_forward(self) -> None:
        """Hand the backward arrays in the forward's order of axes.

        Raises:
            Skipped: Its state is of one head at a time.
        """
        if self.forward.relaid and not self.binding.layout:
            self.binding = replace(self.binding, layout=self.forward.binding.layout)
            self.bench.bindings.found["backward"] = self.binding
        self._one_state_for_all()

    def _one_state_for_all(self) -> None:
        """Refuse what takes one head at a time and keeps what it needs of it on one object.

        Raises:
            Skipped: Its backward would see the last head's state alone.
        """
        sources = [self.forward.binding.returns.get(name) for name in self.carrier]
        kept = any(source is not None and source.of == "self" for source in sources)
        if left_out(self.binding.layout) and kept:
            raise Skipped(
                f"it takes {self.forward.relaid} and keeps what its backward needs on itself: "
                "a call for every head would overwrite the state of the one before"
            )

    def _settle_order(self) -> None:
        """Take the gradients in another order where only that is right and no name tells the order."""
        places = [self.binding.returns.get(name) for name in NAMES]
        if self.binding.origin != "found" or places != [Source("result", (("i", i),)) for i in range(3)]:
            return
        if any(self._named()):
            return
        problem = posed(self.bench.rng("order"), (1, 1, 6, 4), 3, self.causal[0])
        with contextlib.suppress(Raised, BadResult):
            made, truth = self(problem), gradients(problem)
            for order in itertools.permutations(range(3)):
                found = {name: made[NAMES[index]] for name, index in zip(NAMES, order, strict=True)}
                if close(found, truth):
                    self._reorder(order)
                    return

    def _reorder(self, order: Sequence[int]) -> None:
        if list(order) == [0, 1, 2]:
            return
        self.reordered = tuple(NAMES[list(order).index(position)] for position in range(3))
        returns = {name: Source("result", (("i", index),)) for name, index in zip(NAMES, order, strict=True)}
        self.binding = replace(self.binding, returns={**self.binding.returns, **returns})
        self.bench.bindings.found["backward"] = self.binding

    def _named(self) -> list[bool]:
        """Whether the names in the backward's own return say what an item is."""
        try:
            tree = parsed(self.bench.submission.read_bytes(self.binding.file))
        except (SyntaxError, OSError):
            return []
        names = returned_names(tree, self.binding.name.removesuffix("()"))
        role = self.bench.contract.by_name["backward"]
        return [item.means(name) for item in role.returns for name in names if name]


def _is_open(bench: Bench, role: str) -> bool:
    """Whether nothing plays a role, through no fault of what is there."""
    try:
        bench.binding(role)
    except Unbound:
        return True
    return False
