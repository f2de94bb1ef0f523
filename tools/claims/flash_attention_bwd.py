"""Flash attention, backward: what the analyses say, and what is measured."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from tools.claims.claim import PARTLY, Finding, Section, whether
from tools.claims.error_metrics import by_maximum_norm
from tools.claims.figures import each, span, under
from tools.claims.programs import folder, program
from tools.claims.runs import Runs

__all__ = [
    "ALL", "BACKWARD", "DESCENDING", "OTHER_QUERIES", "TASK", "both", "divides_alike", "inputs", "program_of",
    "variant",
]  # fmt: skip

TASK = "flash_attention_bwd"
ALL = ("kimi-k2.6", "glm5", "qwen36", "glm5.1")
BACKWARD = Section("flash-bwd", "Flash attention, backward")
Array = npt.NDArray[Any]


def inputs(shape: tuple[int, int, int, int], seed: int) -> list[npt.NDArray[np.float64]]:
    """Normal Q, K, V and dO, (B, H, N, D) each."""
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape) for _ in range(4)]


def program_of(model: str) -> ModuleType:
    """A model's program, as it stands."""
    return program(model, TASK, "flash_attention_bwd")


def _head(seed: int, N: int = 128, D: int = 16) -> tuple[Array, ...]:
    """P and dP, (N, N), of one causal head, and its K, dO and O, (N, D)."""
    Q, K, V, dO = (a[0, 0] for a in inputs((1, 1, N, D), seed))
    S = np.where(np.tril(np.ones((N, N), bool)), Q @ K.T / np.sqrt(D), -np.inf)
    P = np.exp(S - S.max(axis=1, keepdims=True))
    P /= P.sum(axis=1, keepdims=True)
    return P, dO @ V.T, K, dO, P @ V


def _per_tile(P: Array, dP: Array, tile: int) -> Array:
    """The dS of a row sum that ends with its tile; P, dP and dS (N, N)."""
    dS = np.empty_like(P)
    for k in range(0, P.shape[1], tile):
        part = slice(k, k + tile)
        dS[:, part] = P[:, part] * (dP[:, part] - np.sum((P * dP)[:, part], axis=1, keepdims=True))
    return dS


def _formula_errors(wrong: Callable[[Array, Array], Array]) -> list[float]:
    """How far dQ is off by a formula for dS from P and dP, over five seeds."""
    errors = []
    for seed in range(5):
        P, dP, K, _, _ = _head(seed)
        right = P * (dP - np.sum(P * dP, axis=1, keepdims=True))
        errors.append(by_maximum_norm(wrong(P, dP) @ K, right @ K))
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
        errors.append(by_maximum_norm((dO * out).sum(axis=1), (P * dP).sum(axis=1)))
    return whether(max(errors) < 1e-12, f"{under(errors)} apart")


@BACKWARD.claim("C143", "all", "one walk over K and V (GLM-5, GLM-5.1), two (Kimi, Qwen3-6)", "kv_passes")
def _(runs: Runs) -> Finding:
    walks = {m: max(runs.figures(TASK, m, "kv_passes", "walks over K and V in")) for m in ALL}
    return whether(list(walks.values()) == [2, 1, 2, 1], each((m, f"{w:g}") for m, w in walks.items()))


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
def variant(model: str, *changes: tuple[str, str]) -> ModuleType:
    """A model's program with some text replaced, everywhere it stands.

    Args:
        model: Folder of the submission.
        changes: What stands there, and what is to stand there.

    Raises:
        LookupError: The program no longer has such text.
    """
    text = (folder(model, TASK) / "flash_attention_bwd.py").read_text()
    for old, new in changes:
        if old not in text:
            raise LookupError(f"the program of {model} no longer has {old!r}")
        text = text.replace(old, new)
    module = ModuleType("variant")
    exec(compile(text, "variant", "exec"), module.__dict__)
    return module


def both(module: ModuleType, shape: tuple[int, int, int, int], tile: int) -> list[Array]:
    """O, dQ, dK and dV of causal attention by a program, (B, H, N, D) each."""
    Q, K, V, dO = inputs(shape, tile)
    with np.errstate(all="ignore"):
        out, kept = module.flash_attention_fwd(Q, K, V, tile, causal=True)
        return [out, *module.flash_attention_bwd(dO, kept, tile, causal=True)]


#: A program's keys, and its queries, in reverse.
DESCENDING = ("for k_start in range(0, N, tile_size)", "for k_start in reversed(range(0, N, tile_size))")
OTHER_QUERIES = ("for q_start in range(0, N, tile_size)", "for q_start in reversed(range(0, N, tile_size))")


@BACKWARD.claim("C150", "GLM-5.1", "leaving the loop at the diagonal is right, though fragile")
def _(runs: Runs) -> Finding:
    cases = (((1, 2, 64, 8), 16), ((1, 1, 50, 8), 16), ((2, 1, 12, 4), 5))
    plain = [both(program_of("glm5.1"), *case) for case in cases]
    going_on = [both(variant("glm5.1", ("break", "continue")), *case) for case in cases]
    other = [both(variant("glm5.1", OTHER_QUERIES), *case) for case in cases]
    down = [both(variant("glm5.1", DESCENDING), *case) for case in cases]
    same = all(
        a.tobytes() == b.tobytes()
        for x, y in zip(plain, going_on, strict=True)
        for a, b in zip(x, y, strict=True)
    )
    forward = all(x[0].tobytes() == y[0].tobytes() for x, y in zip(plain, other, strict=True))
    back = [
        by_maximum_norm(a, b)
        for x, y in zip(other, plain, strict=True)
        for a, b in zip(x[1:], y[1:], strict=True)
    ]
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
    per_head = "            O[b, h] = O_bh / l[:, None]\n"
    per_tile = "            for s, e in tiles:\n                O[b, h, s:e] = O_bh[s:e] / l[s:e, None]\n"
    module = variant("qwen36", (per_head, per_tile))
    return bool(whole.tobytes() == module.flash_attention_fwd(Q, K, V, 16, causal=True)[0].tobytes())


@BACKWARD.claim("C151", "Qwen3-6", "dividing by l after the loop is less stable than per tile")
def _(runs: Runs) -> Finding:
    same = divides_alike()
    return whether(not same, "bit for bit the same" if same else "other bits")


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
