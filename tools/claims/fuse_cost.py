"""Fused softmax and top-k: structures, alignment, memory and traffic; what is said, and what is measured."""

from __future__ import annotations

import math
import re
from functools import cache

import numpy as np

from tools.claims.claim import PARTLY, Finding, whether
from tools.claims.figures import each, rounded
from tools.claims.fuse import FUSE, TASK, V_GPT2, passes
from tools.claims.kernels import KERNELS, calls_of, compiled, counted, launched, normal, reading, text, told
from tools.claims.programs import folder
from tools.claims.runs import Runs

__all__ = ["RIDGE", "hits", "intensities", "unaligned"]

#: float32 operations per byte at which an A100 (19.5 TFLOP/s, 2.039 TB/s) is bound by both.
RIDGE = 19.5 / 2.039
_EXPONENTIALS = {
    "GLM-5": (("__expf(", "(judge_step(), __expf)("),),
    "Qwen3-6 v1": (("expf(", "(judge_step(), expf)("),),
    "MiniMax": (("expf(", "(judge_step(), expf)("),),
}


@FUSE.claim("C044", "Qwen3-6", "insertion O(log K), final sort O(K²)")
def _(runs: Runs) -> Finding:
    swap = (("root = smallest;", "root = smallest; judge_step();"),)
    enter = (("s_heap_vals[0] = s_stage_vals[i];", "s_heap_vals[0] = s_stage_vals[i]; judge_step();"),)
    compare = (("for (int j = i + 1; j < K; ++j) {", "for (int j = i + 1; j < K; ++j) { judge_step();"),)
    steps = {
        K: counted("Qwen3-6 v1", swap, 4000, K) / counted("Qwen3-6 v1", enter, 4000, K) for K in (16, 256)
    }
    sort = counted("Qwen3-6 v1", compare, 4000, 256)
    found = (
        "swaps per insertion "
        + ", ".join(f"{s:.1f} at K = {K} (log₂ K = {math.log2(K):.0f})" for K, s in steps.items())
        + f"; the sort compares {sort:,.0f} times at K = 256"
    )
    return whether(all(s <= math.log2(K) for K, s in steps.items()) and sort == 256 * 255 / 2, found)


@cache
def unaligned() -> tuple[str, str, int]:
    """What Qwen3-6's second kernel does with one row and with four of 50,257; 50,257 · 4 mod 16."""
    logits = normal(4, V_GPT2, seed=11)
    alone, four = launched("Qwen3-6 v2", logits[:1], 16), launched("Qwen3-6 v2", logits, 16)
    kinds = {event.kind for event in four.events if event.severity == "fault"}
    right = f"{told(alone, logits[:1], 16).right} of 1 right"
    return right, ", ".join(sorted(kinds)) if four.device_error else "right", 4 * V_GPT2 % 16


@FUSE.claim("C045", "Qwen3-6", "the second kernel's vector loads are aligned")
def _(runs: Runs) -> Finding:
    one, four, rest = unaligned()
    found = (
        f"V = {V_GPT2:,}: one row {one}, four rows {four.replace('_', ' ')}; "
        f"the second row begins {rest} past a multiple of 16"
    )
    return whether(four == "right", found)


@FUSE.claim(
    "C046", "Qwen3-6", "two functions of the second kernel are never called, and nothing sorts bitonically"
)
def _(runs: Runs) -> Finding:
    calls = calls_of("Qwen3-6 v2", ("warp_topk_merge", "process_float4"))
    sorts = [f.short for f in reading("Qwen3-6 v2").functions if "bitonic" in f.short]
    words = len(re.findall("bitonic", text("Qwen3-6 v2"), re.I))
    found = "calls: " + each((name, str(n)) for name, n in calls.items())
    return whether(
        not any(calls.values()) and not sorts and words > 0,
        f"{found}; 'bitonic' stands in {words} comments and in no function",
    )


@FUSE.claim("C047", "Qwen3-6", "warps merge in turn behind barriers", "memory_safety")
def _(runs: Runs) -> Finding:
    found = runs.said(TASK, "qwen36", "memory_safety", r"^(.+)$")
    return whether(runs.passes(TASK, ["qwen36"], "memory_safety"), found)


@FUSE.claim("C048", "all", "no whole softmax is written", "no_materialize, experiment")
def _(runs: Runs) -> Finding:
    logits = normal(4, 1000, seed=12)
    scratch = {name: launched(name, logits, 16 if "Qwen" in name else 10).peak_bytes for name in KERNELS}
    passed = runs.passes(TASK, ["glm5", "qwen36"], "no_materialize")
    return whether(
        passed and not any(scratch.values()),
        "bytes of scratch memory: " + each((n, str(b)) for n, b in scratch.items()),
    )


