"""Fused softmax and top-k: what the analyses say, and what is measured."""

from __future__ import annotations

from functools import cache

import numpy as np

from tools.claims.claim import PARTLY, Finding, Section, whether
from tools.claims.figures import each, under
from tools.claims.kernels import (
    KERNELS,
    compiled,
    counted,
    in_order,
    launched,
    normal,
    reading,
    refused_by_the_compiler,
    told,
)
from tools.claims.online_softmax import merged, running
from tools.claims.runs import Runs

__all__ = ["FUSE", "TASK", "V_GPT2", "passes", "warps"]

TASK = "fuse"
FUSE = Section("fuse", "Fused softmax and top-k")

#: GPT-2's vocabulary, which the analyses name.
V_GPT2 = 50257


def passes() -> dict[str, float]:
    """Logits read per logit of a row."""
    return {name: counted(name) for name in KERNELS}


@FUSE.claim("C030", "all", "GLM-5 reads every logit once, the others three times")
def _(runs: Runs) -> Finding:
    found = passes()
    right = [found[n] for n in ("GLM-5", "Qwen3-6 v1", "MiniMax")] == [1.0, 3.0, 3.0]
    return whether(
        right, "loads counted on the emulator, per logit: " + each((n, f"{p:.1f}") for n, p in found.items())
    )


@cache
def _recurrence(parts: int) -> float:
    """Relative error of the running sum against two passes, in float64, a row read in so many stripes."""
    x = normal(1, V_GPT2, seed=5, scale=3.0)[0].astype(np.float64)
    m, d = merged(running(x[part::parts]) for part in range(parts))
    return abs(d - float(np.exp(x - x.max()).sum())) / d + abs(m - float(x.max()))


@FUSE.claim("C031", "GLM-5", "the running maximum and sum give softmax")
def _(runs: Runs) -> Finding:
    error = _recurrence(1)
    return whether(error < 1e-12, f"sum of {V_GPT2:,} terms {under([error])} off two passes, float64")


@FUSE.claim("C032", "GLM-5", "partial results of lanes merge exactly")
def _(runs: Runs) -> Finding:
    error = _recurrence(32)
    return whether(error < 1e-12, f"32 strided parts {under([error])} off the whole row, float64")


@FUSE.claim("C033", "all", "ranking logits is ranking probabilities")
def _(runs: Runs) -> Finding:
    wide = normal(16, 1000, seed=7, scale=200.0)
    right = {}
    for name in ("GLM-5", "Qwen3-6 v1", "MiniMax"):
        K = 16 if "Qwen" in name else 10
        right[name] = told(launched(name, wide, K), wide, K).right
    shown = each((name, f"{n} of 16") for name, n in right.items())
    holds = right["GLM-5"] == right["Qwen3-6 v1"] == 16 > right["MiniMax"]
    return Finding(
        f"in float32 not: rows right on logits × 200: {shown}; MiniMax ranks probabilities, which are 0 "
        "from about 103 below the maximum on",
        PARTLY if holds else "**open**",
    )


def _instances(name: str) -> tuple[int, ...]:
    source = reading(name)
    (kernel,) = source.kernels
    parameter = "TOP_K" if name == "MiniMax" else "K"
    return source.offered(kernel, parameter)


def _range(runs: Runs, model: str, name: str, largest: int, beyond: set[int]) -> Finding:
    most = {int(f) for f in runs.figures(TASK, model, "k_range", "largest K that is right")}
    refused = {
        int(k)
        for e in runs.evidence(TASK, model, "k_range", "refused K")
        for k in str(e.measured).split(", ")
    }
    held = in_order(_instances(name))
    found = f"right up to K = {max(most)}; instances {held}; refused: {in_order(sorted(refused))}"
    return whether(most == {largest} and beyond <= refused, found)


@FUSE.claim("C034", "GLM-5", "K up to 32, four instances", "k_range, experiment")
def _(runs: Runs) -> Finding:
    return _range(runs, "glm5", "GLM-5", 32, {33, 256})


@FUSE.claim("C035", "Qwen3-6", "K up to 256, five instances", "k_range, experiment")
def _(runs: Runs) -> Finding:
    return _range(runs, "qwen36", "Qwen3-6 v1", 256, {33, 100})


@FUSE.claim("C036", "MiniMax", "K is rounded up to 10, 50 or 100")
def _(runs: Runs) -> Finding:
    logits = normal(4, 1000, seed=8)
    seven = told(launched("MiniMax", logits, 7, stride=10), logits, 7)
    beyond = launched("MiniMax", logits, 120)
    found = (
        f"K = 7: {seven.right} of 4 rows right at an output stride of 10; "
        f"K = 120: {beyond.status}, code {beyond.code}"
    )
    return whether(_instances("MiniMax") == (10, 50, 100) and seven.right == 4 and beyond.code == 1, found)


