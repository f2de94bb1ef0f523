"""Binding a role whose answer has no shape: the way of calling it that fits the sample best.

Searches differ in how they meet their model: as an argument, or as a class, function or
object of the submission; giving the last position or all of them. Each way is tried on
the sample, and :attr:`judge_tui.checks.contract.Role.agrees` grades what comes back. The
best grade binds, however low: a wrong search is the checks' business.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from judge_tui.checks.binding.meant import Refused
from judge_tui.checks.calling.binding import Binding, Source
from judge_tui.checks.calling.calls import Ended, invoke
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.contract import Role, anything
from judge_tui.checks.faults import Fault, Raised
from judge_tui.checks.worker.scripted.models import STYLES

__all__ = ["most_agreeing"]

_PROBE_BUDGET = 10.0
#: A wrong guess at how arguments are meant may never come back: seconds for one, and so many are let go.
_SPELLING_BUDGET = 5.0
_MOST_ENDED = 3
_MODELS = re.compile(r"prob|logit|forward|predict|^__call__$|next_token|infer")
_NO_MODEL = re.compile(r"softmax|penal|search|beam|test|check|main|greedy|demo")

Inventories = Mapping[str, Mapping[str, Any]]


def most_agreeing(
    worker: Worker,
    role: Role,
    ranked: Sequence[Binding],
    inputs: Mapping[str, Any],
    loaded: Inventories,
    notes: list[str],
    refused: list[Refused],
    fatal: Mapping[str, Fault] | None = None,
) -> Binding | None:
    """The way of playing a role that agrees best with the sample.

    Args:
        worker: Where the submission is.
        role: Has ``agrees``; its first return is its answer.
        ranked: Candidates, best first.
        inputs: The sample's.
        loaded: File → inventory, for models that are no argument.
        notes: Why each candidate failed is added.
        refused: Every way that failed is added, with its fault.
        fatal: What ended the process when it was called: of a role with ``spellings`` the one way alone.

    Returns:
        ``None`` when no candidate answers at all.

    Raises:
        Fault: A probe hung or ended the process.
    """
    best: tuple[float, Binding] | None = None
    for binding in ranked:
        said: list[str] = []
        groups = _groups(role, binding, loaded)
        if not any(groups):
            said.append("takes no model, and none of its own was found that a scripted one could stand for")
        own = _best_way(worker, role, _left(role, groups, fatal or {}), inputs, said, refused)
        if own is None and (apart := _asked_by_functions(role, binding, loaded)):
            own = _best_way(worker, role, _left(role, apart, fatal or {}), inputs, said, refused)
        notes += [f"{binding.target} {clause}" for clause in dict.fromkeys(said)][:3]
        if own is not None and (best is None or own[0] > best[0]):
            best = own
        # The best name that answers is what is judged; a later one that answers better may be a reference.
        if best is not None and best[0] > 0:
            break
    if best is None:
        return None
    grade, binding = best
    return replace(binding, why=f"{binding.why}; its answer fits the probe to {grade:.0%}")


def _best_way(
    worker: Worker,
    role: Role,
    groups: Sequence[Sequence[Binding]],
    inputs: Mapping[str, Any],
    said: list[str],
    refused: list[Refused],
) -> tuple[float, Binding] | None:
    best: tuple[float, Binding] | None = None
    for ways in groups:
        # How wrong guesses fail says nothing about the submission: only the likeliest group is told of.
        told: list[str] = [] if said else said
        for way in ways:
            grade = _graded(worker, role, way, inputs, told, refused)
            if grade is not None and (best is None or grade > best[0]):
                best = grade, way
            if best is not None and best[0] >= 1.0:
                return best
        if best is not None and best[0] >= role.enough:
            break
    return best


def _called(role: Role, way: Binding) -> str:
    """What is left alone once a call ended the process: the target, or one way of handing things over."""
    if role.spellings is None:
        return way.target
    return f"{way.target}({', '.join(map(str, (*(way.init or ()), *way.args)))})"


def _left(role: Role, groups: Sequence[Sequence[Binding]], fatal: Mapping[str, Fault]) -> list[list[Binding]]:
    """The ways that may be called: where one never came back, the rest of its group would not either."""
    left: list[list[Binding]] = []
    ended = 0
    for ways in groups:
        left.append([])
        for way in ways:
            fault = fatal.get(_called(role, way))
            if fault is None:
                left[-1].append(way)
            elif not isinstance(fault, Raised):
                ended += 1
                break
        if ended >= _MOST_ENDED:
            break
    return left


def _graded(
    worker: Worker,
    role: Role,
    binding: Binding,
    inputs: Mapping[str, Any],
    said: list[str],
    refused: list[Refused],
) -> float | None:
    assert role.agrees is not None
    try:
        budget = _PROBE_BUDGET if role.spellings is None else _SPELLING_BUDGET
        returned = invoke(worker, binding, inputs, budget=budget)
        models = {param.name for param in role.params if param.kind == "model"}
        asked = not models or bool(returned.result.counters.get("model_calls"))
        if not asked:
            said.append("did not ask the scripted model")
            if not any(argument.source in models for argument in (*binding.args, *(binding.init or ()))):
                return None
        # where any answer will do it is not read, however large it is
        told = None if role.agrees is anything else returned.value(role.returns[0].name)
        grade = role.agrees(told, inputs)
        if not asked:
            # What is handed its model and answers without it plays the role all the same, and wrongly.
            return 0.0
        # Probabilities rank as their logarithms do: only exact scores show that they were asked for.
        return grade / 4 if grade < 1 and "probs" in binding.model.split() else grade
    except KeyError as error:
        said.append(str(error.args[0]))
    except Fault as fault:
        if Ended.by(fault, worker):
            raise Ended(binding, fault, _called(role, binding)) from fault
        said.append(fault.placed)
        refused.append((binding, fault))
    return None


def _groups(role: Role, binding: Binding, loaded: Inventories) -> list[list[Binding]]:
    """Every way to call a candidate, in groups that stand for one meaning of its arguments."""
    # What is written by hand may say where parts of the answer are; the answer is the whole result then.
    binding = replace(binding, returns={role.returns[0].name: Source(), **binding.returns})
    groups = role.spellings(binding) if role.spellings is not None else ((binding,),)
    return [[way for spelled in group for way in _ways(role, spelled, loaded)] for group in groups]


def _ways(role: Role, binding: Binding, loaded: Inventories) -> Iterator[Binding]:
    """Every way to hand a model to a callable; a binding by hand leaves open only what it does not say."""
    model = next((param.name for param in role.params if param.kind == "model"), None)
    if model is None:
        yield binding
        return
    patches: list[Mapping[str, str]] = [binding.patch]
    if not binding.takes(model):
        patches = list(_patches(binding, model, loaded))
    for patch in patches:
        for style in (binding.model,) if binding.model else role.styles or STYLES:
            yield replace(binding, patch=patch, model=style)


def _asked_by_functions(role: Role, binding: Binding, loaded: Inventories) -> list[list[Binding]]:
    """Every way to call a candidate whose model is data that functions of the submission's own answer by."""
    model = next((param.name for param in role.params if param.kind == "model"), "")
    if not binding.takes(model) or binding.patch:
        return []
    return [
        way
        for patch in _functions(binding, model, loaded)
        for way in _groups(role, replace(binding, patch=patch), loaded)
    ]


