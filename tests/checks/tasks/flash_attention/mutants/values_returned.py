# bug: the values themselves
# caught by: accuracy, rescaling_direction, nan_masked_tiles, causality, causal_skip, peak_memory
def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    return V.copy()
