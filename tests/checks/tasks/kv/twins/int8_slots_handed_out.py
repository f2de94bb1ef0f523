# style: an int8 cache that hands out a slot, and is then written and read by that slot
# only: quantized
"""INT8 cache with continuous batching: a request asks for a slot, writes to it, and gives it back."""
import numpy as np


class Int8SlotCache:
    """Codes (slots, H, max_len, D) int8 and a float32 scale per token and head."""

    def __init__(self, num_slots, num_heads, max_len, head_dim):
        self.codes = np.zeros((2, num_slots, num_heads, max_len, head_dim), np.int8)
        self.scales = np.zeros((2, num_slots, num_heads, max_len), np.float32)
        self.length = np.zeros(num_slots, np.int64)
        self.free = list(range(num_slots))[::-1]

    def allocate_slot(self):
        if not self.free:
            raise RuntimeError("no slot is free")
        slot = self.free.pop()
        self.length[slot] = 0
        return slot

    def release_slot(self, slot):
        self.free.append(slot)

    def write(self, slot, k, v):
        """k, v: (H, T, D) of one request."""
        start, end = int(self.length[slot]), int(self.length[slot]) + k.shape[1]
        if end > self.codes.shape[3]:
            raise ValueError(f"slot {slot} holds {start} tokens and has no room for {k.shape[1]} more")
        for which, x in enumerate((k, v)):
            scale = np.abs(x).max(axis=-1) / 127.0
            safe = np.where(scale > 0, scale, 1.0)
            self.codes[which, slot, :, start:end] = np.rint(x / safe[..., None])
            self.scales[which, slot, :, start:end] = scale
        self.length[slot] = end

    def read(self, slot):
        n = int(self.length[slot])
        k, v = (
            self.codes[i, slot, :, :n].astype(np.float32) * self.scales[i, slot, :, :n, None] for i in (0, 1)
        )
        return k, v
