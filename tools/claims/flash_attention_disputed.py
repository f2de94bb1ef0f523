"""Flash attention, forward: where the analyses contradict themselves."""

from __future__ import annotations

import ast
import re

import numpy as np

from tools.claims.claim import Finding, Section, settled
from tools.claims.error_metrics import by_maximum_norm
from tools.claims.figures import NAMES, span, under
from tools.claims.flash_attention import MIB, TASK, metrics, peaks, qkv, wrong
from tools.claims.online_softmax import Rule, full_attention, tiled_attention, tiles_at_minus_infinity
from tools.claims.programs import folder
from tools.claims.runs import Runs

__all__ = ["CONTRADICTIONS"]

CONTRADICTIONS = Section("flash-x", "Flash attention, forward: contradictions", "Settled")


@CONTRADICTIONS.claim("X02", "all", "both directions give the same output")
def _(runs: Runs) -> Finding:
    bare = wrong("reversed", False)
    errors = {
        "guarded": wrong("reversed, guarded", False),
        "guarded, causal": wrong("reversed, guarded", True),
        "no factor": wrong("no factor", True) + wrong("no factor", False),
    }
    Q, K, V = qkv(256, 64, 0)
    single = by_maximum_norm(tiled_attention(Q, K, V, 256, "reversed, guarded"), full_attention(Q, K, V))
    found = f"reversed at N = 256: {'NaN' if min(bare) == float('inf') else 'finite'}; " + "; ".join(
        f"{name}: off by {span(e)}" for name, e in errors.items()
    )
    return settled(
        min(min(e) for e in errors.values()) > 0.01 and single < 1e-12,
        found + f"; one tile: {under([single])}",
        "they do not, unless there is one tile or its maximum never changes",
    )


@CONTRADICTIONS.claim("X03", "all", "causal attention meets a first tile that is masked whole")
def _(runs: Runs) -> Finding:
    sizes = ((64, 16, 16), (256, 64, 64), (300, 97, 97), (256, 64, 16), (256, 16, 64))
    up = sum(tiles_at_minus_infinity(N, q, k, False) for N, q, k in sizes)
    down = [tiles_at_minus_infinity(N, q, k, True) for N, q, k in sizes]
    found = (
        f"rows without any key so far, keys ascending: {up} over {len(sizes)} sizes; "
        f"descending without skipping: {', '.join(map(str, down))}"
    )
    return settled(up == 0 and min(down) > 0, found, "it does not; padding in front or descending keys do")


@CONTRADICTIONS.claim("X04", "all", "a guard on P alone is right")
def _(runs: Runs) -> Finding:
    Q, K, V = qkv(64, 8, 1)
    mask = np.ones((64, 64), bool)
    mask[10:20, :16] = False
    rules: tuple[Rule, ...] = ("p only", "right")
    lost = {
        rule: int(np.sum(~np.isfinite(tiled_attention(Q, K, V, 16, rule, mask)).all(axis=1)))
        for rule in rules
    }
    return settled(
        lost == {"p only": 10, "right": 0},
        f"of 10 rows whose first tile is masked: P alone leaves {lost['p only']} NaN, with the factor "
        f"{lost['right']}",
        "the factor needs the guard as well; all three programs have it",
    )


@CONTRADICTIONS.claim("X37", "MiniMax", "32.59 MB is better than 34.24 MB", "own_tests")
def _(runs: Runs) -> Finding:
    told = peaks(runs)
    printed = told["minimax-m2.7"] / MIB
    found = (
        f"{printed:.2f} 'MB' of 2^20 bytes are {told['minimax-m2.7']:.2f} MB; GLM-5's test prints "
        f"{told['glm5']:.2f} MB; the outputs alone are {2 * 8 * 4096 * 64 * 8 / 1e6:.2f} MB"
    )
    return settled(
        abs(told["minimax-m2.7"] - told["glm5"]) < 0.5,
        found,
        "the same, in two units; nor was it measured (C116)",
    )


@CONTRADICTIONS.claim("X38", "GLM-5, MiniMax", "1.85e-16 is far better than 1.25e-10")
def _(runs: Runs) -> Finding:
    rows = {m: metrics(m) for m in ("glm5", "minimax-m2.7")}
    found = "; ".join(
        f"{NAMES[m]}: maximum norm {span(r[0] for r in got)}, element by element {span(r[2] for r in got)}"
        for m, got in rows.items()
    )
    ends = [[max(r[i] for r in got) for i in (0, 2)] for got in rows.values()]
    return settled(
        all(0.1 < a / b < 10 for a, b in zip(*ends, strict=True)),
        found,
        "two metrics; both programs have both figures",
    )


def _height(node: ast.stmt) -> int:
    """Lines of a statement."""
    return (node.end_lineno or node.lineno) - node.lineno + 1


@CONTRADICTIONS.claim("X39", "MiniMax", "a docstring of 80 lines is three times the code")
def _(runs: Runs) -> Finding:
    text = (folder("minimax-m2.7", TASK) / "flash_attention.py").read_text()
    first = next(n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef))
    doc = _height(first.body[0])
    own = _height(first) - doc
    code = len(re.findall(r"^\s*[^\s#]", text, re.MULTILINE)) - doc
    found = f"a docstring of {doc} lines, {own} lines of the function's own, {code} of code in the file"
    return settled(
        2 * own < doc < code,
        found,
        f"{doc / own:.1f} times its function, {doc / code:.1f} of the file's code",
    )