@FUSE.claim("C049", "all", "stable against an offset", "numerics, experiment")
def _(runs: Runs) -> Finding:
    logits = normal(4, 1000, seed=13)
    right = {}
    for name in KERNELS:
        K = 16 if "Qwen" in name else 10
        shifted = (np.round(logits * 64) / 64 + 1e4).astype(np.float32)
        right[name] = told(launched(name, shifted, K), shifted, K).right
    passed = runs.passes(TASK, ["glm5"], "numerics")
    return whether(
        passed and set(right.values()) == {4},
        "of 4 rows at 1e4 right: " + each((n, str(r)) for n, r in right.items()),
    )


@FUSE.claim("C050", "all", "large vocabularies work")
def _(runs: Runs) -> Finding:
    right: dict[str, list[int]] = {name: [] for name in KERNELS}
    for V in (31, 32, 33, 1000, V_GPT2, 1_000_000):
        logits = normal(1, V, seed=14, scale=2.0)
        for name in KERNELS:
            K = 16 if "Qwen" in name else 10
            if told(launched(name, logits, K), logits, K).right:
                right[name].append(V)
    shown = "one row of 31, 32, 33, 1,000, 50,257 and 1,000,000: "
    return whether(
        all(len(found) == 6 for found in right.values()),
        shown + each((name, f"{len(found)} of 6 right") for name, found in right.items()),
    )


@cache
def intensities() -> dict[str, float]:
    """Operations per byte: 10 for an exponential, 6 for the rest of a logit, over bytes that are read."""
    counts = {name: counted(name, replaced, 4000) / 4000 for name, replaced in _EXPONENTIALS.items()}
    return {name: (10 * exps + 6) / (4 * passes()[name]) for name, exps in counts.items()}


@FUSE.claim("C051", "GLM-5, MiniMax", "bound by bandwidth")
def _(runs: Runs) -> Finding:
    found = {name: intensities()[name] for name in ("GLM-5", "MiniMax")}
    shown = each((name, f"{value:.1f}") for name, value in found.items())
    return whether(
        max(found.values()) < RIDGE,
        f"{shown} operations per byte, ten for every exponential counted; an A100 turns at {RIDGE:.1f}",
    )


@FUSE.claim("C052", "Qwen3-6", "its text calls it bound by arithmetic, rightly")
def _(runs: Runs) -> Finding:
    said = "compute-bound" in (folder("qwen36", TASK) / "ANALYSIS.md").read_text()
    value = intensities()["Qwen3-6 v1"]
    return whether(
        not (said and value < RIDGE), f"its text does; {value:.1f} operations per byte, counted alike"
    )


@FUSE.claim("C053", "GLM-5, MiniMax", "saves three and four times the traffic")
def _(runs: Runs) -> Finding:
    saved = {"GLM-5": 3 / passes()["GLM-5"], "MiniMax": 4 / passes()["MiniMax"]}
    found = (
        f"against their own baselines of 3 V and 4 V: GLM-5 {saved['GLM-5']:.1f} times, "
        f"MiniMax {saved['MiniMax']:.1f} times, for what is read"
    )
    return Finding(found, PARTLY if round(saved["GLM-5"]) == 3 and saved["MiniMax"] < 2 else "**no**")


@FUSE.claim("C054", "GLM-5", "about 2 KB of shared memory", "experiment")
def _(runs: Runs) -> Finding:
    shared = {u.shared for u in compiled("GLM-5").usages}
    return whether(2048 <= max(shared) <= 2200, f"{max(shared):,} bytes with eight warps per block")


@cache
def hits(K: int) -> float:
    """Insertions into one list of K while a row in random order is read, the mean of 20 rows."""
    counts = []
    for seed in range(20):
        x = normal(1, V_GPT2, seed=seed)[0]
        best = np.sort(x[:K])
        count = K
        for value in x[K:]:
            if value > best[0]:
                best[0] = value
                best.sort()
                count += 1
        counts.append(count)
    return float(np.mean(counts))


@FUSE.claim("C055", "GLM-5", "insertion O(K) per hit, and hits are rare")
def _(runs: Runs) -> Finding:
    found = {K: (hits(K), K * (1 + math.log(V_GPT2 / K))) for K in (10, 32, 256)}
    shown = "; ".join(f"K = {K}: {rounded(n, 3)} ({law:,.0f})" for K, (n, law) in found.items())
    return whether(
        all(abs(n / law - 1) < 0.1 for n, law in found.values()),
        f"hits on one list at V = {V_GPT2:,} (K (1 + ln(V/K))): {shown}",
    )


@FUSE.claim("C056", "Qwen3-6", "tested at V = 50257, K = 256")
def _(runs: Runs) -> Finding:
    there = re.search(
        r"\{\"[^\"]*\", 1, 1, 50257, 256\}", (folder("qwen36", TASK) / "benchmark.cu").read_text()
    )
    logits = normal(1, V_GPT2, seed=42, scale=2.0)
    right = {
        name: told(launched(name, logits, 256), logits, 256).right for name in ("Qwen3-6 v1", "Qwen3-6 v2")
    }
    found = "benchmark.cu has it, with a single row; there " + each(
        (n, "right" if r else "wrong") for n, r in right.items()
    )
    return whether(there is not None and set(right.values()) == {1}, found)
