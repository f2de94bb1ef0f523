"""O and L of the judge's own, for a backward that comes without a forward."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.faults import BadResult, Raised
from judge_tui.checks.tasks.flash_attention.cases import Case
from judge_tui.checks.tasks.flash_attention.contract import forward_inputs
from judge_tui.checks.tasks.flash_attention.forward import OTHER_LAYOUTS
from judge_tui.checks.tasks.flash_attention.reference import Array
from judge_tui.checks.tasks.flash_attention_bwd.reference import (
    NAMES,
    Problem,
    close,
    gradients,
    logsumexp,
    posed,
)

__all__ = ["SHAPES", "Stated"]

#: How L may be laid out, from (B, H, N).
SHAPES: dict[str, Callable[[Array], Array]] = {
    "(B, H, N)": lambda rows: rows,
    "(B, H, N, 1)": lambda rows: rows[..., None],
    "(B, N, H)": lambda rows: rows.swapaxes(1, 2),
}
_BASES = {"": 1.0, " in base 2": float(np.log2(math.e))}


class Stated:
    """What stands in for a forward: O and L, right in float64, as the backward takes them.

    Another layout, or another way of writing L, is taken only where the gradients are right with it.

    Args:
        bench: Where the backward is called.

    Attributes:
        switch: Whether the backward can be told to be causal or not.
        causal: The settings that it can be called with; of one without a switch, the one that is right.
        written: How L is handed over.
    """

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        binding = bench.binding("backward")
        self.switch = binding.takes("causal")
        self.causal: tuple[bool, ...] = (True, False) if self.switch else (False,)
        self._shape, self._base = next(iter(SHAPES)), ""
        self._settle(binding)

    @property
    def written(self) -> str:
        """How L is handed over."""
        return f"{self._shape}{self._base}"

    def inputs(self, case: Case) -> dict[str, Any]:
        """What the backward may be told of a case, by canonical names, in the dtype of its inputs."""
        rows = SHAPES[self._shape](logsumexp(case)) * _BASES[self._base]
        return {
            **forward_inputs(case.q, case.k, case.v, case.tile, case.causal, key_tile=case.key_tile),
            "O": case.truth.astype(case.q.dtype),
            "L": np.ascontiguousarray(rows, case.q.dtype),
        }

    def _settle(self, ours: Binding) -> None:
        """Take the first reading of the call that gives gradients; where none does, the plainest one."""
        found = self.bench.bindings.found
        for layout, shape, base in self._readings(ours):
            self._shape, self._base = shape, base
            found["backward"] = replace(ours, layout=layout)
            for causal in (False, True):
                if self._right(causal):
                    self.causal = self.causal if self.switch else (causal,)
                    return
        self._shape, self._base = next(iter(SHAPES)), ""
        found["backward"] = ours

    @staticmethod
    def _readings(ours: Binding) -> Iterator[tuple[str, str, str]]:
        """Layout, shape of L and its base, likeliest first."""
        others = OTHER_LAYOUTS.get(ours.layout, ()) if ours.origin == "found" else ()
        count = None if ours.takes("L") else 1
        shapes, bases = list(SHAPES)[:count], list(_BASES)[:count]
        yield from itertools.product((ours.layout, *others), shapes, bases)

    def _right(self, causal: bool) -> bool:
        """Whether the gradients of a small problem come, in whatever order."""
        problem = posed(self.bench.rng("stated"), (2, 3, 12, 4), 4, causal)
        with contextlib.suppress(Raised, BadResult):
            made, truth = self._answered(problem), gradients(problem)
            return any(
                close(dict(zip(NAMES, order, strict=True)), truth) for order in itertools.permutations(made)
            )
        return False

    def _answered(self, problem: Problem) -> list[Array]:
        returned = self.bench.call("backward", {**self.inputs(problem.case), "dO": problem.d_out})
        return [returned.array(name, problem.case.q.shape) for name in NAMES]
