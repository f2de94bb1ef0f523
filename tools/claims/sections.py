"""The claims of the published analyses, each with the measurement that decides it."""

from tools.claims import (
    beam_search,
    flash_attention,
    flash_attention_bwd,
    flash_attention_bwd_disputed,
    fuse_cost,
    fuse_disputed,
    kv_cache,
    kv_cache_disputed,
    layer_norm,
    layer_norm_disputed,
    scores,
)

SECTIONS = [
    layer_norm.LAYER_NORM,
    layer_norm_disputed.CONTRADICTIONS,
    kv_cache.KV,
    kv_cache_disputed.CONTRADICTIONS,
    flash_attention.FLASH,
    flash_attention.CONTRADICTIONS,
    beam_search.BEAM,
    beam_search.CONTRADICTIONS,
    flash_attention_bwd.BACKWARD,
    flash_attention_bwd_disputed.CONTRADICTIONS,
    scores.SCORES,
    scores.CONTRADICTIONS,
    fuse_cost.FUSE,
    fuse_disputed.CONTRADICTIONS,
]
