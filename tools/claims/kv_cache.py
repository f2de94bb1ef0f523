"""KV cache: what the analyses say, and what is measured."""

from __future__ import annotations

import re
from functools import cache
from types import ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt

from tools.claims.claim import PARTLY, Finding, Section, whether
from tools.claims.figures import each, rounded, span, under
from tools.claims.programs import folder, program, quiet
from tools.claims.runs import Runs

__all__ = ["ALL", "KV", "TASK", "causal_masks", "demo", "module_of"]

TASK = "kv"
ALL = ("glm5", "qwen36", "minimax-m2.7")
KV = Section("kv", "KV cache")
Array = npt.NDArray[Any]


def module_of(model: str) -> ModuleType:
    """The file with a model's cache."""
    return program(model, TASK, "kv_cache")


@cache
def demo(number: int) -> str:
    """What a demo of Qwen3-6 prints."""
    module = program("qwen36", TASK, "demo")
    with quiet() as output:
        next(value for name, value in vars(module).items() if name.startswith(f"demo_{number}_"))()
    return output.getvalue()


@KV.claim("C060", "GLM-5", "cached attention equals uncached attention to 1e-5", "incremental_equals_full")
def _(runs: Runs) -> Finding:
    worst = runs.figures(TASK, "glm5", "incremental_equals_full", "decode steps, ")
    found = f"decode steps {under(worst)} off, float32; a prompt at once has no causal mask"
    return whether(max(worst) < 1e-5, found)


@KV.claim(
    "C061", "Qwen3-6", "3.9e-10 against a hand computation, chunks 4.6e-10", "experiment, chunked_prefill"
)
def _(runs: Runs) -> Finding:
    by_hand = [float(m) for m in re.findall(r"diff[^\n]*?(\d\.\d+e-\d+)", demo(2))]
    chunked = [float(m) for m in re.findall(r"attention (\d\.\d+e-\d+)", demo(7))]
    relative = runs.figures(TASK, "qwen36", "chunked_prefill", "its rows against full causal attention")
    near = all(0.1 < f / p < 10 for f, p in ((max(by_hand), 3.93e-10), (max(chunked), 4.56e-10)))
    found = (
        f"its demos print {rounded(max(by_hand))} and {rounded(max(chunked))}: absolute, on "
        f"activations of 0.006; relative to the row, chunks are {under(relative)} off in float32"
    )
    return Finding(found, PARTLY if near else "**no**")


@KV.claim("C062", "GLM-5, Qwen3-6", "batches of uneven lengths work", "variable_lengths, isolation")
def _(runs: Runs) -> Finding:
    worst = [f for m in ALL[:2] for f in runs.figures(TASK, m, "variable_lengths", "largest relative error")]
    padding = {
        str(runs.evidence(TASK, m, "isolation", "padding of the prompts")[0].measured) for m in ALL[:2]
    }
    found = f"every sequence {under(worst)} off its solo run; with 1e30 in the padding {', '.join(padding)}"
    return whether(runs.passes(TASK, ALL[:2], "variable_lengths", "isolation"), found)


def _empty_caches() -> dict[str, Any]:
    """Caches of two models for (2, 3, 8, 4): batch, heads, positions, width."""
    qwen = module_of("qwen36")
    return {
        "glm5": module_of("glm5").KVCache(2, 3, 8, 4),
        "qwen36": qwen.KVCache(qwen.CacheConfig(2, 3, 4, 8)),
    }


@KV.claim("C063", "GLM-5, Qwen3-6", "the layout is batch, head, position, width")
def _(runs: Runs) -> Finding:
    found = {}
    token = np.ones((2, 3, 1, 4), np.float32)
    for model, made in _empty_caches().items():
        made.update(token, token)
        before = made.cache_k.copy()
        made.update(2 * token, token)
        changed = np.argwhere(made.cache_k != before)
        found[model] = (before.shape, sorted(set(changed[:, 2].tolist())))
    shown = each((m, f"{shape}, token 1 written at {at} of axis 2") for m, (shape, at) in found.items())
    return whether(all(value == ((2, 3, 8, 4), [1]) for value in found.values()), shown)


