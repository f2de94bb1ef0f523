"""Flash attention, backward: what the analyses say, and what is measured."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import ModuleType

import numpy as np

from tools.claims.claim import PARTLY, Finding, Section, whether
from tools.claims.figures import each, rounded, span, under
from tools.claims.programs import folder, program, quiet
from tools.claims.runs import Runs

__all__ = ["BACKWARD"]

TASK = "flash_attention_bwd"
ALL = ("kimi-k2.6", "glm5", "qwen36", "glm5.1")
PUBLISHED_DV = dict(zip(ALL, (3.4e-9, 1.2e-7, 7.2e-7, 8.5e-6), strict=True))
PUBLISHED_DQ = dict(zip(ALL, (1.7e-11, 0.0, 1.1e-10, 2.7e-5), strict=True))
PUBLISHED_MB = dict(zip(ALL, (13.4, 12.5, 6.3, 9.4), strict=True))
MATRIX_MB = 4096 * 4096 * 4 / 1e6
BACKWARD = Section("flash-bwd", "Flash attention, backward")


def inputs(shape: tuple[int, int, int, int], seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape) for _ in range(4)]


def program_of(model: str) -> ModuleType:
    return program(model, TASK, "flash_attention_bwd")


def _head(seed: int, N: int = 128, D: int = 16) -> tuple[np.ndarray, ...]:
    """P, dP, K and dO of one causal head, and O; (N, N), (N, N), (N, D)."""
    Q, K, V, dO = (a[0, 0] for a in inputs((1, 1, N, D), seed))
    S = np.where(np.tril(np.ones((N, N), bool)), Q @ K.T / np.sqrt(D), -np.inf)
    P = np.exp(S - S.max(axis=1, keepdims=True))
    P /= P.sum(axis=1, keepdims=True)
    return P, dO @ V.T, K, dO, P @ V


def off(out: np.ndarray, ref: np.ndarray) -> float:
    return float(np.max(np.abs(out - ref)) / np.max(np.abs(ref)))


def _per_tile(P: np.ndarray, dP: np.ndarray, tile: int) -> np.ndarray:
    dS = np.empty_like(P)
    for k in range(0, P.shape[1], tile):
        part = slice(k, k + tile)
        dS[:, part] = P[:, part] * (dP[:, part] - np.sum((P * dP)[:, part], axis=1, keepdims=True))
    return dS


def _formula_errors(wrong: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> list[float]:
    """How far dQ is off by a formula for dS, over five seeds."""
    errors = []
    for seed in range(5):
        P, dP, K, _, _ = _head(seed)
        right = P * (dP - np.sum(P * dP, axis=1, keepdims=True))
        errors.append(off(wrong(P, dP) @ K, right @ K))
    return errors


@BACKWARD.claim("C140", "all", "dS = P·(dP − rowsum(P·dP))", "gradients, experiment")
def _(runs: Runs) -> Finding:
    worst = [
        f
        for m in ALL
        for name in ("dQ", "dK", "dV")
        for f in runs.figures(
            TASK, m, "gradients", f"{name}, relative error per row against the analytic gradient, float64"
        )
    ]
    wrong = {
        "wrong axis": _formula_errors(lambda P, dP: P * (dP - np.sum(P * dP, axis=0, keepdims=True))),
        "no P": _formula_errors(lambda P, dP: dP - np.sum(P * dP, axis=1, keepdims=True)),
        "division": _formula_errors(lambda P, dP: P * dP / np.sum(P * dP, axis=1, keepdims=True)),
    }
    found = f"all gradients {under(worst)} off; wrong formulas put dQ off by: " + "; ".join(
        f"{name} {span(e)}" for name, e in wrong.items()
    )
    return whether(runs.passes(TASK, ALL, "gradients") and min(map(min, wrong.values())) > 0.1, found)


@BACKWARD.claim("C141", "all", "the row sum runs over all tiles of keys", "gradients, experiment")
def _(runs: Runs) -> Finding:
    four = _formula_errors(lambda P, dP: _per_tile(P, dP, 32))
    one = _formula_errors(lambda P, dP: _per_tile(P, dP, 128))
    found = f"a row sum per tile puts dQ off by {span(four)} with four tiles, by {under(one)} with one"
    return whether(runs.passes(TASK, ALL, "gradients") and min(four) > 0.01, found)


@BACKWARD.claim("C142", "GLM-5, GLM-5.1", "rowsum(P·dP) = rowsum(dO·O)", "experiment, gradient_identities")
def _(runs: Runs) -> Finding:
    errors = []
    for seed in range(5):
        P, dP, _, dO, out = _head(seed)
        errors.append(off((dO * out).sum(axis=1), (P * dP).sum(axis=1)))
    return whether(max(errors) < 1e-12, f"{under(errors)} apart")


@BACKWARD.claim("C143", "all", "one walk over K and V (GLM-5, GLM-5.1), two (Kimi, Qwen3-6)", "kv_passes")
def _(runs: Runs) -> Finding:
    walks = {m: max(runs.figures(TASK, m, "kv_passes", "walks over K and V in")) for m in ALL}
    return whether(list(walks.values()) == [2, 1, 2, 1], each((m, f"{w:g}") for m, w in walks.items()))


def printed_errors(runs: Runs, name: str) -> dict[str, float]:
    """What the programs' own tests print of a gradient against differences."""
    patterns = {
        "kimi-k2.6": rf"  {name} \([^)]*\): max rel error (\S+)",
        "glm5": rf"  {name} \(\d+ elements\): max rel err (\S+)",
        "qwen36": rf"  {name}, [a-z ]+: +relative error (\S+)",
        "glm5.1": rf"{name} (?:full|spot) check[^=]*= (\S+)",
    }
    return {m: float(runs.printed(TASK, m, pattern)[0]) for m, pattern in patterns.items()}


