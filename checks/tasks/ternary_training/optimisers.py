"""Optimisers beside a layer: classes whose objects are handed what they move, and take one step at a time.

``Adam(layer.parameters()).step()``, ``Adam(lr).step([layer])``: what a layer lists as its parameters is
handed over as it is, whatever it looks like; else the layer itself, alone or in a list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judge_tui.checks.bench import Bench
from judge_tui.checks.binding.candidates import callables
from judge_tui.checks.calling.remote import Handle, Target, Worker
from judge_tui.checks.tasks.ternary_training.held import instance
from judge_tui.checks.tasks.ternary_training.layer import Run
from judge_tui.checks.tasks.ternary_training.updates import is_rate, is_update

__all__ = ["Optimiser", "Started", "optimisers"]

_OPTIMISERS = re.compile(r"(?i)adam|sgd|momentum|rmsprop|lion|optimi[sz]er|descent")
_LISTS = re.compile(
    r"^(named_|trainable_|get_|all_)?(param(eter)?s?|weights|variables)(_and_grad(ient)?s|_list)?$"
)
#: Seconds for one call of a small step, and the rate that one without a default of its own is told.
_SECONDS, _RATE = 5.0, 0.01
#: What stands for what is moved: what the layer lists, the layer in a list, the layer.
_LISTED, _LAYERS, _LAYER = "listed", "layers", "layer"
_MOST = 2


@dataclass(frozen=True, slots=True)
class Optimiser:
    """One way to have an optimiser move a layer.

    Attributes:
        file: Of its class.
        name: The class's.
        line: Of its step.
        method: Its step.
        made_of: What its constructor is handed, in order; numbers as they are.
        moves: What its step is handed.
        lists: The layer's method that lists its parameters; empty for none.
    """

    file: str
    name: str
    line: int
    method: str
    made_of: tuple[str | float, ...]
    moves: tuple[str | float, ...]
    lists: str

    @property
    def target(self) -> str:
        """How it is written, roughly."""
        return f"{self.file}:{self.name}.{self.method}"

    def begin(self, run: Run) -> Started:
        """A new one for a layer that has run forward.

        Raises:
            Fault: A call raised, hung or ended the process.
        """
        worker = run.returned.worker
        args = [self.handed(worker, run, token) for token in self.made_of]
        return Started(self, worker.call(Target(self.file, self.name), args, budget=_SECONDS).handle)

    def handed(self, worker: Worker, run: Run, token: str | float) -> Any:
        """What a token of ``made_of`` or ``moves`` stands for, of a layer that has run."""
        layer = instance(run)
        if token == _LISTED:
            return worker.call(layer, method=self.lists, budget=_SECONDS).handle
        return {_LAYERS: [layer], _LAYER: layer}.get(str(token), token)


@dataclass(frozen=True, slots=True)
class Started:
    """An optimiser at work.

    Attributes:
        kind: How it is called.
        handle: The object.
    """

    kind: Optimiser
    handle: Handle

    def step(self, run: Run) -> None:
        """Take one step by the gradients that the layer holds.

        Raises:
            Fault: It raised, hung or ended the process.
        """
        worker = run.returned.worker
        args = [self.kind.handed(worker, run, token) for token in self.kind.moves]
        worker.call(self.handle, args, method=self.kind.method, budget=_SECONDS)


def optimisers(bench: Bench, owner: str) -> Iterator[tuple[Optimiser, ...]]:
    """Every optimiser of the submission's, with the ways to have it move a layer.

    Args:
        bench: Where the submission is loaded.
        owner: The layer's class.
    """
    listing = _listing(bench, owner)
    count = 0
    for file, inventory in bench.bindings.loaded.items():
        for cls in inventory.get("classes", ()):
            if count >= _MOST or cls["name"] == owner or not _OPTIMISERS.search(cls["name"]):
                continue
            made = _needed(cls.get("params") or ())
            steps = [method for method in cls["methods"] if is_update(method["name"]) and method["params"]]
            if made is None or not steps:
                continue
            step = steps[0]
            moved = _needed(step["params"][1:])
            if moved is None or made.count(_LISTED) + moved.count(_LISTED) != 1:
                continue
            kinds = (_LISTED, _LAYERS, _LAYER) if listing else (_LAYERS, _LAYER)
            count += 1
            yield tuple(
                Optimiser(
                    file, cls["name"], step["line"], step["name"],
                    _filled(made, kind), _filled(moved, kind), listing,
                )
                for kind in kinds
            )  # fmt: skip


def _listing(bench: Bench, owner: str) -> str:
    """The layer's method that lists its parameters."""
    for item in callables(bench.bindings.loaded):
        cls, _, method = item.name.rpartition(".")
        if cls == owner and _LISTS.search(method) and all("default" in param for param in item.params):
            return method
    return ""


def _needed(params: Sequence[Mapping[str, Any]]) -> list[str | float] | None:
    """What parameters without a default are handed; ``None`` where nothing is known of one."""
    found: list[str | float] = []
    for param in params:
        if "default" in param or param["kind"] in ("VAR_POSITIONAL", "VAR_KEYWORD"):
            continue
        if is_rate(param["name"]):
            found.append(_RATE)
        elif _LISTED not in found:
            found.append(_LISTED)
        else:
            return None
    return found


def _filled(tokens: Sequence[str | float], kind: str) -> tuple[str | float, ...]:
    return tuple(kind if token == _LISTED else token for token in tokens)
