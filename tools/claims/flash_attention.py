"""Flash attention, forward: what the analyses say, and what is measured."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from types import FrameType
from typing import Any

import numpy as np
import numpy.typing as npt

from tools.claims.claim import PARTLY, Finding, Section, whether
from tools.claims.error_metrics import by_2_norm, by_element, by_maximum_norm
from tools.claims.figures import each, rounded, span, under
from tools.claims.online_softmax import Rule, Trace, full_attention, tiled_attention
from tools.claims.programs import folder, program
from tools.claims.runs import Runs

__all__ = ["FLASH", "MIB", "TASK", "metrics", "peaks", "qkv", "wrong"]

TASK = "flash_attention"
ALL = ("glm5", "minimax-m2.7", "qwen36")
FLASH = Section("flash", "Flash attention, forward")
#: A MiB in MB of a million bytes.
MIB = 2**20 / 1e6
Array = npt.NDArray[Any]


def qkv(
    N: int, D: int, seed: int, scale: float = 1.0, heads: tuple[int, ...] = ()
) -> list[npt.NDArray[np.float64]]:
    """Normal Q, K and V, each (N, D) behind the axes of ``heads``, the queries scaled."""
    rng = np.random.default_rng(seed)
    Q, K, V = (rng.standard_normal((*heads, N, D)) for _ in range(3))
    return [Q * scale, K, V]


def _causal(N: int) -> npt.NDArray[np.bool_]:
    return np.tril(np.ones((N, N), bool))


def _forward(model: str) -> Callable[..., Array]:
    forward: Callable[..., Array] = program(model, TASK, "flash_attention").flash_attention_fwd
    return forward


def _heads(Q: Array, K: Array, V: Array, mask: npt.NDArray[np.bool_] | None) -> Array:
    """Full attention of every head; (B, H, N, D) in and out."""
    B, H = Q.shape[:2]
    return np.array([[full_attention(Q[b, h], K[b, h], V[b, h], mask) for h in range(H)] for b in range(B)])


@cache
def wrong(rule: Rule, causal: bool) -> tuple[float, ...]:
    """Error of a rule at N = 256, D = 64, T = 64, over five seeds; infinite where a row is NaN."""
    errors = []
    for seed in range(5):
        Q, K, V = qkv(256, 64, seed)
        mask = _causal(256) if causal else None
        out = tiled_attention(Q, K, V, 64, rule, mask)
        due = full_attention(Q, K, V, mask)
        errors.append(by_maximum_norm(out, due) if np.isfinite(out).all() else float("inf"))
    return tuple(errors)


@FLASH.claim("C100", "all", "the factor is exp(old maximum − new maximum)", "rescaling_direction")
def _(runs: Runs) -> Finding:
    worst = {m: max(runs.figures(TASK, m, "rescaling_direction", "O, maxima rising, ")) for m in ALL}
    found = "maxima rising: " + each((m, under([w])) for m, w in worst.items())
    return whether(runs.passes(TASK, ALL, "rescaling_direction"), found)


@FLASH.claim("C101", "all", "the wrong direction cannot be seen in the output of a forward")
def _(runs: Runs) -> Finding:
    reversed_ = wrong("reversed, guarded", False)
    upscale = wrong("upscale", False)
    Q, K, V = (a.astype(np.float16) for a in qkv(256, 64, 0, 12.0))
    broken = int(np.sum(~np.isfinite(tiled_attention(Q, K, V, 64, "upscale")).all(axis=1)))
    found = (
        f"reversed: off by {span(reversed_)}, or NaN. Another mistake is hidden: scaling new tiles up to the "
        f"first maximum is {under(upscale)} off in float64, and about {round(broken, -1)} of 256 rows "
        "overflow in float16 at twelvefold queries"
    )
    return whether(min(reversed_) < 1e-6, found)


@FLASH.claim("C102", "all", "in the wrong direction the running sums grow")
def _(runs: Runs) -> Finding:
    largest = {}
    Q, K, V = qkv(256, 64, 0, 4.0)
    rules: tuple[Rule, ...] = ("right", "reversed, guarded", "upscale")
    for rule in rules:
        tiled_attention(Q, K, V, 64, rule, trace=(trace := Trace()))
        largest[rule] = trace.largest
    found = "largest l at fourfold queries: " + each((r, rounded(v, 1)) for r, v in largest.items())
    return whether(largest["reversed, guarded"] > 100 * largest["right"], found)


@FLASH.claim("C103", "all", "a first tile that is masked whole gives no NaN", "nan_masked_tiles")
def _(runs: Runs) -> Finding:
    worst = [f for m in ALL for f in runs.figures(TASK, m, "nan_masked_tiles", "rows that see some key")]
    found = f"with masks that causal attention never makes: {under(worst)} off, no NaN; see X03"
    return whether(runs.passes(TASK, ALL, "nan_masked_tiles"), found)


@FLASH.claim("C104", "GLM-5", "guarding P against NaN is enough", "experiment, nan_masked_tiles")
def _(runs: Runs) -> Finding:
    Q, K, V = qkv(96, 16, 0)
    mask = _causal(96)
    mask[64:67, :32] = False
    out = tiled_attention(Q, K, V, 32, "p only", mask)
    lost = int(np.sum(~np.isfinite(out[64:67]).all(axis=1)))
    guarded = int(np.sum(~np.isfinite(tiled_attention(Q, K, V, 32, "right", mask)).all(axis=1)))
    found = f"P alone: {lost} of 3 affected rows are NaN; P and the factor, as the program has it: {guarded}"
    return whether(lost == 0, found)


@FLASH.claim("C105", "GLM-5, Qwen3-6", "rows that see no key are 0", "nan_masked_tiles")
def _(runs: Runs) -> Finding:
    worst = [f for m in ALL for f in runs.figures(TASK, m, "nan_masked_tiles", "rows that see no key")]
    return whether(max(worst) == 0, "exactly 0 in all three programs" if max(worst) == 0 else under(worst))


@FLASH.claim("C106", "all", "tiles above the diagonal are skipped", "causal_skip")
def _(runs: Runs) -> Finding:
    work = {m: runs.said(TASK, m, "causal_skip", r"work is ([\d., ]+) of full") for m in ALL}
    wanted = ", ".join(f"{(n + 1) / (2 * n):.3f}" for n in (8, 16, 32))
    near = all(
        abs(float(a) - (n + 1) / (2 * n)) < 0.002
        for w in work.values()
        for a, n in zip(w.split(", "), (8, 16, 32), strict=True)
    )
    return whether(near, f"work {work['glm5']} of the full; (n + 1) / 2n is {wanted}")


@FLASH.claim("C107", "all", "relative error below 1e-4", "accuracy")
def _(runs: Runs) -> Finding:
    worst = {m: max(runs.figures(TASK, m, "accuracy", "on float64 input")) for m in ALL}
    found = "worst row, float64 input: " + each((m, under([w])) for m, w in worst.items())
    return whether(max(worst.values()) < 1e-4, found)


@cache
def metrics(model: str) -> tuple[tuple[float, float, float], ...]:
    """A model's causal forward at N = 256, D = 64, T = 64 against full attention.

    Returns:
        Per seed of ten, its error by maximum norm, by 2-norm and element by element.
    """
    found = []
    for seed in range(10):
        Q, K, V = qkv(256, 64, seed, heads=(1, 1))
        ref = _heads(Q, K, V, _causal(256))
        out = _forward(model)(Q, K, V, 64, causal=True)
        found.append((by_maximum_norm(out, ref), by_2_norm(out, ref), by_element(out, ref, 1e-12)))
    return tuple(found)


@FLASH.claim("C108", "all", "errors 1.85e-16, 1.25e-10 and 5.93e-8 (GLM-5, MiniMax, Qwen3-6)")
def _(runs: Runs) -> Finding:
    glm, mini, qwen = (metrics(m) for m in ALL)
    ranges = [[row[0] for row in glm], [row[2] for row in mini], [row[1] for row in qwen]]
    found = (
        f"by maximum norm {span(ranges[0])}, element by element {span(ranges[1])}, by 2-norm in float32 "
        f"{span(ranges[2])}: three metrics, see X38"
    )
    near = all(
        min(r) / 10 < p < max(r) * 10 for r, p in zip(ranges, (1.85e-16, 1.25e-10, 5.93e-8), strict=True)
    )
    return Finding(found, PARTLY if near else "**no**")


@FLASH.claim("C109", "all", "no N × N array", "peak_memory")
def _(runs: Runs) -> Finding:
    share = {m: max(runs.figures(TASK, m, "peak_memory", "the same over one float64")) for m in ALL}
    found = "peak beyond inputs and output at N = 2048, of one matrix: "
    return whether(
        runs.passes(TASK, ALL, "peak_memory"), found + each((m, f"{100 * s:.1f} %") for m, s in share.items())
    )


def peaks(runs: Runs) -> dict[str, float]:
    """The peaks that the programs' own tests print, in MB of a million bytes."""
    patterns = {
        "glm5": r"peak traced memory: ([\d.]+) MB",
        "minimax-m2.7": r"Peak memory \(tiled\): +([\d.]+) MB",
        "qwen36": r"peak memory: +([\d.]+) MB",
    }
    found = {m: float(runs.printed(TASK, m, pattern)[0]) for m, pattern in patterns.items()}
    return found | {"minimax-m2.7": found["minimax-m2.7"] * MIB}