@BACKWARD.claim("C144", "all", "dV, dQ and dK are within 1e-5 of differences", "gradients, own_tests")
def _(runs: Runs) -> Finding:
    printed = [f for name in ("dV", "dQ", "dK") for f in printed_errors(runs, name).values()]
    ours = [f for m in ALL for f in runs.figures(TASK, m, "gradients", "against central differences")]
    found = f"by their own tests {under(printed)}; by ours, over the sum of terms, {under(ours)}"
    return whether(max(printed) < 1e-5 and runs.passes(TASK, ALL, "gradients"), found)


@BACKWARD.claim(
    "C145", "all", "dV errors 3.4e-9, 1.2e-7, 7.2e-7, 8.5e-6, to an order of magnitude", "own_tests"
)
def _(runs: Runs) -> Finding:
    printed = printed_errors(runs, "dV")
    near = all(0.1 < printed[m] / PUBLISHED_DV[m] < 10 for m in ALL)
    return whether(near, each((m, rounded(f)) for m, f in printed.items()) + "; see X42 for what they mean")


@BACKWARD.claim("C146", "all", "dQ against the full backward 1.7e-11, 0.0, 1.1e-10, 2.7e-5", "own_tests")
def _(runs: Runs) -> Finding:
    patterns = {
        "kimi-k2.6": r"dQ vs naive: max rel error (\S+)",
        "glm5": r"dQ: rel err (\S+)",
        "qwen36": r"  dQ: relative error (\S+)",
        "glm5.1": r"dQ max relative error = (\S+)",
    }
    printed = {m: float(runs.printed(TASK, m, pattern)[0]) for m, pattern in patterns.items()}
    near = all(
        printed[m] == p or 0.1 < printed[m] / p < 10 for m, p in PUBLISHED_DQ.items() if p or printed[m] == 0
    )
    return whether(near and max(printed.values()) < 1e-4, each((m, rounded(f)) for m, f in printed.items()))


def peaks(runs: Runs) -> dict[str, float]:
    patterns = {
        "kimi-k2.6": r"peak: ([\d.]+) MB",
        "glm5": r"  peak ([\d.]+) MB",
        "qwen36": r"peak memory: +([\d.]+) MB",
        "glm5.1": r"Peak memory: +([\d.]+) MB",
    }
    return {m: float(runs.printed(TASK, m, pattern)[0]) for m, pattern in patterns.items()}


@BACKWARD.claim(
    "C147", "all", "peaks of 13.4, 12.5, 6.3, 9.4 MB, below 20 % of one matrix", "own_tests, peak_memory"
)
def _(runs: Runs) -> Finding:
    traced = peaks(runs)
    ours = {m: max(runs.figures(TASK, m, "peak_memory", "peak over one")) for m in ALL}
    found = (
        each((m, f"{p:.1f}") for m, p in traced.items())
        + " MB by their own tests, each tracing other things; peak beyond inputs and outputs at D = 8: "
        + each((m, f"{100 * o:.1f} %") for m, o in ours.items())
    )
    below = all(p < 0.2 * MATRIX_MB for p in traced.values()) and runs.passes(TASK, ALL, "peak_memory")
    exact = all(abs(traced[m] / p - 1) < 0.03 for m, p in PUBLISHED_MB.items())
    return Finding(found, ("yes" if exact else PARTLY) if below else "**no**")


