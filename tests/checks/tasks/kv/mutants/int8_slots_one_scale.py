# bug: a scale is kept per position and shared by all slots, so the slot written last decides it
# caught by: quantized
"""Continuous batching over INT8 codes: ask for a slot, write tokens to it, read it back."""
import numpy as np


class Int8SlotKVCache:
    def __init__(self, max_slots, num_heads, max_seq_len, head_dim):
        shape = (max_slots, num_heads, max_seq_len, head_dim)
        self.k8, self.v8 = np.zeros(shape, np.int8), np.zeros(shape, np.int8)
        self.k_scale = np.ones((num_heads, max_seq_len, 1), np.float32)
        self.v_scale = np.ones_like(self.k_scale)
        self.used = {}

    def allocate(self):
        slot = next(s for s in range(len(self.k8)) if s not in self.used)
        self.used[slot] = 0
        return slot

    def free(self, slot):
        self.used.pop(slot)

    def append(self, slot, k, v):
        """k, v: (num_heads, T, head_dim)"""
        at = slice(self.used[slot], self.used[slot] + k.shape[1])
        for x, codes, scales in ((k, self.k8, self.k_scale), (v, self.v8, self.v_scale)):
            scales[:, at] = np.maximum(np.abs(x).max(axis=2, keepdims=True), 1e-12) / 127
            codes[slot, :, at] = np.round(x / scales[:, at])
        self.used[slot] = at.stop

    def read(self, slot):
        n = self.used[slot]
        return self.k8[slot, :, :n] * self.k_scale[:, :n], self.v8[slot, :, :n] * self.v_scale[:, :n]