@FLASH.claim("C110", "all", "peaks of 34.2, 32.6 and 27.2 MB at N = 4096, D = 64", "own_tests")
def _(runs: Runs) -> Finding:
    told = peaks(runs)
    near = abs(told["glm5"] - 34.24) < 0.5 and abs(told["qwen36"] - 27.2) < 0.5
    found = each((m, f"{p:.1f} MB") for m, p in told.items()) + " (of a million bytes); see X37"
    return Finding(found, PARTLY if near and abs(told["minimax-m2.7"] - 32.59) > 1 else "**no**")


def _worst(model: str, N: int, tile: int, causal: bool) -> float:
    """Error of a model's forward on two heads, by maximum norm."""
    Q, K, V = qkv(N, 8, N + tile, heads=(1, 2))
    ref = _heads(Q, K, V, _causal(N) if causal else None)
    return by_maximum_norm(_forward(model)(Q, K, V, tile, causal=causal), ref)


@FLASH.claim("C111", "all", "uneven tiles work (only Qwen3-6 tests them)", "experiment, accuracy")
def _(runs: Runs) -> Finding:
    cases = ((300, 97), (1, 16), (10, 64), (12, 1))
    worst = {m: max(_worst(m, N, tile, True) for N, tile in cases) for m in ALL}
    found = f"(N, T) of {', '.join(map(str, cases))}: " + each((m, under([w])) for m, w in worst.items())
    return whether(max(worst.values()) < 1e-5, found)