@BACKWARD.claim("C148", "Kimi K2.6, GLM-5", "a row that sees no key gives NaN in the backward", "masked_rows")
def _(runs: Runs) -> Finding:
    verdicts = {m: runs.verdict(TASK, m, "masked_rows") for m in ALL}
    lost = {m: runs.said(TASK, m, "masked_rows", r"in (\d+ of \d+) calls") for m in ALL}
    found = "NaN or infinite in " + each(lost.items()) + " calls; causal attention has no such row"
    return whether(all(verdicts[m] == "fail" for m in ALL[:2]), found)


@BACKWARD.claim(
    "C149", "GLM-5.1", "its guard for l = 0 handles such a row", "nan_masked_tiles, masked_rows, logsumexp"
)
def _(runs: Runs) -> Finding:
    forward = runs.verdict(TASK, "glm5.1", "nan_masked_tiles")
    backward = runs.verdict(TASK, "glm5.1", "masked_rows")
    kept = runs.evidence(TASK, "glm5.1", "logsumexp", "L of rows that see no key")[0].measured
    found = f"forward {forward}, O is 0; L is {kept} with or without it; backward {backward}"
    return Finding(found, PARTLY if (forward, backward) == ("pass", "fail") else "yes")


@cache
def variant(*changes: tuple[str, str]) -> ModuleType:
    """GLM-5.1's program with some text replaced, everywhere it stands."""
    text = (folder("glm5.1", TASK) / "flash_attention_bwd.py").read_text()
    for old, new in changes:
        if old not in text:
            raise LookupError(f"the program no longer has {old!r}")
        text = text.replace(old, new)
    module = ModuleType("variant")
    exec(compile(text, "variant", "exec"), module.__dict__)
    return module


def both(module: ModuleType, shape: tuple[int, int, int, int], tile: int) -> list[np.ndarray]:
    Q, K, V, dO = inputs(shape, tile)
    with np.errstate(all="ignore"):
        out, kept = module.flash_attention_fwd(Q, K, V, tile, causal=True)
        return [out, *module.flash_attention_bwd(dO, kept, tile, causal=True)]


DESCENDING = ("for k_start in range(0, N, tile_size)", "for k_start in reversed(range(0, N, tile_size))")
OTHER_QUERIES = ("for q_start in range(0, N, tile_size)", "for q_start in reversed(range(0, N, tile_size))")


@BACKWARD.claim("C150", "GLM-5.1", "leaving the loop at the diagonal is right, though fragile")
def _(runs: Runs) -> Finding:
    cases = (((1, 2, 64, 8), 16), ((1, 1, 50, 8), 16), ((2, 1, 12, 4), 5))
    plain = [both(program_of("glm5.1"), *case) for case in cases]
    going_on = [both(variant(("break", "continue")), *case) for case in cases]
    other = [both(variant(OTHER_QUERIES), *case) for case in cases]
    down = [both(variant(DESCENDING), *case) for case in cases]
    same = all(
        a.tobytes() == b.tobytes()
        for x, y in zip(plain, going_on, strict=True)
        for a, b in zip(x, y, strict=True)
    )
    forward = all(x[0].tobytes() == y[0].tobytes() for x, y in zip(plain, other, strict=True))
    back = [off(a, b) for x, y in zip(other, plain, strict=True) for a, b in zip(x[1:], y[1:], strict=True)]
    lost = all(not np.allclose(x[0], y[0]) for x, y in zip(plain, down, strict=True))
    found = (
        f"{'the same bits' if same else 'other bits'} as with continue; queries in reverse: "
        f"{'same' if forward else 'other'} bits forward, gradients {under(back)} apart; "
        f"keys in reverse: {'wrong' if lost else 'right'}"
    )
    return whether(same and forward and lost, found)


@cache
def divides_alike() -> bool:
    """Whether dividing by l per tile gives the bits that dividing per head gives."""
    Q, K, V, _ = inputs((1, 2, 50, 8), 3)
    whole = program_of("qwen36").flash_attention_fwd(Q, K, V, 16, causal=True)[0]
    text = (folder("qwen36", TASK) / "flash_attention_bwd.py").read_text()
    old = "            O[b, h] = O_bh / l[:, None]\n"
    if old not in text:
        raise LookupError("the program divides elsewhere now")
    tiled = "            for s, e in tiles:\n                O[b, h, s:e] = O_bh[s:e] / l[s:e, None]\n"
    module = ModuleType("per_tile")
    exec(compile(text.replace(old, tiled), "per_tile", "exec"), module.__dict__)
    return bool(whole.tobytes() == module.flash_attention_fwd(Q, K, V, 16, causal=True)[0].tobytes())


