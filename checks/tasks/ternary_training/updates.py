"""Finding how a layer's weights are updated: methods of its class, and functions that take the layer."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.binding.candidates import Routine, callables
from judge_tui.checks.binding.signatures import arguments
from judge_tui.checks.calling.binding import Argument, Binding, parse_path
from judge_tui.checks.calling.calls import invoke
from judge_tui.checks.calling.remote import Context, Handle, Steps, Worker
from judge_tui.checks.contract import Param, Role
from judge_tui.checks.faults import BadResult
from judge_tui.checks.tasks.ternary_training.outside import Outside, Write
from judge_tui.checks.tasks.ternary_training.roles import BACKWARD, FORWARD

__all__ = [
    "Change",
    "Update",
    "Written",
    "apply",
    "handed",
    "is_change",
    "is_rate",
    "is_update",
    "needs_no_gradients",
    "refreshing",
    "updates",
    "written",
]

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

_LAYER = Param("layer", "handle", aliases=("module", "lin", "linear", "self", "obj"))
_RATE = Param("lr", "float", aliases=(
    "learning_rate", "eta", "step_size", "rate", "alpha", "lrate", "learn_rate", "lr_t", "stepsize",
))  # fmt: skip
#: What an optimiser is told besides; only where it has no default of its own.
_SETTINGS = {
    Param("t", "int", aliases=("step", "iteration", "it", "n", "i"), spare=True): 1,
    Param("momentum", "float", aliases=("mu", "beta", "b1", "beta1", "rho"), spare=True): 0.9,
    Param("b2", "float", aliases=("beta2",), spare=True): 0.999,
    Param("betas", "data", spare=True): (0.9, 0.999),
    Param("eps", "float", aliases=("epsilon",), spare=True): 1e-8,
    Param("weight_decay", "float", aliases=("wd", "decay", "l2"), spare=True): 0.0,
    Param("clip", "float", aliases=("max_norm", "clip_norm", "grad_clip"), spare=True): 1e9,
}
_GIVEN = {item.name: item.aliases for item in BACKWARD.returns}
_TAKEN = {item.name: item.aliases for item in FORWARD.params}
_WEIGHT = next(param for param in FORWARD.params if param.name == "weight")
_WEIGHT_CHANGE = Param("weight", aliases=(
    *_GIVEN["dweight"], "delta_w", "delta_weight", "delta_weights", "w_delta", "weight_delta", "delta",
    "update", "w_update", "weight_update", "update_w", "grad", "g", "gradient", "upd", "change", "w_change",
    "step_w", "dweight", "new_w", "new_weight", "new_weights", "direction", *_TAKEN["weight"],
))  # fmt: skip
_BIAS_CHANGE = Param("bias", aliases=(
    *_GIVEN["dbias"], "delta_b", "delta_bias", "b_delta", "bias_delta", "b_update", "bias_update", "update_b",
    "b_change", "step_b", "dbias", "new_b", "new_bias", *_TAKEN["bias"],
))  # fmt: skip
_CHANGES = Param("grads", aliases=("gradients", "deltas", "updates", "changes", "gs", "d_params", "dparams"))
#: Ways in which gradients that are one parameter may be meant.
_FORMS = ("by_name", "as_given", "pair", "array")
_ROLE = Role(
    "update",
    tuple(
        replace(param, required=False)
        for param in (_LAYER, _RATE, _CHANGES, _BIAS_CHANGE, _WEIGHT_CHANGE, *_SETTINGS)
    ),
    (),
    (_UPDATES.pattern,),
    (_OTHERWISE.pattern,),
    strict=True,
)


def is_rate(name: str) -> bool:
    """Whether an attribute is a learning rate."""
    return _RATE.means(name)


def is_change(name: str) -> bool:
    """Whether a name is that of a gradient of weights, or of what they are changed by."""
    return any(_WEIGHT_CHANGE.means(each) for each in (name, name.lstrip("_"))) and not _WEIGHT.means(name)


def is_update(name: str) -> bool:
    """Whether a callable's last name says that it updates weights."""
    plain = _words(name)
    return bool(_UPDATES.search(plain)) and not _OTHERWISE.search(plain)


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
class Written:
    """An assignment to the latent weights that stands outside the layer's class: ``layer.W -= …``.

    Attributes:
        file: Where it stands.
        name: The attribute's.
        line: 1-based.
        in_place: Whether the array itself changes, and is not replaced.
    """

    file: str
    name: str
    line: int
    in_place: bool

    @property
    def target(self) -> str:
        """How it is written, roughly."""
        return f"{self.file}: .{self.name} {'-=' if self.in_place else '='} …"

    def apply(self, worker: Worker, layer: Handle, change: Change) -> None:
        """Write to a layer.

        Raises:
            Fault: A setter raised, or the layer holds its latent weights elsewhere.
        """
        path = next((path for path in change.paths if path[-1] == ("a", self.name)), None)
        if path is None:
            raise BadResult(f"holds its latent weights elsewhere than in .{self.name}")
        array = layer.part(*path)
        if self.in_place:
            worker.fill(array, change.weight)
        worker.set(layer.part(*path[:-1]), self.name, array if self.in_place else worker.put(change.weight))


