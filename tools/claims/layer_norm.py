"""Layer normalisation, backward: what the analyses say, and what is measured."""

from __future__ import annotations

import ast
import hashlib
import itertools
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path

import numpy as np

from tools.claims.claim import PARTLY, Finding, Section, whether
from tools.claims.figures import each, rounded, under
from tools.claims.programs import folder, lines, program, quiet
from tools.claims.runs import Runs

__all__ = ["ALL", "LAYER_NORM", "TASK", "entries", "noise", "variances"]

TASK = "backwards"
ALL = ("glm5", "qwen36", "minimax-m2.7")
FILES = {"glm5": "layer_norm", "qwen36": "layer_norm_backward", "minimax-m2.7": "layer_norm_numpy"}
LAYER_NORM = Section("backwards", "Layer normalisation, backward")
TOO_MANY = 5_000


def _inputs(shape: tuple[int, int, int], seed: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    wide = shape[-1]
    return (
        rng.standard_normal(shape),
        rng.uniform(0.5, 1.5, wide),
        rng.standard_normal(wide),
        rng.standard_normal(shape),
    )


def entries(runs: Runs, model: str) -> list[tuple[str, ...]]:
    table = runs.evidence(TASK, model, "cache_minimality", "entries of the cache")[0].table
    return list(table[1:])


@cache
def noise(step: float, seed: int) -> float:
    """Largest difference of an exact dx from central differences, over the largest |dx|."""
    layer = program("glm5", TASK, "layer_norm")
    x, gamma, beta, dy = _inputs((4, 6, 16), seed)
    _, kept = layer.layer_norm_forward(x, gamma, beta)
    exact = layer.layer_norm_backward(dy, kept)[0]
    return float(
        np.max(np.abs(exact - layer.numerical_gradients(x, gamma, beta, dy, h=step)[0]))
        / np.max(np.abs(exact))
    )


@LAYER_NORM.claim("C001", "all", "dx, dgamma and dbeta are right", "gradients")
def _(runs: Runs) -> Finding:
    worst = [
        f for m in ALL for f in runs.figures(TASK, m, "gradients", "against the analytic gradient, float64")
    ]
    return whether(runs.passes(TASK, ALL, "gradients"), f"relative error per row {under(worst)}")


def _own_errors(model: str, metric: str) -> Finding:
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
    shapes: dict[str, list[object]] = {"gradient_check": [], "benchmark_shape": []}
    kept = {name: getattr(layer, name) for name in shapes}
    result = dict.fromkeys(("forward_ms", "backward_ms", "forward_melem_per_s", "backward_melem_per_s"), 1.0)
    try:
        layer.gradient_check = lambda *shape: shapes["gradient_check"].append(shape) or True
        layer.benchmark_shape = lambda *shape: shapes["benchmark_shape"].append(shape) or result
        with quiet():
            layer.run_gradient_checks()
            layer.run_benchmark()
    finally:
        for name, function in kept.items():
            setattr(layer, name, function)
    three, four = (len(asked) for asked in shapes.values())
    return whether((three, four) == (3, 4), f"{three} shapes checked, {four} timed")


@LAYER_NORM.claim("C005", "GLM-5", "the cache is x̂, rstd and gamma, no more", "cache_minimality")
def _(runs: Runs) -> Finding:
    names = [row[0] for row in entries(runs, "glm5")]
    return whether(
        len(names) == 3 and runs.verdict(TASK, "glm5", "cache_minimality") == "pass",
        f"{', '.join(names)}: " + runs.said(TASK, "glm5", "cache_minimality", r"; (.*bytes)"),
    )


@LAYER_NORM.claim("C006", "Qwen3-6", "the cache is x̂, 1/std, gamma and D, all needed", "cache_minimality")
def _(runs: Runs) -> Finding:
    derivable = runs.said(TASK, "qwen36", "cache_minimality", r"derivable: (.*)")
    found = f"{len(entries(runs, 'qwen36'))} entries, all used; {derivable} follows from a shape"
    return Finding(found, PARTLY if derivable == "D" else "yes")


@LAYER_NORM.claim("C007", "MiniMax", "12 entries, 9 of them redundant", "cache_minimality")
def _(runs: Runs) -> Finding:
    unused = runs.said(TASK, "minimax-m2.7", "cache_minimality", r"(\d+) never used")
    found = len(entries(runs, "minimax-m2.7"))
    return whether((found, unused) == (12, "9"), f"{found} entries, {unused} never used by its backward")


@LAYER_NORM.claim("C008", "MiniMax", "x is stored and backward never reads it", "cache_minimality")
def _(runs: Runs) -> Finding:
    unused = runs.said(TASK, "minimax-m2.7", "cache_minimality", r"never used: ([^;]*)").split(", ")
    return whether("x" in unused, "never used: " + ", ".join(unused))


@LAYER_NORM.claim("C009", "MiniMax", "the cache is four times too large", "cache_minimality, experiment")
def _(runs: Runs) -> Finding:
    shape = (32, 128, 1024)
    x, gamma, beta, _ = _inputs(shape, 0)
    _, kept = program("minimax-m2.7", TASK, FILES["minimax-m2.7"]).layer_norm_forward(x, gamma, beta)
    values = kept.values() if isinstance(kept, dict) else kept
    total = sum(v.nbytes for v in values if isinstance(v, np.ndarray))
    least = (x.size + x.shape[0] * x.shape[1] + gamma.size) * x.itemsize
    by_count = len(entries(runs, "minimax-m2.7")) / 3
    holds = abs(by_count - 4) < 0.1
    found = f"{by_count:.1f} times by count, {total / least:.1f} times by bytes at {shape}"
    return Finding(found, PARTLY if holds and total / least < 3.5 else "yes")


@LAYER_NORM.claim("C010", "Qwen3-6", "a step-by-step chain rule agrees to 1e-10")
def _(runs: Runs) -> Finding:
    layer = program("qwen36", TASK, FILES["qwen36"])
    worst = 0.0
    for seed in range(20):
        x, gamma, beta, dy = layer.make_inputs(4, 8, 32, seed)
        compact = layer.layer_norm_backward(dy, layer.layer_norm_forward(x, gamma, beta)[1])
        stepwise = layer.chain_rule_gradients(dy, x, gamma)
        worst = max(worst, *(float(np.max(np.abs(a - b))) for a, b in zip(compact, stepwise, strict=True)))
    return whether(worst < 1e-10, f"largest difference {under([worst])} over 20 seeds")


def _case(runs: Runs, check: str, words: str) -> Finding:
    worst = runs.figures(TASK, "qwen36", check, words)
    return whether(runs.verdict(TASK, "qwen36", check) == "pass", f"finite, error {under(worst)}")


@LAYER_NORM.claim("C011", "Qwen3-6", "zero input survives", "degenerate")
def _(runs: Runs) -> Finding:
    return _case(runs, "degenerate", "zeros")


@LAYER_NORM.claim("C012", "Qwen3-6", "D = 1 survives", "degenerate")
def _(runs: Runs) -> Finding:
    return _case(runs, "degenerate", "D = 1")


@LAYER_NORM.claim("C013", "Qwen3-6", "a large mean with a tiny variance survives", "cancellation")
def _(runs: Runs) -> Finding:
    points = runs.evidence(TASK, "qwen36", "cancellation", "y, relative error")[0].curve
    assert points is not None
    offset, error = points.points[-1]
    found = f"y {under([error or 0.0])} at offset {offset:.0e}, as two-pass code has it"
    return whether(runs.verdict(TASK, "qwen36", "cancellation") == "pass", found)


@LAYER_NORM.claim("C014", "Qwen3-6", "(2, 128, 1024) works", "gradient_cost")
def _(runs: Runs) -> Finding:
    worst = runs.figures(TASK, "qwen36", "gradient_cost", "dx, relative error")
    return whether(
        runs.verdict(TASK, "qwen36", "gradient_cost") == "pass", f"dx {under(worst)} off differences"
    )


@LAYER_NORM.claim("C015", "Qwen3-6", "gradient norms stay bounded")
def _(runs: Runs) -> Finding:
    layer = program("qwen36", TASK, FILES["qwen36"])
    largest = 0.0
    for seed, scale in itertools.product(range(10), (1e-3, 1.0, 1e3)):
        x, gamma, beta, dy = _inputs((4, 8, 32), seed)
        _, kept = layer.layer_norm_forward(x * scale, gamma, beta)
        dx = layer.layer_norm_backward(dy, kept)[0]
        rstd = 1 / np.sqrt((x * scale).var(axis=-1) + 1e-5)
        bound = rstd * np.linalg.norm(dy * gamma, axis=-1)
        largest = max(largest, float(np.max(np.linalg.norm(dx, axis=-1) / bound)))
    found = f"‖dx‖ at most {largest:.2f} of rstd·‖gamma·dy‖, per row, at scales 1e-3, 1 and 1e3"
    return whether(largest <= 1, found)


@LAYER_NORM.claim("C016", "Qwen3-6", "backward is consistent with itself", "gradient_identities, purity")
def _(runs: Runs) -> Finding:
    worst = runs.figures(TASK, "qwen36", "gradient_identities", "")
    found = f"four identities, residuals {under(worst)}; repeats bit for bit"
    return whether(runs.passes(TASK, ["qwen36"], "gradient_identities", "purity"), found)


@LAYER_NORM.claim("C017", "Qwen3-6", "the size of the cache is the least", "cache_minimality")
def _(runs: Runs) -> Finding:
    ratio = runs.said(TASK, "qwen36", "cache_minimality", r"([\d.]+) × the least bytes")
    return whether(float(ratio) < 1.01, f"{ratio} × the least bytes")


def variances(offset: float) -> tuple[list[float], list[float]]:
    bases = (np.arange(5.0), np.arange(1.0, 6.0), np.arange(-2.0, 3.0))
    benchmark = program("qwen36", TASK, "benchmark_layer_norm")
    return (
        [benchmark.naive_variance(base + offset) for base in bases],
        [benchmark.two_pass_variance(base + offset) for base in bases],
    )


@LAYER_NORM.claim("C018", "Qwen3-6", "naive variance gives 0, two-pass variance 2, at a large offset")
def _(runs: Runs) -> Finding:
    naive, stable = variances(1e10)
    found = f"at 1e10: naive {naive[2]:.1f}, two-pass {stable[2]:.1f} (data −2…2); X17 has other data"
    return whether(naive[2] == 0 and stable[2] == 2, found)


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

    def count(*args: object, **_options: object) -> tuple[np.ndarray, None]:
        nonlocal counted
        counted += 1
        if counted > TOO_MANY:
            raise _TooManyError
        return np.zeros(1), None

    x, gamma, beta, dy = np.zeros((1, 1, elements)), np.ones(elements), np.zeros(elements), np.zeros(1)
    kept, layer.layer_norm_forward = layer.layer_norm_forward, count
    try:
        if model == "minimax-m2.7":
            layer.compute_numerical_gradient_x(x, gamma, beta, dy, verbose=False)
        elif model == "glm5":
            layer.numerical_gradients(x, gamma, beta, dy)
        else:
            layer.numerical_gradient(lambda: float(count()[0][0]), x)
    except _TooManyError:
        pass
    finally:
        layer.layer_norm_forward = kept
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
    given = _inputs((2, 2, 4), 0)
    digests = [hashlib.sha256(a.tobytes()).digest() for a in given]
    seen: set[bool] = set()
    real = layer.layer_norm_forward

    def spy(x: np.ndarray, *args: np.ndarray, **options: object) -> object:
        seen.add(np.shares_memory(x, given[0]))
        return real(x, *args, **options)

    layer.layer_norm_forward = spy
    try:
        layer.numerical_gradients(*given)
    finally:
        layer.layer_norm_forward = real
    same = digests == [hashlib.sha256(a.tobytes()).digest() for a in given]
    return whether(same and seen == {False}, "inputs unchanged, and never handed to a forward themselves")


@LAYER_NORM.claim("C022", "GLM-5", "no edge-case test, no benchmark, one file", "size, own_tests")
def _(runs: Runs) -> Finding:
    said = runs.outcomes(TASK, "glm5", "size")[0].summary
    clocks = sum("import time" in p.read_text() or "perf_counter" in p.read_text() for p in _sources("glm5"))
    return whether(
        said.startswith("1 file") and said.endswith(" 0 tests") and not clocks,
        f"{said}; {clocks} clocks read",
    )


def _sources(model: str) -> list[Path]:
    return sorted(folder(model, TASK).glob("*.py"))


LAYER_NORM.listed(
    "C023", "GLM-5", "names five ways to lose precision, and a GPU kernel in four steps", "prose"
)
LAYER_NORM.listed("C024", "Qwen3-6", "a fused kernel touches 4 values per element, not 12", "prose")


def _shape(node: ast.AST) -> list[str]:
    return [type(child).__name__ for child in ast.walk(node)]


@LAYER_NORM.claim("C025", "MiniMax", "three functions for numerical gradients are nearly alike")
def _(runs: Runs) -> Finding:
    tree = ast.parse(_sources("minimax-m2.7")[0].read_text())
    alike = [_shape(n) for n in tree.body if getattr(n, "name", "").startswith("compute_numerical_gradient")]
    ratios = [SequenceMatcher(None, a, b).ratio() for a, b in itertools.combinations(alike, 2)]
    return whether(
        len(alike) == 3 and min(ratios) > 0.9, f"{len(alike)} functions, syntax trees {min(ratios):.0%} alike"
    )


@LAYER_NORM.claim("C026", "all", "275, 557 and 1148 lines", "size, experiment")
def _(runs: Runs) -> Finding:
    published = {"glm5": 275, "qwen36": 557, "minimax-m2.7": 1148}
    counts = {model: lines(model, TASK) for model in ALL}
    near = all(abs(counts[m][0] / published[m] - 1) < 0.05 for m in ALL)
    found = "all lines " + each((m, f"{counts[m][0]:,}") for m in ALL)
    return Finding(
        found + "; not blank " + each((m, f"{counts[m][1]:,}") for m in ALL), PARTLY if near else "**no**"
    )