def _patches(binding: Binding, model: str, loaded: Inventories) -> Iterator[Mapping[str, str]]:
    """Where a model may stand: classes that answer like one, such functions, then classes as a whole."""
    files = sorted(loaded, key=lambda file: file != binding.file)
    owner = binding.name.rpartition(".")[0]
    whole: list[Mapping[str, str]] = []
    for file in files:
        for cls in loaded[file].get("classes", ()):
            names = [m["name"] for m in cls["methods"] if _models(m["name"])]
            if names and cls["name"] != owner:
                yield {f"{file}:{cls['name']}.{name}": model for name in names}
                places = {file, binding.file}
                whole.append({f"{place}:{cls['name']}": f"{model}.class" for place in sorted(places)})
    yield from _functions(binding, model, loaded)
    yield from whole


def _functions(binding: Binding, model: str, loaded: Inventories) -> Iterator[Mapping[str, str]]:
    """Functions that answer like a model, in their own file and in that of the callable."""
    for file in sorted(loaded, key=lambda file: file != binding.file):
        for function in loaded[file].get("functions", ()):
            if _models(function["name"]) and function["name"] != binding.name:
                yield {f"{place}:{function['name']}": model for place in sorted({file, binding.file})}


def _models(name: str) -> bool:
    return bool(_MODELS.search(name.lower())) and not _NO_MODEL.search(name.lower())