@KV.claim("C064", "GLM-5", "the decoder runs a prefill, then steps", "incremental_equals_full")
def _(runs: Runs) -> Finding:
    worst = runs.figures(TASK, "glm5", "incremental_equals_full", "steps against a prefill of the whole")
    return whether(max(worst) < 1e-5, f"{under(worst)} off a prefill of the whole")


@KV.claim("C065", "all", "past tokens are not computed again", "growth")
def _(runs: Runs) -> Finding:
    work = {m: max(runs.figures(TASK, m, "growth", "over those of a prefill of as many")) for m in ALL}
    found = "work of n steps over that of a prefill of n, n = 32: " + each(
        (m, f"{w:.1f}") for m, w in work.items()
    )
    return whether(max(work.values()) < 2.5, found)


@KV.claim("C075", "Qwen3-6", "heads of keys and values can be shared (GQA, MQA)", "gqa")
def _(runs: Runs) -> Finding:
    worst = runs.figures(TASK, "qwen36", "gqa", "against")
    return whether(
        runs.verdict(TASK, "qwen36", "gqa") == "pass", f"{under(worst)} off the same with repeated heads"
    )


@KV.claim("C079", "MiniMax", "stack and attention disagree on the cache", "incremental_equals_full")
def _(runs: Runs) -> Finding:
    first = {
        str(e.measured)
        for e in runs.evidence(TASK, "minimax-m2.7", "incremental_equals_full", "a changed first token")
    }
    off = runs.figures(
        TASK, "minimax-m2.7", "incremental_equals_full", "steps against a prefill of the whole"
    )
    found = f"a changed first token {', '.join(first)} of a later step; steps {span(off)} off a prefill"
    return whether(runs.verdict(TASK, "minimax-m2.7", "incremental_equals_full") == "fail", found)


def _engine() -> tuple[Any, int]:
    """MiniMax's engine with three prompts started, and its width."""
    module = module_of("minimax-m2.7")
    config = module.KVCacheConfig(num_layers=2, num_heads=2, head_dim=4, max_batch_size=3, max_seq_len=16)
    engine = module.BatchedInferenceEngine(config, 0)
    rng = np.random.default_rng(0)
    engine.start_batch([rng.standard_normal((3, 8)).astype(np.float32) for _ in range(3)])
    return engine, config.embed_dim


@KV.claim("C080", "MiniMax", "finished sequences still take part", "experiment, variable_lengths")
def _(runs: Runs) -> Finding:
    engine, width = _engine()
    engine.record_token(0, 7, 7)
    rows: list[int] = []
    real = engine.stack.forward

    def spy(x: Array) -> object:
        rows.append(x.shape[0])
        return real(x)

    moved = np.random.default_rng(1).standard_normal((3, 1, width)).astype(np.float32)
    with patch.object(engine.stack, "forward", spy):
        used = int(np.any(engine.step_inference(moved), axis=1).sum())
    found = f"one of 3 is finished: the stack computes {rows[0]} rows, {used} of them are used"
    return whether(rows == [3], found)


def causal_masks() -> dict[tuple[int, int], bool]:
    """(queries, cached) → whether MiniMax's causal mask lets everything through."""
    attention = module_of("minimax-m2.7").MultiHeadAttention(8, 2)
    return {(s, c): bool(attention._create_causal_mask(s, s + c).all()) for s in (1, 4) for c in (0, 3, 7)}


@KV.claim(
    "C081",
    "MiniMax",
    "the causal mask is wrong, decoding right by accident",
    "experiment, incremental_equals_full",
)
def _(runs: Runs) -> Finding:
    masks = causal_masks()
    rows = runs.figures(TASK, "minimax-m2.7", "incremental_equals_full", "rows of a prompt against prompts")
    found = (
        f"{sum(masks.values())} of {len(masks)} masks (1 and 4 queries, 0, 3, 7 cached) let everything "
        f"through; rows of a prompt are {span(rows)} off, as they see later tokens"
    )
    return whether(all(masks.values()) and min(rows) > 0.01, found)


@KV.claim("C082", "MiniMax", "blocks belong to layer −1 at first")
def _(runs: Runs) -> Finding:
    module = module_of("minimax-m2.7")
    blocks = module.BlockAllocator(4, 2, 2, 4).blocks
    layers = sorted({block.layer_idx for block in blocks})
    return whether(
        layers == [-1], f"layer {', '.join(map(str, layers))} in all {len(blocks)} blocks of a new pool"
    )


