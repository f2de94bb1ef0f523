"""Finding how a layer's weights are updated: methods of its class, and functions that take the layer."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.binding.candidates import Routine, callables
from judge_tui.checks.calling.binding import Binding, parse_path
from judge_tui.checks.calling.remote import Context, Handle, Steps, Target, Worker
from judge_tui.checks.contract import Param
from judge_tui.checks.faults import BadResult
from judge_tui.checks.tasks.ternary_training.outside import Write
from judge_tui.checks.tasks.ternary_training.roles import BACKWARD, FORWARD

__all__ = ["Change", "Update", "Written", "is_rate", "refreshing", "updates", "written"]

Array = npt.NDArray[Any]

_UPDATES = re.compile(
    r"(?<![a-z])(updated?|step|sgd|adamw?|momentum|descen[dt]|optimi[sz]e|learn|adjust|nudge|train_step|"
    r"(apply|add|take)_(grads?|gradients?|deltas?|changes?))(?![a-z])"
)
#: Names of what changes something else than the latent weights.
_OTHERWISE = re.compile(
    r"(?<![a-z])(scales?|codes?|quant\w*|proj\w*|pack\w*|stat\w*|ema|caches?|logs?|lr|rate|sched\w*|bias|count|"
    r"tests?|check|numerical|zero|loss|eval\w*)(?![a-z])"
)
_REFRESHES = re.compile(
    r"(?<![a-z])(re)?(fresh|sync|project|quanti[sz]e|ternari[sz]e|pack|build|compute|cache|calibrate|code|scale|"
    r"invalidate|dirty|clear|reset|zero)(?![a-z])"
)

_LAYER = Param("layer", aliases=("module", "lin", "linear", "self", "obj"))
_RATE = Param("lr", aliases=(
    "learning_rate", "eta", "step_size", "rate", "alpha", "lrate", "learn_rate", "lr_t", "stepsize",
))  # fmt: skip
#: What an optimiser is told besides; only where it has no default of its own.
_SETTINGS = (
    (Param("t", aliases=("step", "iteration", "it", "n", "i")), 1),
    (Param("momentum", aliases=("mu", "beta", "b1", "beta1", "rho")), 0.9),
    (Param("b2", aliases=("beta2",)), 0.999),
    (Param("betas"), (0.9, 0.999)),
    (Param("eps", aliases=("epsilon",)), 1e-8),
    (Param("weight_decay", aliases=("wd", "decay", "l2")), 0.0),
    (Param("clip", aliases=("max_norm", "clip_norm", "grad_clip")), 1e9),
)
_GIVEN = {item.name: item.aliases for item in BACKWARD.returns}
_TAKEN = {item.name: item.aliases for item in FORWARD.params}
_WEIGHT_CHANGE = Param("dweight", aliases=(
    *_GIVEN["dweight"], "delta_w", "delta_weight", "delta_weights", "w_delta", "weight_delta", "delta",
    "update", "w_update", "weight_update", "update_w", "grad", "g", "gradient", "upd", "change", "w_change",
    "step_w", "new_w", "new_weight", "new_weights", "direction", "weight", *_TAKEN["weight"],
))  # fmt: skip
_BIAS_CHANGE = Param("dbias", aliases=(
    *_GIVEN["dbias"], "delta_b", "delta_bias", "b_delta", "bias_delta", "b_update", "bias_update", "update_b",
    "b_change", "step_b", "new_b", "new_bias", "bias", *_TAKEN["bias"],
))  # fmt: skip
_CHANGES = Param("grads", aliases=("gradients", "deltas", "updates", "changes", "gs", "d_params", "dparams"))
#: Ways in which gradients that are one parameter may be meant.
_FORMS = ("by name", "as given", "pair", "array")


def is_rate(name: str) -> bool:
    """Whether an attribute is a learning rate."""
    return _RATE.means(name)


@dataclass(frozen=True, slots=True)
class Change:
    """What an update is handed, in the submission's layout.

    Attributes:
        weight: For a gradient or a difference of the latent weights.
        bias: The same for the bias.
        named: Both, by the names that the layer has for its parameters.
        given: Both, by the names under which its backward gives them.
        paths: Where the layer holds its latent weights.
    """

    weight: Array
    bias: Array
    named: Mapping[str, Array]
    given: Mapping[str, Array]
    paths: Sequence[Steps]


@dataclass(frozen=True, slots=True)
class Update:
    """A way to have a layer update its weights.

    Attributes:
        routine: What is called.
        takes: Parameter, its kind in the signature, and what it is handed.
    """

    routine: Routine
    takes: tuple[tuple[str, str, Any], ...]

    @property
    def target(self) -> str:
        """``file.py:name``."""
        return f"{self.routine.file}:{self.routine.name}"

    @property
    def told(self) -> bool:
        """Whether it is handed the change, and needs no gradients on the layer."""
        return any(value in ("weight", *_FORMS) for _name, _kind, value in self.takes)

    def apply(self, worker: Worker, layer: Handle, change: Change, *, budget: float) -> None:
        """Call it on a layer.

        Raises:
            Fault: It raised, hung or ended the process.
        """
        meant: dict[str, Any] = {
            "weight": change.weight, "array": change.weight, "bias": change.bias,
            "pair": (change.weight, change.bias), "by name": Context(change.named), "layer": layer,
            "as given": Context(change.given),
        }  # fmt: skip
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        for name, kind, value in self.takes:
            given = meant[value] if isinstance(value, str) else value
            if kind == "POSITIONAL_ONLY":
                args.append(given)
            else:
                kwargs[name] = given
        if self.routine.owner is None:
            worker.call(Target(self.routine.file, self.routine.name), args, kwargs, budget=budget)
        else:
            method = self.routine.name.rpartition(".")[2]
            worker.call(layer, args, kwargs, method=method, budget=budget)


@dataclass(frozen=True, slots=True)
class Written:
    """An assignment to the latent weights that stands outside the layer's class: ``layer.W -= …``.

    Attributes:
        routine: Where it stands; its name is the attribute's.
        in_place: Whether the array itself changes, and is not replaced.
    """

    routine: Routine
    in_place: bool

    @property
    def target(self) -> str:
        """How it is written, roughly."""
        return f"{self.routine.file}: .{self.routine.name} {'-=' if self.in_place else '='} …"

    @property
    def told(self) -> bool:
        """It needs no gradients on the layer."""
        return True

    def apply(self, worker: Worker, layer: Handle, change: Change, *, budget: float) -> None:
        """Write to a layer; as :meth:`Update.apply`.

        Raises:
            Fault: A setter raised, or the layer holds its latent weights elsewhere.
        """
        path = next((path for path in change.paths if path[-1] == ("a", self.routine.name)), None)
        if path is None:
            raise BadResult(f"holds its latent weights elsewhere than in .{self.routine.name}")
        array = layer.part(*path)
        if self.in_place:
            worker.fill(array, change.weight)
        worker.set(
            layer.part(*path[:-1]), self.routine.name, array if self.in_place else worker.put(change.weight)
        )


def written(
    binding: Binding, stored: Mapping[str, Write | None], held: Collection[str] = ()
) -> Iterator[tuple[Written, ...]]:
    """Assignments to what the layer may hold its latent weights in.

    Args:
        binding: How the layer is called.
        stored: What is assigned to, by attribute.
        held: Attributes that its latent weights were found in.
    """
    told = {path for path, source in binding.attributes.items() if source in ("weight", "weight_t")}
    names = {*held, *(str(parse_path(f"self.{path}").steps[-1][1]) for path in told)}
    weight = next(param for param in FORWARD.params if param.name == "weight")
    for name, write in stored.items():
        if write is not None and (name in names or (not names and weight.means(name))):
            yield (Written(Routine(write.file, name, [], write.line), write.in_place),)


def updates(bench: Bench, file: str, owner: str) -> Iterator[tuple[Update, ...]]:
    """Every method or function whose name says that it updates a layer, with the ways to call it.

    Args:
        bench: Where the submission is loaded.
        file: File of the layer's class.
        owner: Its name.
    """
    used = {binding.target for binding in bench.bindings.found.values()}
    loaded = bench.bindings.loaded
    for item in callables(loaded):
        plain = _words(item.name.rpartition(".")[2])
        own = item.owner is not None and item.file == file and item.owner["name"] == owner
        taking = item.owner is None and any(_LAYER.means(param["name"]) for param in item.params)
        if not (own or taking) or f"{item.file}:{item.name}" in used:
            continue
        if _UPDATES.search(plain) and not _OTHERWISE.search(plain):
            routine = _at_home(item, loaded)
            if ways := tuple(Update(routine, takes) for takes in _ways(item.params)):
                yield ways


def refreshing(bench: Bench, file: str, owner: str) -> Iterator[str]:
    """Methods of the layer's class that may bring its projection up to date when they are called."""
    for item in callables(bench.bindings.loaded):
        method = item.name.rpartition(".")[2]
        own = item.owner is not None and item.file == file and item.owner["name"] == owner
        if own and _REFRESHES.search(_words(method)) and not any(_required(param) for param in item.params):
            yield method


