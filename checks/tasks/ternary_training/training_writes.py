"""What a submission's own training writes over the latent weights, held by calling what it writes.

A layer by itself shows nothing of a training loop that projects the weights which it has just updated. The
source says where that is; calling the function or the method that stands there, whether it leaves levels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from judge_tui.checks.bench import Bench
from judge_tui.checks.binding.candidates import Routine, callables
from judge_tui.checks.binding.signatures import arguments
from judge_tui.checks.calling.binding import Binding, parse_path
from judge_tui.checks.calling.calls import invoke
from judge_tui.checks.check import Findings
from judge_tui.checks.contract import Param, Role
from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.ternary_training.draws import mixed
from judge_tui.checks.tasks.ternary_training.grouping import groupings
from judge_tui.checks.tasks.ternary_training.held import Held, instance
from judge_tui.checks.tasks.ternary_training.overwriting import Overwrite, called_with_updates, overwrites
from judge_tui.checks.tasks.ternary_training.roles import BACKWARD, FORWARD, GROUP
from judge_tui.checks.tasks.ternary_training.updating import Array, Untried, Updating
from judge_tui.checks.tasks.ternary_training.written_back import ADDED_UP, ADDING_UP, LOST, are_levels

__all__ = ["hold_training"]

#: Seconds for one call of what rewrites a small matrix.
_SECONDS = 5.0
_WEIGHT = next(param for param in FORWARD.params if param.name == "weight")
_GRADIENT = next(item for item in BACKWARD.returns if item.name == "dweight")
#: A function that makes new weights of old ones, by a gradient or by nothing else.
_REWRITES = Role(
    "rewrite",
    (
        Param("weight", aliases=(*_WEIGHT.aliases, "x", "p", "param", "t", "tensor", "m", "a")),
        Param("change", aliases=("grad", "g", "gradient", "dweight", *_GRADIENT.aliases), required=False),
        Param("lr", "float", aliases=("learning_rate", "eta", "rate", "step_size"), required=False),
        Param(
            "group_size", "int", aliases=("group", "gs", "g_size", "block", "block_size"),
            required=False, spare=True,
        ),
    ),
    (), (), (),
)  # fmt: skip


def hold_training(bench: Bench, found: Findings, transposed: bool, updating: Updating | None = None) -> None:
    """Hold what training writes over the weights that it updates, as far as calling it shows levels.

    Args:
        bench: Where the submission is loaded.
        found: What is found.
        transposed: Whether it stores (in, out).
        updating: Brings its layer through an update, where there is one that holds its weights.
    """
    if any(item.quantity == ADDED_UP and item.ok is False for item in found.evidence):
        return
    for told, file, line in (*_written(bench, transposed, updating), *_called(bench, updating)):
        found.claim(
            ADDED_UP, False, measured=f"training {told}, {LOST} ({file}:{line})", limit=ADDING_UP,
            file=file, line=line,
        )  # fmt: skip
        return


def _written(bench: Bench, transposed: bool, updating: Updating | None) -> Iterator[tuple[str, str, int]]:
    """What is written over weights that are updated: how, in words, and where."""
    held = _held(updating) if updating is not None else set()
    for over in overwrites(bench):
        other = over.attribute and held and over.attribute not in held
        if not other and _leaves_levels(bench, over, transposed, updating):
            yield (
                f"writes levels, {over.function}(…), over {over.target}, which it updates",
                over.file,
                over.line,
            )


def _held(updating: Updating) -> set[str]:
    """Attributes that hold the latent weights of a new layer."""
    try:
        _run, paths = updating.begun("written")
    except (Untried, Fault):
        return set()
    return {str(path[-1][1]) for path in paths if path and path[-1][0] == "a"}


def _leaves_levels(bench: Bench, over: Overwrite, transposed: bool, updating: Updating | None) -> bool:
    """Whether what is written is levels, as a function or a method makes them of weights that are none."""
    for routine in callables(bench.bindings.loaded):
        if routine.name.rpartition(".")[2] != over.function:
            continue
        called = arguments(routine.params, _REWRITES)
        if called is None:
            continue
        binding = Binding("rewrite", routine.file, routine.name, called[0], {}, line=routine.line)
        if routine.owner is not None:
            binding = replace(binding, on="layer")
        if _gives_levels(bench, binding, routine, transposed, updating):
            return True
    return False


def _gives_levels(
    bench: Bench, binding: Binding, routine: Routine, transposed: bool, updating: Updating | None
) -> bool:
    weight, change = (mixed(bench.rng("rewritten", k), (2 * GROUP, 2 * GROUP)) for k in range(2))
    inputs = {"weight": weight, "change": 1e-3 * change, "lr": 1.0, "group_size": GROUP}
    try:
        if routine.owner is not None:
            if updating is None or not updating.layer.binding.name.startswith(f"{routine.owner['name']}."):
                return False
            inputs["layer"] = instance(updating.begun("rewritten")[0])
    except (Untried, Fault):
        return False
    for path in ("", "[0]"):
        returned = replace(binding, returns={"weight": parse_path(path)})
        try:
            given = invoke(bench.worker, returned, inputs, budget=min(_SECONDS, bench.left))
            made = given.array("weight", weight.shape)
        except Fault:
            continue
        return _levels(made.T if transposed else made, transposed)
    return False


def _levels(weight: Array, transposed: bool) -> bool:
    return any(are_levels(weight, grouping, transposed) for grouping in groupings(transposed, GROUP))


def _called(bench: Bench, updating: Updating | None) -> Iterator[tuple[str, str, int]]:
    """Methods of the layer that training calls with its updates, and that leave levels for latent weights."""
    if updating is None:
        return
    owner = updating.layer.binding.name.rpartition(".")[0]
    own = {
        item.name.rpartition(".")[2]
        for item in callables(bench.bindings.loaded)
        if item.owner is not None and item.owner["name"] == owner and all("default" in p for p in item.params)
    }
    tried: set[str] = set()
    for method, file, line in called_with_updates(bench, _held(updating)):
        if method not in own or method in tried:
            continue
        tried.add(method)
        if _method_leaves_levels(updating, method):
            yield f"calls {method}() with its updates, which writes levels over them", file, line


def _method_leaves_levels(updating: Updating, method: str) -> bool:
    try:
        run, paths = updating.begun(f"rewritten by {method}")
        budget = min(_SECONDS, updating.bench.left)
        run.returned.worker.call(instance(run), method=method, budget=budget)
        now = Held(updating.layer).changed(run, paths, run.weight)
    except (Untried, Fault):
        return False
    return bool(now) and all(_levels(each, updating.layer.transposed) for each in now)
