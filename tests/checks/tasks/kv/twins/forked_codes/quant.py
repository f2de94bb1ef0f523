"""Group-wise asymmetric quantization of key/value vectors (8 or 4 bits).

Each head vector is cut into groups of ``group`` channels; a group stores its minimum and its
step (float32) and one code per channel.  Nothing is shared between tokens, so appending a token
never touches the codes of an earlier one.  The error is at most half a step per channel.
"""
from __future__ import annotations

import numpy as np


class GroupQuantizer:
    def __init__(self, head_dim: int, bits: int, group: int = 32):
        if bits not in (4, 8):
            raise ValueError("bits must be 4 or 8")
        self.head_dim, self.bits = head_dim, bits
        self.group = min(group, head_dim)
        self.n_groups = -(-head_dim // self.group)
        self.levels = (1 << bits) - 1
        padded = self.n_groups * self.group
        self.code_bytes = padded if bits == 8 else -(-padded // 2)

    @property
    def bytes_per_vector(self) -> int:
        """Codes plus the float32 minimum and step of every group."""
        return self.code_bytes + 8 * self.n_groups

    def encode(self, x: np.ndarray):
        """x (..., D) -> codes uint8 (..., code_bytes), minimum and step float32 (..., n_groups)."""
        x = np.asarray(x, np.float32)
        pad = self.n_groups * self.group - self.head_dim
        if pad:                                    # edge padding leaves min and max as they are
            x = np.concatenate([x, np.repeat(x[..., -1:], pad, axis=-1)], axis=-1)
        g = x.reshape(x.shape[:-1] + (self.n_groups, self.group))
        low = g.min(axis=-1)
        step = (g.max(axis=-1) - low) / self.levels
        safe = np.where(step > 0, step, 1)
        codes = np.clip(np.rint((g - low[..., None]) / safe[..., None]), 0, self.levels)
        codes = codes.astype(np.uint8).reshape(x.shape)
        if self.bits == 4:
            if codes.shape[-1] % 2:
                codes = np.concatenate([codes, np.zeros_like(codes[..., :1])], axis=-1)
            codes = codes[..., 0::2] | (codes[..., 1::2] << 4)
        return codes, low, step

    def decode(self, codes, low, step) -> np.ndarray:
        """Inverse of ``encode``; returns float32 (..., D)."""
        if self.bits == 4:
            codes = np.stack([codes & 0x0F, codes >> 4], axis=-1).reshape(codes.shape[:-1] + (-1,))
        codes = codes[..., :self.n_groups * self.group]
        g = codes.reshape(codes.shape[:-1] + (self.n_groups, self.group)).astype(np.float32)
        x = g * step[..., None] + low[..., None]
        return x.reshape(codes.shape)[..., :self.head_dim]


class RawStore:
    """Same interface, no compression (float32)."""

    bits = 32

    def __init__(self, head_dim: int):
        self.head_dim = head_dim
        self.bytes_per_vector = 4 * head_dim
