"""The claims of the published analyses, each with the measurement that decides it."""

from seed_claims import (
    beam_search,
    flash_attention,
    flash_attention_bwd,
    flash_attention_bwd_disputed,
    layer_norm,
)

SECTIONS = [
    layer_norm.LAYER_NORM,
    layer_norm.CONTRADICTIONS,
    flash_attention.FLASH,
    flash_attention.CONTRADICTIONS,
    flash_attention_bwd.BACKWARD,
    flash_attention_bwd_disputed.CONTRADICTIONS,
    beam_search.BEAM,
    beam_search.CONTRADICTIONS,
]
