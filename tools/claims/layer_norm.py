"""Layer normalisation, backward: what the analyses say, and what is measured."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tools.claims.claim import PARTLY, Finding, Section, whether
from tools.claims.figures import each, under
from tools.claims.programs import folder, lines, program
from tools.claims.runs import Runs

__all__ = ["ALL", "FILES", "LAYER_NORM", "TASK", "entries", "inputs", "sources", "variances"]

TASK = "backwards"
ALL = ("glm5", "qwen36", "minimax-m2.7")
FILES = {"glm5": "layer_norm", "qwen36": "layer_norm_backward", "minimax-m2.7": "layer_norm_numpy"}
LAYER_NORM = Section("backwards", "Layer normalisation, backward")
Array = npt.NDArray[np.float64]


def inputs(shape: tuple[int, int, int], seed: int) -> tuple[Array, Array, Array, Array]:
    """Random x (B, T, D), gamma and beta (D,), and dy (B, T, D)."""
    rng = np.random.default_rng(seed)
    wide = shape[-1]
    return (
        rng.standard_normal(shape),
        rng.uniform(0.5, 1.5, wide),
        rng.standard_normal(wide),
        rng.standard_normal(shape),
    )


def sources(model: str) -> list[Path]:
    """A model's files."""
    return sorted(folder(model, TASK).glob("*.py"))


def entries(runs: Runs, model: str) -> list[tuple[str, ...]]:
    """The entries of a model's cache, a row each, their names first."""
    table = runs.evidence(TASK, model, "cache_minimality", "entries of the cache")[0].table
    return list(table[1:])


@LAYER_NORM.claim("C001", "all", "dx, dgamma and dbeta are right", "gradients")
def _(runs: Runs) -> Finding:
    worst = [
        f for m in ALL for f in runs.figures(TASK, m, "gradients", "against the analytic gradient, float64")
    ]
    return whether(runs.passes(TASK, ALL, "gradients"), f"relative error per row {under(worst)}")


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
    x, gamma, beta, _ = inputs(shape, 0)
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
    """That Qwen3-6 passes a check, with the figures of one case of it."""
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
        x, gamma, beta, dy = inputs((4, 8, 32), seed)
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
    """Naive and two-pass variances of 0…4, 1…5 and −2…2 at an offset, by Qwen3-6's functions; 2 is right."""
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


@LAYER_NORM.claim("C022", "GLM-5", "no edge-case test, no benchmark, one file", "size, own_tests")
def _(runs: Runs) -> Finding:
    said = runs.outcomes(TASK, "glm5", "size")[0].summary
    clocks = sum("import time" in p.read_text() or "perf_counter" in p.read_text() for p in sources("glm5"))
    return whether(
        said.startswith("1 file") and said.endswith(" 0 tests") and not clocks,
        f"{said}; {clocks} clocks read",
    )


LAYER_NORM.listed(
    "C023", "GLM-5", "names five ways to lose precision, and a GPU kernel in four steps", "prose"
)
LAYER_NORM.listed("C024", "Qwen3-6", "a fused kernel touches 4 values per element, not 12", "prose")


@LAYER_NORM.claim("C026", "all", "275, 557 and 1148 lines", "size, experiment")
def _(runs: Runs) -> Finding:
    published = {"glm5": 275, "qwen36": 557, "minimax-m2.7": 1148}
    counts = {model: lines(model, TASK) for model in ALL}
    near = all(abs(counts[m][0] / published[m] - 1) < 0.05 for m in ALL)
    found = "all lines " + each((m, f"{counts[m][0]:,}") for m in ALL)
    return Finding(
        found + "; not blank " + each((m, f"{counts[m][1]:,}") for m in ALL), PARTLY if near else "**no**"
    )
