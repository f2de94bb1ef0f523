"""Layer normalisation: gradients by differences; what the analyses say, and what is measured."""

from __future__ import annotations

import ast
import contextlib
import hashlib
import itertools
from difflib import SequenceMatcher
from functools import cache
from unittest.mock import patch

import numpy as np
import numpy.typing as npt

from tools.claims.claim import Finding, whether
from tools.claims.error_metrics import by_maximum_norm
from tools.claims.figures import rounded
from tools.claims.layer_norm import ALL, FILES, LAYER_NORM, TASK, inputs, sources
from tools.claims.programs import program, quiet
from tools.claims.runs import Runs

__all__ = ["noise"]

#: Forwards after which counting ends.
TOO_MANY = 5_000
Array = npt.NDArray[np.float64]


@cache
def noise(step: float, seed: int) -> float:
    """How far central differences are off an exact dx, by maximum norm.

    Args:
        step: Of the differences.
        seed: Of the input.
    """
    layer = program("glm5", TASK, "layer_norm")
    x, gamma, beta, dy = inputs((4, 6, 16), seed)
    _, kept = layer.layer_norm_forward(x, gamma, beta)
    exact = layer.layer_norm_backward(dy, kept)[0]
    return by_maximum_norm(layer.numerical_gradients(x, gamma, beta, dy, h=step)[0], exact)


def _own_errors(model: str, metric: str) -> Finding:
    """What a program's own gradient check prints, beside what was published."""
    published = {"glm5": (9.74e-11, 5.13e-11, 4.69e-11), "qwen36": (5.04e-11, 1.75e-11, 1.46e-11)}[model]
    with quiet() as output:
        program(model, TASK, FILES[model]).gradient_check()
    words = output.getvalue().split()
    marks = "rel" if model == "glm5" else "error:"
    found = [float(words[i + 1 + (words[i + 1] == "=")]) for i, word in enumerate(words) if word == marks]
    near = all(0.1 < a / b < 10 for a, b in zip(found, published, strict=True))
    return whether(near, f"its own check gives {', '.join(rounded(f) for f in found)} ({metric})")


@LAYER_NORM.claim(
    "C002", "GLM-5", "difference errors 9.7e-11, 5.1e-11, 4.7e-11, within an order of magnitude"
)
def _(runs: Runs) -> Finding:
    return _own_errors("glm5", "largest difference over largest entry, step 1e-5")


@LAYER_NORM.claim(
    "C003", "Qwen3-6", "difference errors 5.0e-11, 1.8e-11, 1.5e-11, within an order of magnitude"
)
def _(runs: Runs) -> Finding:
    return _own_errors("qwen36", "2-norm, step 1e-5")


@LAYER_NORM.claim("C004", "MiniMax", "gradient check on three shapes, benchmark on four")
def _(runs: Runs) -> Finding:
    layer = program("minimax-m2.7", TASK, FILES["minimax-m2.7"])
    result = dict.fromkeys(("forward_ms", "backward_ms", "forward_melem_per_s", "backward_melem_per_s"), 1.0)
    with (
        patch.object(layer, "gradient_check", return_value=True) as checked,
        patch.object(layer, "benchmark_shape", return_value=result) as timed,
        quiet(),
    ):
        layer.run_gradient_checks()
        layer.run_benchmark()
    three, four = checked.call_count, timed.call_count
    return whether((three, four) == (3, 4), f"{three} shapes checked, {four} timed")


@LAYER_NORM.claim(
    "C019", "all", "differences element by element are out of reach at D = 1024", "gradient_cost"
)
def _(runs: Runs) -> Finding:
    calls = []
    for model in ALL:
        evidence = runs.evidence(TASK, model, "gradient_cost", "extrapolated")
        calls += [int(e.note.split(" ")[0].replace(",", "")) for e in evidence]
    single, coloured = max(calls), min(calls)
    found = (
        f"{single:,} forwards one by one, {coloured:,} when one feature of all rows is perturbed at once: "
        f"{single // coloured} times fewer"
    )
    return whether(single / coloured > 50, found)


class _TooManyError(Exception):
    pass


def _forwards(model: str, elements: int) -> int:
    """Forwards that a model's own differences over x ask for, counted up to a limit."""
    layer = program(model, TASK, FILES[model])
    counted = 0

    def count(*_args: object, **_options: object) -> tuple[Array, None]:
        nonlocal counted
        counted += 1
        if counted > TOO_MANY:
            raise _TooManyError
        return np.zeros(1), None

    x, gamma, beta, dy = np.zeros((1, 1, elements)), np.ones(elements), np.zeros(elements), np.zeros(1)
    with patch.object(layer, "layer_norm_forward", count), contextlib.suppress(_TooManyError):
        if model == "minimax-m2.7":
            layer.compute_numerical_gradient_x(x, gamma, beta, dy, verbose=False)
        elif model == "glm5":
            layer.numerical_gradients(x, gamma, beta, dy)
        else:
            layer.numerical_gradient(lambda: float(count()[0][0]), x)
    return counted


@LAYER_NORM.claim("C020", "all", "only MiniMax samples above 100,000 elements")
def _(runs: Runs) -> Finding:
    asked = {model: _forwards(model, 100_001) for model in ALL}
    below = _forwards("minimax-m2.7", 2_000)
    holds = asked["minimax-m2.7"] < TOO_MANY and all(asked[m] > TOO_MANY for m in ALL[:2]) and below == 4_000
    found = f"forwards for 100,001 elements: MiniMax {asked['minimax-m2.7']:,}, the others two for each"
    return whether(holds, found)


@LAYER_NORM.claim("C021", "GLM-5", "the gradient check works on copies")
def _(runs: Runs) -> Finding:
    layer = program("glm5", TASK, "layer_norm")
    given = inputs((2, 2, 4), 0)
    digests = [hashlib.sha256(a.tobytes()).digest() for a in given]
    seen: set[bool] = set()
    real = layer.layer_norm_forward

    def spy(x: Array, *args: Array, **options: object) -> object:
        seen.add(np.shares_memory(x, given[0]))
        return real(x, *args, **options)

    with patch.object(layer, "layer_norm_forward", spy):
        layer.numerical_gradients(*given)
    same = digests == [hashlib.sha256(a.tobytes()).digest() for a in given]
    return whether(same and seen == {False}, "inputs unchanged, and never handed to a forward themselves")


def _shape(node: ast.AST) -> list[str]:
    """Kinds of the nodes of a syntax tree, names aside."""
    return [type(child).__name__ for child in ast.walk(node)]


@LAYER_NORM.claim("C025", "MiniMax", "three functions for numerical gradients are nearly alike")
def _(runs: Runs) -> Finding:
    tree = ast.parse(sources("minimax-m2.7")[0].read_text())
    alike = [_shape(n) for n in tree.body if getattr(n, "name", "").startswith("compute_numerical_gradient")]
    ratios = [SequenceMatcher(None, a, b).ratio() for a, b in itertools.combinations(alike, 2)]
    return whether(
        len(alike) == 3 and min(ratios) > 0.9, f"{len(alike)} functions, syntax trees {min(ratios):.0%} alike"
    )
