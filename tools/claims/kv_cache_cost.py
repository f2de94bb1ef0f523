"""KV cache: memory and operations; what the analyses say, and what is measured."""

from __future__ import annotations

from functools import cache

from tools.claims.claim import PARTLY, Finding, whether
from tools.claims.kv_cache import ALL, KV, TASK, module_of
from tools.claims.programs import program
from tools.claims.runs import Runs

__all__ = ["max_context", "speedups"]


@cache
def max_context(reserve: float = 0.1, gb: float = 2**30, kv_heads: int = 32) -> int:
    """Tokens of the 7B model on an 80 GB GPU, by Qwen3-6's function.

    Args:
        reserve: Share of the memory that is kept free.
        gb: Bytes of a GB.
        kv_heads: Heads of keys and values, of 32.
    """
    module = program("qwen36", TASK, "memory_analysis")
    model = module.ModelSpec("7B", 32, 32, kv_heads, 128, 6.738e9)
    gpu = module.GPUSpec("80 GB", 80 * gb / 2**30, 3350)
    return int(module.find_max_context(model, gpu, reserve_fraction=reserve))


@KV.claim("C076", "Qwen3-6", "a 7B model has room for 121K tokens on 80 GB", "experiment, memory_model")
def _(runs: Runs) -> Finding:
    tokens = max_context()
    found = f"{tokens:,}, with 2^30 bytes a GB, 10 % kept free, float16, 32 KV heads; see X30"
    return whether(tokens // 1000 == 121 and runs.verdict(TASK, "qwen36", "memory_model") == "pass", found)


def speedups(prompt: int = 1024, new: int = 100) -> tuple[float, float]:
    """Operations of attention without a cache over those with one.

    Args:
        prompt: Tokens of the prompt.
        new: Tokens that are generated.

    Returns:
        GLM-5's count, and the one that charges each step its own length.
    """
    module = module_of("glm5")
    told = module.flops_comparison(prompt, new, 32, 128)
    own = sum(module.attention_flops(n, n, 32, 128) for n in range(prompt + 1, prompt + new + 1))
    return float(told["speedup"]), own / told["flops_with"]


@KV.claim("C077", "GLM-5", "109 times fewer operations at 1024 + 100 tokens")
def _(runs: Runs) -> Finding:
    told, own = speedups()
    found = f"{told:.1f} when every uncached step is charged the final length, {own:.1f} at its own (X29)"
    return Finding(found, PARTLY if round(told) == 109 else "**no**")


@KV.claim("C078", "all", "memory grows linearly, 524,288 bytes per token at 7B", "growth, memory_model")
def _(runs: Runs) -> Finding:
    powers = [f for m in ALL for f in runs.figures(TASK, m, "growth", "tokens fed one by one: exponent")]
    token = module_of("glm5").kv_cache_bytes(32, 32, 128, 1, bytes_per_elem=2)
    found = f"exponent {min(powers):.2f}; {token:,} bytes per token; all three formulas are the closed form"
    return whether(token == 524_288 and runs.passes(TASK, ALL, "growth", "memory_model"), found)