#: A way to have a layer update its weights.
Update = Binding | Written


def needs_no_gradients(update: Update) -> bool:
    """Whether it is handed the change, and needs no gradients on the layer."""
    return isinstance(update, Written) or any(update.takes(name) for name in (_WEIGHT_CHANGE.name, *_FORMS))


def apply(worker: Worker, update: Update, layer: Handle, change: Change, *, budget: float) -> None:
    """Have a layer update its weights.

    Args:
        worker: Where the submission is.
        update: How.
        layer: The layer.
        change: What it is handed.
        budget: Seconds.

    Raises:
        Fault: It raised, hung or ended the process, or a setter did.
    """
    if isinstance(update, Written):
        update.apply(worker, layer, change)
        return
    inputs = {
        "layer": layer, "lr": 1.0, "weight": change.weight, "array": change.weight, "bias": change.bias,
        "pair": (change.weight, change.bias), "by_name": Context(change.named),
        "as_given": Context(change.given), **{param.name: value for param, value in _SETTINGS.items()},
    }  # fmt: skip
    invoke(worker, update, inputs, budget=budget)


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
            yield (Written(write.file, name, write.line, write.in_place),)


def handed(seen: Outside, held: Collection[str]) -> Iterator[tuple[Written, ...]]:
    """What is done to all that an optimiser is handed, done to what the layer holds its latent weights in.

    Args:
        seen: What is done outside the layer's class.
        held: Attributes that its latent weights were found in.
    """
    for write in filter(None, (seen.named, seen.looped)):
        for name in sorted(held):
            yield (Written(write.file, name, write.line, write.in_place),)


def updates(bench: Bench, file: str, owner: str) -> Iterator[tuple[Binding, ...]]:
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
            base = Binding("update", routine.file, routine.name, (), {}, line=routine.line)
            if item.owner is not None:
                base = replace(base, on=_LAYER.name)
            if ways := tuple(replace(base, args=args) for args in _ways(item.params)):
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


def _ways(params: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Argument, ...]]:
    """What the parameters are handed: everything that has a meaning, then what is required alone."""
    several = any(_CHANGES.means(param["name"]) for param in params)
    needed = tuple(
        replace(param, spare=param.name not in (_LAYER.name, _RATE.name)) for param in _ROLE.params
    )
    made = dict.fromkeys(
        tuple(argument.handed({_CHANGES.name: form}) for argument in called[0])
        for form in (_FORMS if several else _FORMS[:1])
        for role in (_ROLE, replace(_ROLE, params=needed))
        if (called := arguments(params, role)) is not None
    )
    yield from made