@cache
def warps() -> dict[int, tuple[int, int, float]]:
    """GLM-5 on 64 rows of 1024, K = 10: warps per block → rows right, rows written, share of the mass."""
    logits = normal(64, 1024, seed=1)
    answers = {
        W: told(launched("GLM-5", logits, 10 if W == 1 else 100 + W), logits, 10) for W in (1, 2, 4, 8)
    }
    return {W: (a.right, a.written, a.mass) for W, a in answers.items()}


@FUSE.claim(
    "C037", "GLM-5", "the merge is wrong with several warps per block", "experiment, rows_independent"
)
def _(runs: Runs) -> Finding:
    found = warps()
    shown = ", ".join(f"W = {W}: {r} right, {n} written" for W, (r, n, _) in found.items() if W > 1)
    failed = runs.verdict(TASK, "glm5", "rows_independent") == "fail"
    return whether(failed and all(found[W][0] == 0 for W in (2, 4, 8)), f"of 64 rows {shown}")


@FUSE.claim("C038", "GLM-5", "it is right with one warp per block", "experiment, rows_independent")
def _(runs: Runs) -> Finding:
    words = "WARPS_PER_BLOCK = 1: rows of disjoint ranges"
    variant = [(e.measured, e.limit) for e in runs.evidence(TASK, "glm5", "rows_independent", words)]
    right = warps()[1][0]
    apart, rows = variant[0]
    found = f"{right} of 64 rows right, and {apart} of {rows} with ranges of their own"
    return whether(right == 64 and all(good == every for good, every in variant), found)


@FUSE.claim("C039", "GLM-5", "one warp owns a row")
def _(runs: Runs) -> Finding:
    logits = normal(13, 1024, seed=9)
    answer = launched("GLM-5", logits, 108)
    rows = told(answer, logits, 10)
    faults = [event.kind for event in answer.events if event.severity == "fault"]
    found = (
        f"while it reads, not while it merges: with W = 8, {rows.written} of 13 rows are written; "
        f"no thread returns before the barrier, {len(faults)} faults"
    )
    return Finding(found, PARTLY if rows.written == 2 and not faults else "**no**")


@FUSE.claim("C040", "MiniMax", "a launch names an argument that is not declared", "experiment, compiles")
def _(runs: Runs) -> Finding:
    said = [d for d in refused_by_the_compiler("MiniMax").diagnostics if d.severity == "error"]
    failed = runs.verdict(TASK, "minimax-m2.7", "compiles") == "fail"
    named = len(said) == 1 and "topp_prob" in said[0].text
    return whether(failed and named, f"{len(said)} error, line {said[0].line}: topp_prob; compiles says fail")


@FUSE.claim("C041", "MiniMax", "launch bounds with a template parameter do not compile")
def _(runs: Runs) -> Finding:
    (kernel,) = reading("MiniMax").kernels
    done = compiled("MiniMax")
    templated = set(kernel.bounds) <= {p.name for p in kernel.template}
    word = "accepted" if done.ok else "refused"
    found = f"`__launch_bounds__({', '.join(kernel.bounds)})` is {word} once that name is put right"
    return whether(not (done.ok and templated), found)


@FUSE.claim("C042", "MiniMax", "lists of more than 32 entries are copied by one warp alone")
def _(runs: Runs) -> Finding:
    logits = normal(4, 1000, seed=10)
    places = {K: told(launched("MiniMax", logits, K), logits, K).places for K in (10, 50, 100)}
    first = {K: p.index(False) if False in p else K for K, p in places.items()}
    found = "places right before the first wrong one: " + ", ".join(f"K = {K}: {n}" for K, n in first.items())
    return whether(first == {10: 10, 50: 32, 100: 32}, found)


@FUSE.claim("C043", "MiniMax", "two arrays of THREADS per thread in the merge")
def _(runs: Runs) -> Finding:
    stacks = {u.kernel: u.stack for u in compiled("MiniMax").usages}
    arrays = 2 * 4 * int(reading("MiniMax").constants["DEFAULT_THREADS"])
    sizes = in_order(sorted(stacks.values()))
    found = f"{sizes} bytes of local memory per thread, {arrays:,} of them those arrays; legal up to 512 KB"
    return whether(len(stacks) == 3 and all(arrays <= size < 1 << 19 for size in stacks.values()), found)