@FLASH.claim("C112", "all", "non-causal attention works (only Qwen3-6 tests it)", "experiment, accuracy")
def _(runs: Runs) -> Finding:
    worst = {m: max(_worst(m, N, tile, False) for N, tile in ((64, 16), (50, 16))) for m in ALL}
    return whether(max(worst.values()) < 1e-5, each((m, under([w])) for m, w in worst.items()))


@FLASH.claim("C113", "all", "several heads and batches work (only Qwen3-6 tests them apart)")
def _(runs: Runs) -> Finding:
    worst = {}
    for model in ALL:
        Q, K, V = qkv(48, 8, 7, heads=(2, 3))
        whole = _forward(model)(Q, K, V, 16, causal=True)
        alone = [
            _forward(model)(*(a[b : b + 1, h : h + 1] for a in (Q, K, V)), 16, causal=True)[0, 0]
            for b in range(2)
            for h in range(3)
        ]
        worst[model] = max(by_maximum_norm(whole.reshape(6, 48, 8)[i], one) for i, one in enumerate(alone))
    found = "each head against its own run: " + each((m, under([w])) for m, w in worst.items())
    return whether(max(worst.values()) < 1e-5, found)


def _steps(model: str, N: int, tile: int) -> int:
    """Lines of the program that one forward executes."""
    counted = 0
    file = str(folder(model, TASK) / "flash_attention.py")

    def line(frame: FrameType, event: str, _arg: Any) -> Any:
        nonlocal counted
        counted += event == "line"
        return line

    def call(frame: FrameType, _event: str, _arg: Any) -> Any:
        return line if frame.f_code.co_filename == file else None

    before = sys.gettrace()
    sys.settrace(call)
    try:
        _forward(model)(*qkv(N, 4, 0, heads=(1, 1)), tile, causal=False)
    finally:
        sys.settrace(before)
    return counted


@FLASH.claim("C114", "MiniMax", "one Python step per row of every tile")
def _(runs: Runs) -> Finding:
    ratio = {m: _steps(m, 128, 8) / _steps(m, 128, 32) for m in ALL}
    found = "lines executed with tiles of 8 over tiles of 32, N = 128: " + each(
        (m, f"{r:.1f}") for m, r in ratio.items()
    )
    return whether(
        ratio["minimax-m2.7"] < 8 < min(ratio["glm5"], ratio["qwen36"]),
        found + " (4 when every row is a step, up to 16 when every tile is)",
    )


@FLASH.claim("C115", "Qwen3-6", "all tiles are held at once", "experiment, peak_memory")
def _(runs: Runs) -> Finding:
    module = program("qwen36", TASK, "flash_attention")
    X = qkv(300, 16, 0, heads=(1, 2))[0].astype(np.float32)
    tiles = module._split_into_tiles(X, 64)
    copied = not any(np.shares_memory(X, tile) for tile in tiles)
    share = sum(tile.nbytes for tile in tiles) / X.nbytes
    return whether(
        copied and share == 1,
        f"copies of Q, K and V are cut before the first product: {share:.2f} × their bytes",
    )


@FLASH.claim("C116", "MiniMax", "its large test prints memory and measures none")
def _(runs: Runs) -> Finding:
    uses = (folder("minimax-m2.7", TASK) / "flash_attention.py").read_text().count("tracemalloc")
    return whether(uses == 0, f"tracemalloc is named {uses} times; what it prints is added up from shapes")


FLASH.listed("C117", "MiniMax", "the docstring argues for the wrong direction first", "prose")


@FLASH.claim("C118", "all", "2, 3 and 5 tests (GLM-5, MiniMax, Qwen3-6)", "own_tests")
def _(runs: Runs) -> Finding:
    tests = [runs.own_tests(TASK, m) for m in ALL]
    return whether(tests == [2, 3, 5], f"{', '.join(map(str, tests))}, all passing")
