"""Calling a role through its binding: canonical names in, canonical names out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.calling.binding import Argument, Binding, Source, parse_path
from judge_tui.checks.calling.layouts import back, handed, left_out, wired
from judge_tui.checks.calling.remote import (
    Carried,
    Context,
    Handle,
    Nested,
    NumpyType,
    Result,
    Scripted,
    Steps,
    Target,
    Worker,
)
from judge_tui.checks.faults import BadResult, Fault, Raised

__all__ = ["Ended", "NotGiven", "Returned", "construct", "invoke"]

#: Exceptions that no way of calling can be blamed for.
_OWN = frozenset({"RecursionError", "MemoryError", "SystemExit", "KeyboardInterrupt", "NameError",
                  "UnboundLocalError", "GeneratorExit"})  # fmt: skip


class NotGiven(KeyError):
    """A binding by hand names something that its role is not given."""


class Ended(Exception):
    """A call ended the process, never came back, or failed however it may be called.

    Args:
        binding: What was called.
        fault: What it did.
        called: What is not called again: by default the target, however it is called.
    """

    def __init__(self, binding: Binding, fault: Fault, called: str = "") -> None:
        super().__init__(fault.message)
        self.binding = binding
        self.fault = fault
        self.called = called or binding.target

    @staticmethod
    def by(fault: Fault, worker: Worker) -> bool:
        """Whether a fault is such an end, and not what a wrong guess at the call may cause."""
        return not worker.alive or (isinstance(fault, Raised) and fault.kind in _OWN)


@dataclass(frozen=True, slots=True)
class Returned:
    """What a role gave, reachable by canonical name.

    Attributes:
        binding: How it was called.
        result: The raw result.
        instance: The object whose method was called, if any.
        given: Handles of what was handed over, by canonical name: arrays and lists are read back for purity.
        filled: Handles of the containers that were handed over empty, by canonical name.
    """

    worker: Worker
    binding: Binding
    result: Result
    instance: Handle | None
    given: Mapping[str, Handle]
    filled: Mapping[str, Handle] = field(default_factory=dict)

    def has(self, name: str) -> bool:
        """Whether the binding says where ``name`` is."""
        return name in self.binding.returns

    def handle(self, name: str) -> Handle:
        """The object itself.

        Raises:
            BadResult: The binding does not say where it is.
        """
        source = self.binding.returns.get(name)
        if source is None:
            nothing = self.result.tree.get("kind") == "none"
            raise BadResult("returned None" if nothing else f"gives no '{name}'")
        return self._at(source)

    def _at(self, source: Source) -> Handle:
        if source.of == "result":
            return self.result.handle.part(*source.steps)
        if source.of == "given":
            (_step, name), *steps = source.steps
            if name not in self.filled:
                raise NotGiven(f"the binding of '{self.binding.role}' hands over no empty '{name}'")
            return self.filled[name].part(*steps)
        if self.instance is None:
            raise BadResult(f"{self.binding.target} has no instance")
        return self.instance.part(*source.steps)

    def array(self, name: str, shape: Sequence[int], dtype: npt.DTypeLike = np.float64) -> npt.NDArray[Any]:
        """An array, in the contract's layout.

        Args:
            name: Canonical name.
            shape: Its shape in the contract's layout.
            dtype: Wire dtype.

        Raises:
            BadResult: Not there, not numbers, or another shape.
        """
        handle, layout = self.handle(name), self.binding.layout
        try:
            array = self.worker.fetch(handle, wired(shape, layout), dtype, loose=name in self.binding.loose)
        except BadResult as fault:
            file, line = self.binding.file, self.binding.line or None
            told = fault.message.replace("answered with", f"answered {name} with")
            text = told if name in told else f"{name}: {told}"
            raise BadResult(text, file=file, line=line, output=self.result.printed) from fault
        return back(array, shape, layout)

    def value(self, name: str) -> Any:
        """Plain data: numbers, texts, lists and dicts."""
        return self.worker.value(self.handle(name))


def invoke(
    worker: Worker,
    binding: Binding,
    inputs: Mapping[str, Any],
    *,
    budget: float = 20.0,
    memory: bool = False,
    count: bool = False,
    wired: bool = False,
) -> Returned:
    """Call the callable that plays a role.

    Args:
        worker: Where the submission is.
        binding: How it is called.
        inputs: Canonical parameter → array in the contract's layout, plain value, handle or ``Scripted``.
            Arrays and lists are handed over as fresh copies; names that the binding does not take are
            ignored.
        budget: Seconds.
        memory: Trace allocations.
        count: Count array operations.
        wired: Arrays go over the wire as they are: whoever calls has put them in the callable's order.

    Raises:
        Fault: The call raised, hung or ended the process.
    """
    hand = _Handover(worker, binding, inputs, "" if wired else binding.layout)
    patched = (source.partition(".")[0] for source in binding.patch.values())
    taken = (source for a in (*binding.args, *(binding.init or ())) for source in a.sources)
    for name in (binding.on, *taken, *patched):
        if name and name not in inputs:
            told = f"role '{binding.role}' was called without '{name}'"
            raise KeyError(told) if binding.origin == "found" else NotGiven(told)
    target: Target | Handle = Target(binding.file, binding.name)
    method, instance = "", None
    if binding.on or binding.init is not None:
        instance = inputs[binding.on] if binding.on else _constructed(hand, budget)
        # "name()" is what calling `name` gave: the handle itself is called.
        method = "" if binding.name.endswith("()") else binding.name.rpartition(".")[2]
        target = instance
    args, kwargs = hand.split(binding.args)
    result = worker.call(
        target, args, kwargs, method=method, budget=budget, memory=memory, count=count,
        patches=hand.patches(), each=hand.each(), answers=_answers(binding, instance),
    )  # fmt: skip
    return Returned(worker, binding, result, instance, hand.given, hand.filled)


def _answers(binding: Binding, instance: Handle | None) -> list[Steps | Handle]:
    """Where what the role gives stands: in the result, or on the instance."""
    found: list[Steps | Handle] = [s.steps for s in binding.returns.values() if s.of == "result"]
    if instance is not None:
        found += [instance.part(*s.steps) for s in binding.returns.values() if s.of == "self"]
    return found


def construct(worker: Worker, binding: Binding, inputs: Mapping[str, Any], *, budget: float = 20.0) -> Handle:
    """Make the instance that a method is called on, as :func:`invoke` does, and call nothing.

    Raises:
        Fault: The constructor raised, hung or ended the process.
    """
    return _constructed(_Handover(worker, binding, inputs, binding.layout), budget)


def _constructed(hand: _Handover, budget: float) -> Handle:
    binding = hand.binding
    args, kwargs = hand.split(binding.init or ())
    owner = Target(binding.file, binding.name.rpartition(".")[0])
    instance = hand.worker.call(owner, args, kwargs, budget=budget, patches=hand.patches()).handle
    if binding.warm:
        args, kwargs = hand.split(binding.args)
        first = hand.worker.call(
            instance, args, kwargs, method=binding.name.rpartition(".")[2], budget=budget,
            patches=hand.patches(), each=hand.each(),
        )  # fmt: skip
        hand.worker.drop(first.handle)
    for attribute, source in binding.attributes.items():
        *steps, (_kind, name) = parse_path(f"self.{attribute}").steps
        value = hand.value(Argument(source))
        hand.worker.set(instance.part(*steps), str(name), value, within=binding.in_place)
    return instance


@dataclass(slots=True)
class _Handover:
    """Turns a binding's arguments into what the worker takes; an array named twice is handed over once."""

    worker: Worker
    binding: Binding
    inputs: Mapping[str, Any]
    layout: str
    given: dict[str, Handle] = field(default_factory=dict)
    filled: dict[str, Handle] = field(default_factory=dict)

    def value(self, argument: Argument) -> Any:
        if argument.made == "stack":
            return self.worker.put(self._stacked(argument))
        if argument.parts:
            told = {key: source.rpartition(":") for key, source in argument.parts}
            parts = {key: self.value(Argument(name, form=form)) for key, (form, _, name) in told.items()}
            if not argument.made:
                return Context(parts)
            if argument.made == "tuple":
                return tuple(parts.values())
            file, _, name = argument.made.rpartition(":")
            return self.worker.call(Target(file, name), (), parts).handle
        if not argument.source:
            return argument.literal
        if argument.empty:
            self.filled[argument.source] = self._container(argument.form)
            return self.filled[argument.source]
        item = self.inputs[argument.source]
        if isinstance(item, np.ndarray):
            item = handed(item, self.layout)
            if argument.form == "lists":
                return Nested(item)
            if argument.source not in self.given:
                self.given[argument.source] = self.worker.put(item)
            return self.given[argument.source]
        if isinstance(item, (list, Carried)):
            if argument.source not in self.given:
                self.given[argument.source] = self.worker.put(item)
            return self.given[argument.source]
        if isinstance(item, Scripted) and self.binding.model:
            return Scripted({**item.spec, "style": self.binding.model})
        return NumpyType(item) if argument.form == "type" else item

    def _stacked(self, argument: Argument) -> npt.NDArray[Any]:
        """Several arrays as one, along a new first axis."""
        each = [np.asarray(self.inputs[name]) for name in argument.sources]
        if len({array.shape for array in each}) > 1:
            raise NotGiven(f"{argument} is of several shapes, which cannot be stacked")
        return np.stack([handed(array, self.layout) for array in each])

    def _container(self, form: str) -> Handle:
        """An empty container of a form, or a new object of a class of the submission's."""
        file, colon, name = form.rpartition(":")
        if colon:
            return self.worker.call(Target(file, name), (), {}).handle
        return self.worker.put([] if form == "list" else Context())

    def patches(self) -> list[tuple[Target, str, Any]]:
        """What is replaced in the submission for as long as the call lasts."""
        made: list[tuple[Target, str, Any]] = []
        for place, source in self.binding.patch.items():
            file, _, qualified = place.partition(":")
            owner, _, attribute = qualified.rpartition(".")
            param, _, part = source.partition(".")
            value = self.value(Argument(param))
            if part and isinstance(value, Scripted):
                value = Scripted({**value.spec, "as": part})
            made.append((Target(file, owner), attribute, value))
        return made

    def each(self) -> dict[str, Any] | None:
        """Which arguments are handed over one leading index at a time, where the layout leaves axes out."""
        count = left_out(self.layout)
        values = (self.inputs.get(a.source) for a in self.binding.args)
        whole: list[npt.NDArray[Any]] = [v for v in values if isinstance(v, np.ndarray) and v.ndim == 4]
        # A number for every row, such as its log-sum-exp, is led by the same axes.
        rows = {array.shape[:3] for array in whole}
        arrays = [handed(value, self.layout) for value in whole]
        handles = any(isinstance(self.inputs.get(a.source), Handle) for a in self.binding.args)
        if not count or not (arrays or handles):
            return None
        leading = arrays[0].shape[:count] if arrays else ()

        def led(argument: Argument) -> bool:
            value = self.inputs.get(argument.source)
            # What an earlier call gave was stacked, and is taken apart again.
            if isinstance(value, Handle):
                return True
            if not isinstance(value, np.ndarray) or (value.ndim != 4 and value.shape not in rows):
                return False
            return handed(value, self.layout).shape[:count] == leading

        return {
            "args": [i for i, a in enumerate(a for a in self.binding.args if not a.keyword) if led(a)],
            "kwargs": [a.keyword for a in self.binding.args if a.keyword and led(a)],
            "leading": list(leading),
            "count": count,
        }

    def split(self, arguments: Sequence[Argument]) -> tuple[list[Any], dict[str, Any]]:
        positional = [self.value(a) for a in arguments if not a.keyword]
        return positional, {a.keyword: self.value(a) for a in arguments if a.keyword}