@BACKWARD.claim("C151", "Qwen3-6", "dividing by l after the loop is less stable than per tile")
def _(runs: Runs) -> Finding:
    same = divides_alike()
    return whether(not same, "bit for bit the same" if same else "other bits")


@cache
def noise(step: float) -> tuple[float, float]:
    """Worst element of a right dV against differences: outputs subtracted first, and losses."""
    module = program_of("kimi-k2.6")
    Q, K, V, dO = inputs((1, 1, 64, 32), 7)
    _, kept = module.flash_attention_fwd(Q, K, V, 16, causal=True)
    dV = module.flash_attention_bwd(dO, kept, 16, causal=True)[2]
    found = np.zeros((2, *V.shape))
    for index in np.ndindex(*V.shape):
        out = []
        for sign in (1, -1):
            moved = V.copy()
            moved[index] += sign * step
            out.append(module.flash_attention_fwd(Q, K, moved, 16, causal=True)[0])
        found[0][index] = np.sum((out[0] - out[1]) * dO) / (2 * step)
        found[1][index] = (np.sum(out[0] * dO) - np.sum(out[1] * dO)) / (2 * step)
    floor = np.maximum(np.maximum(np.abs(found), np.abs(dV)), 1e-8)
    first, second = np.max(np.abs(found - dV) / floor, axis=(1, 2, 3, 4))
    return float(first), float(second)


@BACKWARD.claim("C152", "GLM-5.1", "a step of 1e-6 amplifies rounding")
def _(runs: Runs) -> Finding:
    errors = {step: noise(step)[1] for step in (1e-4, 1e-5, 1e-6)}
    found = "one right dV, losses subtracted: " + ", ".join(
        f"step {step:.0e} {rounded(e, 1)}" for step, e in errors.items()
    )
    return whether(errors[1e-6] > 3 * errors[1e-5] > 9 * errors[1e-4], found)


@BACKWARD.claim("C153", "GLM-5.1", "differences of dV are taken twice")
def _(runs: Runs) -> Finding:
    module = program_of("glm5.1")
    asked: list[int] = []
    real = module.flash_attention_fwd

    def spy(Q: np.ndarray, K: np.ndarray, V: np.ndarray, *args: object, **options: object) -> object:
        asked.append(hash(V.tobytes()))
        return real(Q, K, V, *args, **options)

    module.flash_attention_fwd = spy
    try:
        with quiet():
            module.test_gradient_check()
    finally:
        module.flash_attention_fwd = real
    base = asked[0]
    moved = [h for h in asked if h != base]
    again = len(moved) - len(set(moved))
    return whether(again > 0, f"{len(moved)} forwards with a moved V, {again} of them for the second time")


def subtests(runs: Runs) -> dict[str, int]:
    """Tests that a program runs, sanity checks in a script included."""
    return {m: runs.own_tests(TASK, m) or len(runs.printed(TASK, m, r"\n +(PASS)\b")) for m in ALL}


@BACKWARD.claim("C154", "all", "tests beyond the three required: 0, 1, 2, 0", "own_tests")
def _(runs: Runs) -> Finding:
    beyond = {m: n - 3 for m, n in subtests(runs).items()}
    return whether(list(beyond.values()) == [0, 1, 2, 0], each((m, str(n)) for m, n in beyond.items()))


@BACKWARD.claim("C155", "MiniMax", "no submission", "gradients")
def _(runs: Runs) -> Finding:
    outcome = runs.outcomes(TASK, "minimax-m2.7", "gradients")[0]
    return whether(str(outcome.verdict) == "skip", f"{outcome.verdict}: {outcome.summary}")


@BACKWARD.claim("C156", "all", "the log-sum-exp is stored, not P", "cache_minimality, logsumexp")
def _(runs: Runs) -> Finding:
    kept = {m: runs.said(TASK, m, "cache_minimality", r"keeps ([A-Z, ]+[A-Z])") for m in ALL}
    ratio = {runs.said(TASK, m, "cache_minimality", r"([\d.]+) × the bytes") for m in ALL}
    found = f"{', '.join(sorted(set(kept.values())))}: {', '.join(sorted(ratio))} × their bytes, in all four"
    return whether(runs.passes(TASK, ALL, "cache_minimality", "logsumexp"), found)