def _words(name: str) -> str:
    """``applyUpdate`` as ``apply_update``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _required(param: Mapping[str, Any]) -> bool:
    return "default" not in param and param["kind"] not in ("VAR_POSITIONAL", "VAR_KEYWORD")


def _at_home(item: Routine, loaded: Mapping[str, Mapping[str, Any]]) -> Routine:
    """The same method in the file of the class that defines it: every class lists what it inherits."""
    if item.owner is None:
        return item
    bases, method = item.owner.get("bases", ()), item.name.rpartition(".")[2]
    home = item
    for base in bases:
        for other in callables(loaded):
            if other.owner is not None and other.name == f"{base}.{method}" and other.line == item.line:
                home = Routine(other.file, item.name, item.params, item.line, item.owner)
    return home


def _ways(params: Sequence[Mapping[str, Any]]) -> Iterator[tuple[tuple[str, str, Any], ...]]:
    """What the parameters are handed: everything that has a meaning, then what is required alone."""
    several = any(_CHANGES.means(param["name"]) for param in params)
    made: list[tuple[tuple[str, str, Any], ...]] = []
    for form in _FORMS if several else _FORMS[:1]:
        for whole in (True, False):
            takes = _handed(params, form, whole)
            if takes is not None and takes not in made:
                made.append(takes)
    yield from made


def _handed(
    params: Sequence[Mapping[str, Any]], form: str, whole: bool
) -> tuple[tuple[str, str, Any], ...] | None:
    takes: list[tuple[str, str, Any]] = []
    for param in params:
        if param["kind"] in ("VAR_POSITIONAL", "VAR_KEYWORD"):
            continue
        needed, value = _required(param), _meaning(param["name"], form)
        if value is None:
            value = next((given for known, given in _SETTINGS if known.means(param["name"])), None)
            whole_too = False
        else:
            whole_too = whole or value == 1.0
        if needed and value is None:
            return None
        if needed or whole_too:
            takes.append((param["name"], param["kind"], value))
    return tuple(takes)


def _meaning(name: str, form: str) -> Any:
    """What a parameter is handed, by its name; ``None`` where that does not tell."""
    if _LAYER.means(name):
        return "layer"
    if _RATE.means(name):
        return 1.0
    if _CHANGES.means(name):
        return form
    if _BIAS_CHANGE.means(name):
        return "bias"
    return "weight" if _WEIGHT_CHANGE.means(name) else None
