"""The tables of the page, in its order, with the claims that every module entered into them."""

from __future__ import annotations

from tools.claims import (
    beam_search,
    beam_search_disputed,
    flash_attention,
    flash_attention_bwd,
    flash_attention_bwd_disputed,
    flash_attention_bwd_own_tests,  # noqa: F401  enters into the table of flash_attention_bwd
    flash_attention_disputed,
    fuse,
    fuse_cost,  # noqa: F401  enters into the table of fuse
    fuse_disputed,
    kv_cache,
    kv_cache_cost,  # noqa: F401  enters into the table of kv_cache
    kv_cache_disputed,
    kv_cache_layouts,  # noqa: F401  enters into the table of kv_cache
    layer_norm,
    layer_norm_differences,  # noqa: F401  enters into the table of layer_norm
    layer_norm_disputed,
    scores,
)
from tools.claims.claim import Section

__all__ = ["SECTIONS"]

SECTIONS: list[Section] = [
    layer_norm.LAYER_NORM,
    layer_norm_disputed.CONTRADICTIONS,
    kv_cache.KV,
    kv_cache_disputed.CONTRADICTIONS,
    flash_attention.FLASH,
    flash_attention_disputed.CONTRADICTIONS,
    beam_search.BEAM,
    beam_search_disputed.CONTRADICTIONS,
    flash_attention_bwd.BACKWARD,
    flash_attention_bwd_disputed.CONTRADICTIONS,
    scores.SCORES,
    scores.CONTRADICTIONS,
    fuse.FUSE,
    fuse_disputed.CONTRADICTIONS,
]
