"""Fused softmax and top-k: where the analyses contradict themselves."""

from __future__ import annotations

from tools.claims.claim import Finding, Section, settled
from tools.claims.figures import each, rounded
from tools.claims.fuse import passes, warps
from tools.claims.fuse_cost import RIDGE, hits, intensities, unaligned
from tools.claims.kernels import calls_of, compiled, launched, normal, reading, refused_by_the_compiler, told
from tools.claims.runs import Runs

__all__ = ["CONTRADICTIONS"]

CONTRADICTIONS = Section("fuse-x", "Fused softmax and top-k: contradictions", "Settled")


@CONTRADICTIONS.claim("X01", "GLM-5", "right, or wrong with several warps per block")
def _(runs: Runs) -> Finding:
    found = warps()
    shown = "; ".join(
        f"W = {W}: {r} of 64 rows right, mass × {rounded(mass)}" for W, (r, _, mass) in found.items()
    )
    return settled(
        found[1][0] == 64 and not any(found[W][0] for W in (2, 4, 8)),
        shown,
        "both: right with one warp per block, which is not its default",
    )


@CONTRADICTIONS.claim("X06", "Qwen3-6", "twelve times more reads")
def _(runs: Runs) -> Finding:
    ratio = passes()["Qwen3-6 v1"] / passes()["GLM-5"]
    return settled(ratio == 3, f"{ratio:.0f} times those of GLM-5", "three; 12 V and 4 V are bytes")


@CONTRADICTIONS.claim("X07", "Qwen3-6", "two passes or three")
def _(runs: Runs) -> Finding:
    found = passes()
    return settled(
        found["Qwen3-6 v1"] == 3 and found["Qwen3-6 v2"] == 2,
        f"reads of each logit: v1 {found['Qwen3-6 v1']:.0f}, v2 {found['Qwen3-6 v2']:.0f}",
        "two for softmax, one more to select; v2 saves one",
    )


@CONTRADICTIONS.claim(
    "X08",
    "GLM-5, MiniMax",
    "1.5 and 0.8 operations per byte with 3 and 4 times less traffic, both called right",
)
def _(runs: Runs) -> Finding:
    reads = passes()
    gains = {name: (3 / reads[name], 5 / reads[name]) for name in ("GLM-5", "MiniMax")}
    shown = each((name, f"{low:.1f} … {high:.1f}") for name, (low, high) in gains.items())
    return settled(
        gains["MiniMax"][1] < 2 < gains["GLM-5"][0],
        f"traffic of a naive pipeline of 3 V to 5 V over what is read: {shown}",
        "both are bound by bandwidth; only GLM-5 saves what it says",
    )


@CONTRADICTIONS.claim("X09", "MiniMax", "launch bounds must not depend on a template")
def _(runs: Runs) -> Finding:
    done = compiled("MiniMax")
    return settled(done.ok, f"{len(done.usages)} instances compiled", "they may")


@CONTRADICTIONS.claim("X10", "MiniMax", "six bugs stop compilation")
def _(runs: Runs) -> Finding:
    errors = [d for d in refused_by_the_compiler("MiniMax").diagnostics if d.severity == "error"]
    logits = normal(4, 1000, seed=10)
    right = {K: told(launched("MiniMax", logits, K), logits, K).right for K in (10, 50, 100)}
    shown = ", ".join(f"K = {K}: {n} of 4 rows right" for K, n in right.items())
    return settled(
        len(errors) == 1 and compiled("MiniMax").ok and right == {10: 4, 50: 0, 100: 0},
        f"{len(errors)} error; with that name put right it compiles, and {shown}",
        "one stops compilation, one makes K above 32 wrong, four are none",
    )


@CONTRADICTIONS.claim("X11", "MiniMax", "no templates, and bugs in template parameters")
def _(runs: Runs) -> Finding:
    source = reading("MiniMax")
    (kernel,) = source.kernels
    names = [parameter.name for parameter in kernel.template]
    used = {launch.template for launch in source.launches}
    return settled(
        names == ["THREADS", "TOP_K"] and len(used) == 3,
        f"template parameters {', '.join(names)}; {len(used)} instances launched",
        "it is a template; instances come from its launches",
    )


@CONTRADICTIONS.claim("X24", "Qwen3-6", "credited with vector loads whose function is dead")
def _(runs: Runs) -> Finding:
    calls = calls_of("Qwen3-6 v2", ("process_float4", "warp_topk_merge"))
    reads = passes()["Qwen3-6 v2"]
    return settled(
        not any(calls.values()) and reads == 2,
        f"process_float4 is called {calls['process_float4']} times; float4 loads beside it read each logit "
        f"{reads:.0f} times",
        "both hold",
    )


@CONTRADICTIONS.claim("X25", "Qwen3-6", "its analysis is praised and called wrong")
def _(runs: Runs) -> Finding:
    value = intensities()["Qwen3-6 v1"]
    return settled(
        value < RIDGE, f"{value:.1f} operations per byte, ridge {RIDGE:.1f}", "its conclusion is wrong"
    )


CONTRADICTIONS.listed("X26", "Qwen3-6", "50257 is LLaMA's vocabulary", "external")
CONTRADICTIONS.listed("X52", "all", "verdicts on files that were not read", "prose")


@CONTRADICTIONS.claim("X54", "MiniMax", "charged for a structure that GLM-5 has too")
def _(runs: Runs) -> Finding:
    share = hits(32) / 50257
    return settled(
        share < 0.01,
        f"both shift a sorted list; at K = 32 {100 * share:.1f} % of 50,257 logits enter one list",
        "it costs little in either",
    )


@CONTRADICTIONS.claim("X56", "Qwen3-6", "rows of 50257 floats are aligned for vector loads")
def _(runs: Runs) -> Finding:
    one, four, rest = unaligned()
    return settled(
        four != "right" and rest == 4,
        f"one row {one}; four rows: {four.replace('_', ' ')}",
        "three rows of four are not; a tail loop cures only the end of a row",
    )
