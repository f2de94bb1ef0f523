"""KV cache: where the analyses contradict themselves."""

from __future__ import annotations

from tools.claims.claim import Finding, Section, settled
from tools.claims.figures import each, span
from tools.claims.kv_cache import ALL, TASK, causal_masks
from tools.claims.kv_cache_cost import max_context, speedups
from tools.claims.kv_cache_layouts import quantized_errors
from tools.claims.programs import lines
from tools.claims.runs import Runs

__all__ = ["CONTRADICTIONS"]

CONTRADICTIONS = Section("kv-x", "KV cache: contradictions", "Settled")


@CONTRADICTIONS.claim(
    "X12", "MiniMax", "all three optimisations are there, or two are not", "chunked_prefill, quantized"
)
def _(runs: Runs) -> Finding:
    told = {c: runs.verdict(TASK, "minimax-m2.7", c) for c in ("paged", "chunked_prefill", "quantized")}
    return settled(
        list(told.values()) == ["pass", "skip", "skip"],
        each(told.items()),
        "paging is there, the others in words",
    )


@CONTRADICTIONS.claim("X13", "all", "1720 lines are given for two different files")
def _(runs: Runs) -> Finding:
    counts = {m: lines(m, TASK)[0] for m in ALL}
    return settled(
        counts["minimax-m2.7"] == 1720 != counts["qwen36"],
        "all lines of Python: " + each((m, f"{n:,}") for m, n in counts.items()),
        "they are MiniMax's single file",
    )


@CONTRADICTIONS.claim("X14", "MiniMax", "all its tests pass", "own_tests, size")
def _(runs: Runs) -> Finding:
    tests = runs.own_tests(TASK, "minimax-m2.7")
    verdict = runs.verdict(TASK, "minimax-m2.7", "incremental_equals_full")
    found = f"{tests} tests; its script ends without an error, and `incremental_equals_full` says {verdict}"
    return settled(tests == 0 and verdict == "fail", found, "there are none")


@CONTRADICTIONS.claim(
    "X27", "GLM-5", "a scale per token, head and width, symmetric: errors 0.004, 0.07, half the bytes"
)
def _(runs: Runs) -> Finding:
    rows = {head: quantized_errors(head) for head in (8, 64, 128)}
    found = "; ".join(
        f"head size {h}: {a:.4f}, {b:.3f}, {r:.3f} of the bytes" for h, (a, b, r) in rows.items()
    )
    return settled(
        rows[8][2] == 0.5 and rows[128][2] < 0.3 and rows[128][0] > 1.2 * rows[8][0],
        found,
        "asymmetric, a scale and a zero per token and head; the three figures are those of head size 8",
    )


@CONTRADICTIONS.claim("X28", "Qwen3-6", "int8 is larger by 125 %, or by 350 %", "quantized")
def _(runs: Runs) -> Finding:
    taken = max(runs.figures(TASK, "qwen36", "quantized", "bytes per number with its scales"))
    saved = [f"{100 * (1 - taken / size):.0f} % of {name}" for name, size in (("float32", 4), ("float16", 2))]
    found = f"{taken:g} bytes per number: saves {', '.join(saved)}"
    return settled(taken == 9, found, "both, on two bases; a scale and a zero for every number")


@CONTRADICTIONS.claim("X29", "GLM-5", "a cache makes generation 109 times cheaper")
def _(runs: Runs) -> Finding:
    told, own = speedups()
    prompt, new = 1024, 100
    tokens = sum(range(prompt + 1, prompt + new + 1)) / (prompt + new)
    steps = sum(n * n for n in range(prompt + 1, prompt + new + 1)) / sum(range(prompt + 1, prompt + new + 1))
    found = (
        f"{told:.1f} at the final length, {own:.1f} at each step's own, {tokens:.1f} by tokens that pass "
        f"through the model, {steps:.0f} for decoding alone"
    )
    return settled(own < told < steps, found, "each is right for what it counts")


@CONTRADICTIONS.claim("X30", "Qwen3-6", "121K tokens are the room on an 80 GB GPU")
def _(runs: Runs) -> Finding:
    sets = {
        "nothing kept free": max_context(0.0),
        "GB of 10^9": max_context(0.0, 1e9),
        "10 % free": max_context(),
        "twice the weights kept free": max_context(2 * 13.476e9 / (80 * 2**30)),
        "8 KV heads": max_context(kv_heads=8),
    }
    found = each((name, f"{tokens:,}") for name, tokens in sets.items())
    return settled(
        max(sets.values()) > 3 * min(sets.values()), found, "121K is one set of assumptions among many"
    )


CONTRADICTIONS.listed("X31", "all", "vLLM keeps a page per head, or coarser ones", "external")


@CONTRADICTIONS.claim("X32", "MiniMax", "the causal mask is all zeros")
def _(runs: Runs) -> Finding:
    masks = causal_masks()
    found = f"all ones for {sum(masks.values())} of {len(masks)} sizes"
    return settled(
        all(masks.values()), found, "all ones: it masks nothing, so that only a prefill goes wrong"
    )


@CONTRADICTIONS.claim(
    "X33", "GLM-5", "uneven batches work, or lack their masks", "variable_lengths, isolation"
)
def _(runs: Runs) -> Finding:
    worst = runs.figures(TASK, "glm5", "variable_lengths", "largest relative error")
    padding = str(runs.evidence(TASK, "glm5", "isolation", "padding of the prompts")[0].measured)
    found = f"{span([max(worst)])} off solo runs at most; with 1e30 in the padding {padding}"
    return settled(runs.passes(TASK, ["glm5"], "variable_lengths", "isolation"), found, "they work")
