"""Finding the layer: by names that say ternary first, and in every layout of a linear layer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from judge_tui.checks.binding import binder
from judge_tui.checks.binding.inventories import Casualties
from judge_tui.checks.binding.solver import Search
from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.calling.calls import invoke
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.contract import Contract, Param, Return, Role
from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.ternary_training import roles

__all__ = ["NOT_ITS_WEIGHTS", "claims_ternary", "find"]

#: What a name says that stands for more than a plain product.
_WORDS = r"tern|trit|bit|b1_?58|quant|ste(?![a-z])|straight|qat|q_?linear|q_?layer"
#: Any name without such a word.
_PLAIN_NAMES = rf"^(?!.*(?:{_WORDS}))"
_TRANSPOSED = {"weight": "weight_t", "dweight": "dweight_t"}
_DEEP = {"x": "x3", "dy": "dy3", "y": "y3", "dx": "dx3"}
_COLUMNS = {"x": "x_c", "dy": "dy_c", "y": "y_c", "dx": "dx_c"}
_FORMS: tuple[Mapping[str, str], ...] = ({}, _DEEP, _COLUMNS, {**_COLUMNS, "bias": "bias_c"})
_LAYER = ("forward", "backward")
#: Correlation of two answers to one input, below which they are not about the same weights.
_ALIKE = 0.5
NOT_ITS_WEIGHTS = "answers with weights that are not those which were set on it"


def find(search: Search) -> None:
    """Bind what is not written by hand; see :class:`judge_tui.checks.contract.Contract`.

    Raises:
        Fault: A probe ended the process.
    """
    worker, bound, rejected = search.worker, search.bound, search.rejected
    sample = roles.sample(np.random.default_rng(0))
    names = (roles.PROJECT.name, *_LAYER)
    # What could not be imported is known already, and not tried again for every layout.
    unread = {file: Fault("") for file in worker.submission.files if file not in search.loaded}
    casualties = Casualties(files=unread, calls=dict.fromkeys(names, search.fatal))

    def searched(*wanted: Role) -> binder.Bindings:
        made = binder.bind(worker, Contract(wanted, lambda _rng: sample), sample, casualties)
        for notes in made.rejected.values():
            notes[:] = [note for note in notes if note.removesuffix(" ") not in unread]
        return made

    if roles.PROJECT.name not in bound:
        alone = searched(roles.PROJECT)
        search.broken.update(alone.broken)
        _take(alone, bound, rejected)
    if all(name in bound for name in _LAYER):
        return
    best: binder.Bindings | None = None
    first: binder.Bindings | None = None
    for variant in _variants((roles.FORWARD, roles.BACKWARD)):
        these = searched(*variant)
        first = first or these
        if "forward" in these and not _follows(worker, these["forward"], sample.inputs):
            # who keeps views of its weights sees what is written into them
            filled = replace(these["forward"], in_place=True)
            if _follows(worker, filled, sample.inputs):
                these.found["forward"] = filled
                best = these if best is None or _worth(these) > _worth(best) else best
                continue
            these.rejected["forward"].append(f"{these['forward'].target} {NOT_ITS_WEIGHTS}")
            these.found.clear()
        if best is None or _worth(these) > _worth(best):
            best = these
        if "forward" in these and "backward" in these:
            break
    assert best is not None
    assert first is not None
    _take(best, bound, rejected)
    for name in _LAYER:
        if name not in bound:
            known = rejected.setdefault(name, [])
            known += [note for note in first.rejected.get(name, ()) if note not in known]


def _follows(worker: Worker, binding: Binding, inputs: Mapping[str, Any]) -> bool:
    """Whether a layer's answers are about the latent weights that were set on it, and not about others.

    One that projects when it is made, or after a step, keeps what it made of its own first weights.
    """
    if not set(binding.attributes.values()) & {"weight", "weight_t"}:
        return True
    # A bias would be the same in every answer.
    inputs = {**inputs, **{name: 0.0 * inputs[name] for name in ("bias", "bias_c")}}
    other = {name: -2.0 * inputs[name] for name in ("weight", "weight_t")}
    try:
        first, again, second = (
            np.asarray(_answer(worker, binding, {**inputs, **changed})) for changed in ({}, {}, other)
        )
    except Fault:
        return worker.alive
    if not first.any():
        return True
    # Stochastic rounding makes two answers differ, and still leaves them alike.
    alike = float(np.corrcoef(first.ravel(), again.ravel())[0, 1])
    return not alike <= _ALIKE and not np.array_equal(first, second)


def _answer(worker: Worker, binding: Binding, inputs: Mapping[str, Any]) -> Any:
    returned = invoke(worker, binding, inputs)
    shapes = roles.shapes_of(len(inputs["x"]), *inputs["weight"].shape)
    name = next(name for name in ("y", "y3", "y_c") if returned.has(name))
    return returned.array(name, shapes[name])


def claims_ternary(name: str) -> bool:
    """Whether a callable's qualified name says that it projects, and not that it is any linear layer."""
    return re.search(_WORDS, name.lower()) is not None


def _worth(bindings: binder.Bindings) -> int:
    return 2 * ("forward" in bindings) + ("backward" in bindings)


def _take(bindings: binder.Bindings, bound: dict[str, Binding], rejected: dict[str, list[str]]) -> None:
    for name, binding in bindings.found.items():
        bound.setdefault(name, binding)
    for name, notes in bindings.rejected.items():
        known = rejected.setdefault(name, [])
        known += [note for note in notes if note not in known]


def _variants(wanted: tuple[Role, ...]) -> Iterator[tuple[Role, ...]]:
    """The layer's roles under names that say ternary, then under any, in every layout."""
    for plain in (False, True):
        for form in _FORMS:
            for transposed in (False, True):
                names = {**form, **(_TRANSPOSED if transposed else {})}
                yield tuple(_renamed(role, names, plain) for role in wanted)


def _renamed(role: Role, names: Mapping[str, str], plain: bool) -> Role:
    params: tuple[Param, ...] = tuple(_known_as(item, names) for item in role.params)
    returns: tuple[Return, ...] = tuple(_known_as(item, names) for item in role.returns)
    avoid = role.avoid if plain or role.name == "backward" else (*role.avoid, _PLAIN_NAMES)
    return replace(role, params=params, returns=returns, avoid=avoid)


def _known_as(item: Any, names: Mapping[str, str]) -> Any:
    """The same parameter or answer under the name of its layout; the contract's name becomes a spelling."""
    if item.name not in names:
        return item
    return replace(item, name=names[item.name], aliases=(item.name, *item.aliases))
