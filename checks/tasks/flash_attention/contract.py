"""What a submission for tiled flash attention was asked to deliver."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from judge_tui.checks.contract import Contract, Param, Return, Role, Sample
from judge_tui.checks.sizes import Sizes
from judge_tui.checks.timing import Size, Timing

__all__ = ["CONTRACT", "FORWARD", "PARAMS", "TIMING", "forward_inputs", "sample"]

_ROW_TILE = (
    "block_size", "block", "tile", "tile_len", "tile_length", "chunk", "chunk_size", "T", "bs",
    "block_q", "block_r", "block_m", "block_row", "block_rows", "block_size_q", "block_size_r",
    "block_size_m", "tile_q", "tile_r", "tile_rows", "tile_size_q", "tile_size_r", "q_tile", "q_block",
    "q_tile_size", "q_block_size", "q_chunk", "q_chunk_size", "query_tile_size", "query_block_size",
    "query_chunk_size", "Br", "B_r", "Bq", "B_q", "Tq",
)  # fmt: skip
_KEY_TILE = (
    "block_k", "block_c", "block_n", "block_kv", "block_col", "block_cols", "block_size_k", "block_size_c",
    "block_size_n", "block_size_kv", "tile_kv", "tile_c", "tile_cols", "tile_size_k", "tile_size_c",
    "tile_size_kv", "k_tile", "k_block", "k_tile_size", "k_block_size", "k_chunk_size", "kv_tile", "kv_block",
    "kv_tile_size", "kv_block_size", "kv_chunk", "kv_chunk_size", "key_tile_size", "key_block_size",
    "key_chunk_size", "Bc", "B_c", "Bk", "B_k", "Bkv", "Tk",
)  # fmt: skip
_CAUSAL = (
    "is_causal", "use_causal", "causal_mask", "is_causal_mask", "use_causal_mask", "apply_causal",
    "apply_causal_mask", "causal_masking", "causal_attention", "causal_mode", "mask_causal", "autoregressive",
)  # fmt: skip
_MASK = ("attn_mask", "attention_mask", "additive_mask", "attn_bias", "attention_bias", "score_mask", "bias")
_OUTPUT = (
    "out",
    "output",
    "outputs",
    "attn_output",
    "attention_output",
    "attn_out",
    "result",
    "context",
    "y",
)
_AVOID = (
    r"naive", r"numerical", r"reference", r"\bref_", r"_ref\b", r"test", r"check", r"benchmark", r"demo",
    r"verify", r"plot", r"main", r"standard", r"vanilla", r"dense", r"(^|_)full", r"back(ward)?", r"bwd",
    r"grad", r"materiali[sz]", r"simple", r"slow",
)  # fmt: skip

PARAMS = (
    Param("q", aliases=("query", "queries", "qs", "xq", "q_in")),
    Param("k", aliases=("key", "keys", "ks", "xk", "k_in")),
    Param("v", aliases=("value", "values", "vs", "xv", "v_in")),
    Param("tile_size", "int", _ROW_TILE, required=False),
    Param("causal", "bool", _CAUSAL, required=False),
    Param("tile_k", "int", _KEY_TILE, required=False),
    Param(
        "scale", "float", ("softmax_scale", "sm_scale", "scaling", "scale_factor"), required=False, spare=True
    ),
    Param("head_dim", "int", ("d", "dim", "d_head", "d_k", "width"), required=False, spare=True),
    Param("heads", "int", ("h", "num_heads", "n_heads", "n_head"), required=False, spare=True),
    Param("mask", "data", _MASK, required=False),
    Param(
        "mode",
        "data",
        ("mask_type", "mask_mode", "mask_kind", "attn_type", "attention_type", "masking"),
        required=False,
        spare=True,
    ),
    Param("length", "int", ("n", "seq_len", "sequence_length", "max_len"), required=False, spare=True),
)

FORWARD = Role(
    "forward",
    PARAMS,
    (
        Return("O", aliases=_OUTPUT),
        Return("L", aliases=("lse", "logsumexp", "log_sum_exp", "softmax_lse"), required=False),
        Return("cache", "handle", ("ctx", "saved", "residuals"), required=False),
    ),
    (
        r"flash.*(fwd|forward)",
        r"(fwd|forward).*flash",
        r"flash",
        r"(tile|tiling|block|online|stream|chunk).*(att|softmax)",
        r"att.*(tile|block|online|stream|chunk|fwd|forward)",
        r"(^|_)(fwd|forward)(_|$)",
        r"attention|attn|attend",
        r"^(__call__|run|apply|compute)$",
    ),
    _AVOID,
    sure=5,
)  # fmt: skip


def forward_inputs(
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    tile: int,
    causal: bool,
    *,
    key_tile: int = 0,
    mask: np.ndarray | None = None,
) -> dict[str, object]:
    """What a forward may be told, by canonical names.

    Args:
        q: Queries (B, H, N, D).
        k: Keys, same shape.
        v: Values, same shape.
        tile: Rows per query tile, and per key tile unless ``key_tile`` says otherwise.
        causal: Whether query i sees keys up to i only.
        key_tile: Rows per key tile; 0 for ``tile``.
        mask: What a callable is told that takes a mask in place of ``causal``.
    """
    _batch, heads, length, width = q.shape
    return {
        "q": q, "k": k, "v": v, "tile_size": tile, "tile_k": key_tile or tile, "causal": causal,
        "mask": mask, "scale": float(width) ** -0.5, "head_dim": width, "heads": heads, "length": length,
        "mode": "causal" if causal else "none",
    }  # fmt: skip


def sample(rng: np.random.Generator) -> Sample:
    """An even, causal call with four different axes."""
    return _even(rng, (2, 3, 8, 6), 4)


def sized(rng: np.random.Generator, sizes: Sizes) -> Sample:
    """The same in drawn sizes."""
    tile = sizes.between(4, 9)
    batch, heads, width = sizes.shape((1, 3), (1, 5), (4, 20))
    return _even(rng, (batch, heads, tile * sizes.between(3, 5), width), tile)


def _even(rng: np.random.Generator, shape: tuple[int, int, int, int], tile: int) -> Sample:
    batch, heads, length, _width = shape
    q, k, v = (rng.standard_normal(shape) for _ in range(3))
    inputs = forward_inputs(q, k, v, tile, True)
    return Sample(inputs, {"O": shape, "L": (batch, heads, length)})


def _size(shape: tuple[int, int, int, int], tile: int) -> Size:
    """A causal call over several tiles, for timing."""

    def inputs(rng: np.random.Generator) -> dict[str, object]:
        q, k, v = rng.standard_normal((3, *shape))
        return forward_inputs(q, k, v, tile, True)

    batch, heads, length, width = shape
    label = f"(B, H, N, D) = {shape}, T = {tile}, causal, float64"
    return Size(label, float(batch * heads * length * length * width), inputs, shape)


TIMING = Timing(
    "forward",
    Path(__file__).with_name("plain.py"),
    ("q", "k", "v", "tile_size"),
    (_size((1, 2, 128, 32), 32), _size((1, 2, 256, 64), 64), _size((1, 4, 512, 64), 64)),
    answer="O",
    told=("causal",),
)

CONTRACT = Contract(
    (FORWARD,),
    sample,
    "flash_attention_fwd(Q, K, V (B, H, N, D), tile_size, causal=True) → O, in tiles with an online softmax.",
    layouts=("HND", "ND"),
    timing=TIMING,
    sized=sized,
)
