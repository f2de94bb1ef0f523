"""A submission's forward as the checks call it: told as it wants to be told, in its own order of axes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.calls import Returned, invoke
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.faults import BadResult, Fault, Raised
from judge_tui.checks.tasks.flash_attention.cases import Case, drawn
from judge_tui.checks.tasks.flash_attention.contract import forward_inputs
from judge_tui.checks.tasks.flash_attention.reference import Array
from judge_tui.checks.tasks.flash_attention.words import MODE, Said, sayings
from judge_tui.checks.tolerance import relative_error

__all__ = ["OTHER_LAYOUTS", "Forward"]

#: How a causal mask may be written: what hides later keys, as (N, N) or with axes for batch and head.
_MASKS: tuple[tuple[str, Callable[[npt.NDArray[np.bool_]], npt.NDArray[Any]]], ...] = (
    ("0 and -inf", lambda seen: np.where(seen, 0.0, -np.inf)),
    ("True where a key is seen", lambda seen: seen),
    ("True where a key is hidden", lambda seen: ~seen),
)
#: Layout → other readings of arrays of as many axes.
OTHER_LAYOUTS = {"": ("BNHD",), "HND": ("NHD", "BNE")}
#: Another reading of the call is taken only when its answer is right.
_CLOSE = 1e-3


class Forward:
    """The callable that plays the role ``forward``.

    Args:
        bench: Where it is called.

    Attributes:
        switch: Whether it can be told to be causal or not.
        mask: How the mask is written that it takes in place of a switch; empty when it takes none.
        said: The word by which it is told, in place of a switch; ``None`` when it takes none.
        unread: Whether it takes a mask that makes it causal in no usual way of writing one.
        relaid: How its arrays are, such as ``(B, N, H, D)``, where they were found not to be (B, H, N, D).
        causal: The settings that it can be called with; one without a switch, told from what it computes.
        disturbed: Whether counting changed an answer, so that nothing counted is of use.
        uncountable: What it said where it refused the arrays that count; empty while it took them.
        tiled: Whether it can be told a tile size.
    """

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.binding = bench.binding("forward")
        self.tiled = self.binding.takes("tile_size") or self.binding.takes("tile_k")
        self.disturbed = False
        self.uncountable = ""
        self.said: Said | None = None
        self._written: Callable[[npt.NDArray[np.bool_]], npt.NDArray[Any]] | None = None
        self._axes = 2
        case = drawn(bench.rng("kind"), (2, 3, 12, 4), 4, True)
        self._settle_layout(case)
        found = self.binding.layout if self.binding.origin == "found" else ""
        self.relaid = f"({', '.join(found)})" if found else ""
        masked = self.binding.takes("mask") and not self.binding.takes("causal")
        self.mask = self._find_mask(case) if masked else ""
        if not (self.mask or self.binding.takes("causal") or "backward" in bench.contract.by_name):
            # A backward would have to be told the same word.
            self.said = self._find_word(case)
        self.unread = masked and not self.mask and self.said is None
        self.switch = self.binding.takes("causal") or bool(self.mask) or self.said is not None
        self.causal: tuple[bool, ...] = (True, False) if self.switch else (self._kind(case),)

    def __call__(self, case: Case, *, worker: Worker | None = None) -> Array:
        """O of a case, float64."""
        return self.returned(case, worker=worker)[0]

    def returned(
        self, case: Case, *, worker: Worker | None = None, memory: bool = False, count: bool = False
    ) -> tuple[Array, Returned]:
        """O of a case and all that came with it.

        Raises:
            Fault: The call went wrong; the message says for which case.
        """
        try:
            inputs = self.inputs(case)
            if self.said is None:
                returned = self.bench.call("forward", inputs, worker=worker, memory=memory, count=count)
            else:
                returned = invoke(
                    worker or self.bench.worker, self.said.binding,
                    {**inputs, MODE: self.said.words[case.causal]},
                    budget=self.bench.left, memory=memory, count=count,
                )  # fmt: skip
            return returned.array("O", case.q.shape), returned
        except Fault as fault:
            fault.message = f"{fault.message} ({case})"
            raise

    def inputs(self, case: Case) -> dict[str, object]:
        """What it may be told of a case, by canonical names, its mask included."""
        return forward_inputs(
            case.q,
            case.k,
            case.v,
            case.tile,
            case.causal,
            key_tile=case.key_tile,
            mask=self._mask_of(case),
        )

    def counters(self, case: Case) -> dict[str, Any]:
        """What the worker counts during a case; empty when counting changes its answer or is refused."""
        try:
            out, returned = self.returned(case, count=True)
        except Fault as fault:
            if self.bench.worker.alive:
                self.uncountable = fault.placed
                return {}
            raise
        self.disturbed = not np.array_equal(out, self(case), equal_nan=True)
        return {} if self.disturbed else dict(returned.result.counters)

    @property
    def place(self) -> dict[str, Any]:
        """``file`` and ``line`` of the callable."""
        return {"file": self.binding.file, "line": self.binding.line or None}

    def located(self, at: Any) -> dict[str, Any]:
        """``file`` and ``line`` that the worker names, if in the submission, else the callable's own."""
        if not (isinstance(at, list) and len(at) == 2 and isinstance(at[1], int)):
            return self.place
        return {"file": at[0], "line": at[1]} if at[0] in self.bench.submission.files else self.place

    def _mask_of(self, case: Case) -> npt.NDArray[Any] | None:
        if self._written is None or not case.causal:
            return None
        length = case.q.shape[2]
        mask = self._written(np.tri(length, dtype=bool))
        return mask.reshape((1,) * (self._axes - 2) + mask.shape)

    def _errors(self, case: Case) -> dict[bool, float]:
        """How far an answer is from causal and from full attention; infinite where it is no number."""
        out = self(case)
        errors = {causal: relative_error(out, replace(case, causal=causal).truth) for causal in (True, False)}
        return {causal: error if error == error else np.inf for causal, error in errors.items()}

    def _settle_layout(self, case: Case) -> None:
        """Take the axes in another order where that gives attention and the one that binds does not."""
        found, ours = self.bench.bindings.found, self.binding
        others = OTHER_LAYOUTS.get(ours.layout, ())
        if not others or self._attends(case):
            return
        for layout in others:
            self.binding = found["forward"] = replace(ours, layout=layout)
            if self._attends(case):
                return
        self.binding = found["forward"] = ours
        if "BNHD" in others and self._mixes_heads(case):
            self.binding = found["forward"] = replace(ours, layout="BNHD")

    def _attends(self, case: Case) -> bool:
        """Whether an answer comes, and is attention, causal or not."""
        with contextlib.suppress(Raised, BadResult):
            return min(self._errors(case).values()) < _CLOSE
        return False

    def _mixes_heads(self, case: Case) -> bool:
        """Whether rows hang on the same rows of other heads and on no other row: it attends along heads."""
        with contextlib.suppress(Raised, BadResult):
            before = self(case)
            heads, rows = case.v.copy(), case.v.copy()
            heads[:, 0] += 1.0
            rows[:, :, 0] += 1.0
            by_heads, by_rows = (self(replace(case, v=v)) for v in (heads, rows))
            others = np.array_equal(before[:, :, 1:], by_rows[:, :, 1:], equal_nan=True)
            return others and not np.array_equal(before[:, 1:], by_heads[:, 1:], equal_nan=True)
        return False

    def _find_mask(self, case: Case) -> str:
        """Which way of writing a mask makes it causal; empty when none does."""
        for self._axes in (2, 4):
            for told, self._written in _MASKS:
                with contextlib.suppress(Raised, BadResult):
                    if self._errors(case)[True] < _CLOSE:
                        return told
        self._written = None
        return ""

    def _find_word(self, case: Case) -> Said | None:
        """The words that make it causal, and that make it attend to every key."""
        full = replace(case, causal=False)
        loaded = self.bench.bindings.loaded
        for said in sayings(self.bench.submission, loaded, self.binding):
            self.said = said
            with contextlib.suppress(Raised, BadResult):
                if self._errors(case)[True] < _CLOSE and self._errors(full)[False] < _CLOSE:
                    return said
        self.said = None
        return None

    def _kind(self, case: Case) -> bool:
        """Whether a callable without a switch masks: one that is wrong, by what its first row depends on."""
        errors = self._errors(case)
        if min(errors.values()) < _CLOSE:
            return errors[True] <= errors[False]
        last = case.v.copy()
        last[:, :, -1] += 1.0
        return np.array_equal(self(case)[:, :, 0], self(replace(case, v=last))[:, :, 0], equal_nan=True)