@KV.claim("C083", "all", "no tests, 8 tests, 10 demos (MiniMax, GLM-5, Qwen3-6)", "own_tests, experiment")
def _(runs: Runs) -> Finding:
    tests = {m: runs.own_tests(TASK, m) for m in ALL}
    demos = sum(bool(re.match(r"demo_\d+_", name)) for name in vars(program("qwen36", TASK, "demo")))
    found = (
        each((m, f"{n} tests") for m, n in tests.items()) + f"; {demos} demos of Qwen3-6, run as one script"
    )
    return whether((tests["minimax-m2.7"], tests["glm5"], demos) == (0, 8, 10), found)


@KV.claim("C084", "Qwen3-6", "update takes one token of (batch, heads, 1, width), and nothing else")
def _(runs: Runs) -> Finding:
    made = _empty_caches()["qwen36"]
    two = np.ones((2, 3, 2, 4), np.float32)
    try:
        made.update(two, two)
        ended = f"two tokens are taken without a word, and {made.seq_lens[0]} is kept"
    except (ValueError, IndexError) as error:
        ended = f"two tokens are refused: {error}"
    return whether("kept" in ended, ended)


@KV.claim("C085", "Qwen3-6", "every step fetches the whole cache")
def _(runs: Runs) -> Finding:
    module = program("qwen36", TASK, "transformer")
    sizes = module.TransformerConfig(11, 8, 2, 2, 2, 16, 16)
    model = module.TransformerDecoder(sizes, 0)
    kept = model.new_cache(1)
    model.prefill(np.array([[1, 2, 3, 4, 5]]), kept)
    lengths: list[int] = []
    real = type(kept[0]).get_all

    def spy(self: object) -> tuple[Array, Array]:
        keys, values = real(self)
        lengths.append(keys.shape[2])
        return keys, values

    with patch.object(type(kept[0]), "get_all", spy):
        model.decode_step(np.array([6]), kept)
    return whether(lengths == [6, 6], f"a step after 5 tokens reads {lengths} tokens in its 2 layers")


@KV.claim("C086", "Qwen3-6", "rotary positions are there, and untested")
def _(runs: Runs) -> Finding:
    rope = program("qwen36", TASK, "transformer").apply_rope
    rng = np.random.default_rng(0)
    q, k = rng.standard_normal((2, 1, 1, 1, 16))

    def at(x: Array, position: int) -> Array:
        turned: Array = rope(x, np.array([[position]]), 10000.0)[0, 0, 0]
        return turned

    apart = [float(abs(at(q, p) @ at(k, p - 3) - at(q, 3) @ at(k, 0))) for p in (3, 10, 500)]
    norms = [float(abs(np.linalg.norm(at(q, p)) - np.linalg.norm(q))) for p in (0, 10, 500)]
    used = sum("rope" in p.read_text().lower() for p in folder("qwen36", TASK).glob("demo.py"))
    found = f"products depend on the distance alone ({under(apart)}), norms are kept ({under(norms)})"
    return whether(max(apart + norms) < 1e-10, found + f"; {'a' if used else 'no'} demo names it")


@KV.claim("C087", "GLM-5", "no MLP, no causal mask, no positions", "incremental_equals_full, experiment")
def _(runs: Runs) -> Finding:
    module = module_of("glm5")
    rows = [
        module.IncrementalDecoder(20, 8, 2, 8, seed=1).prefill(np.array([prompt]))
        for prompt in ([3, 5, 7], [5, 3, 7])
    ]
    one, other = (np.asarray(row).reshape(-1, 20)[-1] for row in rows)
    same = bool(np.allclose(one, other, atol=1e-6))
    words = re.findall(
        r"\b(mlp|gelu|feed_?forward|ffn)\b", (folder("glm5", TASK) / "kv_cache.py").read_text(), re.I
    )
    future = runs.figures(
        TASK, "glm5", "incremental_equals_full", "decoder: rows of a prompt against prompts"
    )
    found = (
        f"earlier prompt tokens in another order: {'the same' if same else 'another'} answer; rows of a "
        f"prompt see later ones ({span(future)}); an MLP is named {len(words)} times"
    )
    return whether(same and not words and min(future) > 0.01, found)
