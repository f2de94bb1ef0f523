"""KV cache in pages, in chunks and in few bits: what the analyses say, and what is measured."""

from __future__ import annotations

import re
from functools import cache

import numpy as np

from tools.claims.claim import PARTLY, Finding, whether
from tools.claims.figures import each, under
from tools.claims.kv_cache import ALL, KV, TASK, demo
from tools.claims.programs import program
from tools.claims.runs import Runs

__all__ = ["quantized_errors"]


@KV.claim("C066", "all", "the paged cache works", "paged")
def _(runs: Runs) -> Finding:
    read = [f for m in ALL for f in runs.figures(TASK, m, "paged", "what it took, read back")]
    exact = "exactly" if max(read) == 0 else under(read)
    found = f"read back {exact}, with sequences that grow, go and come again"
    return whether(runs.passes(TASK, ALL, "paged"), found)


@KV.claim("C067", "GLM-5, Qwen3-6", "blocks come back to a free list", "paged")
def _(runs: Runs) -> Finding:
    fits = {m: runs.figures(TASK, m, "paged", "tokens that fit") for m in ALL}
    whole = {m: runs.said(TASK, m, "paged", r"^(\d+) tokens") for m in ALL}
    kept = all(f == float(whole[m]) for m in ALL for f in fits[m])
    found = "after 10,000 sequences came and went as many tokens fit as at first: " + each(whole.items())
    return whether(kept and runs.passes(TASK, ALL[:2], "paged"), found)


@cache
def quantized_errors(head: int, seed: int = 6) -> tuple[float, float, float]:
    """What GLM-5's quantization loses and saves, on normal data of standard deviation 2.

    Args:
        head: Head size.
        seed: Of the data.

    Returns:
        Mean absolute errors at 8 and at 4 bits, and bytes at 8 bits over those of float32.
    """
    module = program("glm5", TASK, "optimizations")
    x = (2 * np.random.default_rng(seed).standard_normal((64, 64, head))).astype(np.float32)
    errors = [float(np.mean(np.abs(module.dequantize(*module.quantize(x, bits)) - x))) for bits in (8, 4)]
    return errors[0], errors[1], float(module.QuantizedKVCache(1, 2, 16, head, bits=8).compression_ratio())


@KV.claim("C068", "GLM-5", "mean errors of 0.004 at 8 bits and 0.07 at 4", "experiment, quantized")
def _(runs: Runs) -> Finding:
    eight, four, _ = quantized_errors(8)
    steps = runs.figures(TASK, "glm5", "quantized", "in steps of its own scale")
    found = (
        f"{eight:.4f} and {four:.3f} on data of standard deviation 2 at head size 8 (X27); never more than "
        f"{max(steps):.2f} of a step"
    )
    return whether(abs(eight - 0.004) < 0.001 and abs(four - 0.07) < 0.01, found)


@KV.claim("C069", "GLM-5", "4 bits pack two values into a byte", "experiment, quantized")
def _(runs: Runs) -> Finding:
    module = program("glm5", TASK, "optimizations")
    codes = np.arange(16, dtype=np.uint8)[None]
    packed = module.pack_int4(codes)
    odd = str(runs.evidence(TASK, "glm5", "quantized", "4 bits: head size 7")[0].measured).split(":")[0]
    exact = np.array_equal(module.unpack_int4(packed), codes)
    word = "exact" if exact else "lossy"
    found = f"{codes.nbytes} codes in {packed.nbytes} bytes, {word}; an odd head size is {odd}"
    return whether(exact and 2 * packed.nbytes == codes.nbytes and odd == "refused", found)


@KV.claim("C070", "GLM-5", "8 bits take half of the float32 bytes")
def _(runs: Runs) -> Finding:
    ratios = {head: quantized_errors(head)[2] for head in (8, 64, 128)}
    found = ", ".join(f"{r:.3f} at head size {head}" for head, r in ratios.items())
    return Finding(found, PARTLY if ratios[8] == 0.5 != ratios[64] else "**no**")


def _per_number(runs: Runs) -> float:
    """Bytes that a quantized number of Qwen3-6 takes with its scales."""
    return max(runs.figures(TASK, "qwen36", "quantized", "bytes per number with its scales"))


@KV.claim("C071", "Qwen3-6", "int8 saves −125 % against float32", "quantized")
def _(runs: Runs) -> Finding:
    taken = _per_number(runs)
    saved = 100 * (1 - taken / 4)
    return whether(round(saved) == -125, f"{taken:g} bytes per number: {saved:.0f} %")


@KV.claim("C072", "Qwen3-6", "its quantization works, though it saves nothing", "quantized")
def _(runs: Runs) -> Finding:
    largest = max(runs.figures(TASK, "qwen36", "quantized", "at once: largest |x − dequantized|, numbers"))
    verdict = runs.verdict(TASK, "qwen36", "quantized")
    found = (
        f"a prompt comes back to {largest:.4f} on numbers in ±1, half a step; verdict {verdict}, for "
        f"{_per_number(runs):g} bytes per number"
    )
    return Finding(found, PARTLY if verdict == "fail" and largest < 0.006 else "yes")


@KV.claim("C073", "GLM-5", "chunked prefill makes up its queries", "chunked_prefill")
def _(runs: Runs) -> Finding:
    said = {
        str(e.measured).split(" (")[0]
        for e in runs.evidence(TASK, "glm5", "chunked_prefill", "rows of a prompt")
    }
    return whether(runs.verdict(TASK, "glm5", "chunked_prefill") == "fail", "; ".join(said))


@KV.claim("C074", "Qwen3-6", "chunked prefill is causal", "chunked_prefill")
def _(runs: Runs) -> Finding:
    worst = runs.figures(TASK, "qwen36", "chunked_prefill", "its rows against full causal attention")
    return whether(
        runs.verdict(TASK, "qwen36", "chunked_prefill") == "pass", f"{under(worst)} off, chunks of 1 to 16"
    )


@KV.claim(
    "C088",
    "GLM-5, Qwen3-6",
    "paged, chunked, quantized; Qwen3-6 a hybrid too",
    "paged, chunked_prefill, quantized",
)
def _(runs: Runs) -> Finding:
    checks = ("paged", "chunked_prefill", "quantized")
    told = {m: ", ".join(f"{c} {runs.verdict(TASK, m, c)}" for c in checks) for m in ALL[:2]}
    hybrid = re.findall(r"hybrid[^\n]* (\d\.\d+e-\d+)", demo(8))
    found = "; ".join(each([item]) for item in told.items())
    return Finding(f"{found}; its hybrid runs, {hybrid[0]} off at most", PARTLY if "fail" in found else "yes")


@KV.claim("C089", "MiniMax", "chunking and quantization are not implemented", "chunked_prefill, quantized")
def _(runs: Runs) -> Finding:
    told = [runs.outcomes(TASK, "minimax-m2.7", check)[0] for check in ("chunked_prefill", "quantized")]
    return whether(
        all(str(o.verdict) == "skip" for o in told), "; ".join(f"{o.verdict}: {o.summary}" for o in told)
    )
