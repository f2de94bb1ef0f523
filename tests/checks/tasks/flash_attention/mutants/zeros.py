# bug: zeros of the right shape
# caught by: accuracy, rescaling_direction, nan_masked_tiles, causality, causal_skip, peak_memory
import numpy as np


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    return np.zeros_like(Q)
