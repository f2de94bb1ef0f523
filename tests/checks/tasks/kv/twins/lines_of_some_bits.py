# One pool whose lines are numbers, or codes of 8 or 4 bits where asked for; the width stands behind the scales.
# only: paged, quantized, cache_size_minimality, variable_lengths
import numpy as np

HIGHEST = {8: 127, 4: 7}


def quantize(x, bits=8):
    """(..., D) to codes (..., D), or (..., D/2) of two to a byte, and float32 scales (...)."""
    top = HIGHEST[bits]
    scale = (np.abs(x).max(axis=-1) / top).astype(np.float32)
    codes = np.rint(x / np.where(scale > 0, scale, 1)[..., None]).clip(-top, top).astype(np.int8)
    if bits == 8:
        return codes, scale
    shifted = np.pad(codes + 8, [(0, 0)] * (codes.ndim - 1) + [(0, codes.shape[-1] % 2)]).astype(np.uint8)
    return shifted[..., 0::2] | shifted[..., 1::2] << 4, scale


def dequantize(codes, scale, dim, bits=8):
    if bits == 4:
        pairs = np.stack([codes & 15, codes >> 4], axis=-1)
        codes = pairs.reshape(*codes.shape[:-1], -1)[..., :dim].astype(np.int8) - 8
    return codes.astype(np.float32) * scale[..., None]


class PagedCache:
    def __init__(self, n_pages, page_size, kv_heads, head_dim, dtype=np.float32, bits=None):
        self.page_size, self.head_dim, self.bits = page_size, head_dim, bits
        width = head_dim if bits != 4 else (head_dim + 1) // 2
        kind = dtype if bits is None else {8: np.int8, 4: np.uint8}[bits]
        self.lines = np.zeros((2, n_pages, page_size, kv_heads, width), kind)
        self.steps = None if bits is None else np.zeros((2, n_pages, page_size, kv_heads), np.float32)
        self.shelf = list(range(n_pages))
        self.pages, self.length = {}, {}

    def open(self, seq):
        self.pages[seq], self.length[seq] = [], 0

    def close(self, seq):
        self.shelf += self.pages.pop(seq)
        del self.length[seq]

    def append(self, seq, k, v):
        """k, v: (kv_heads, head_dim)."""
        at = self.length[seq]
        if at == len(self.pages[seq]) * self.page_size:
            if not self.shelf:
                raise MemoryError("no page is left")
            self.pages[seq].append(self.shelf.pop())
        page, line = self.pages[seq][-1], at % self.page_size
        both = np.stack([k, v])
        if self.bits is None:
            self.lines[:, page, line] = both
        else:
            self.lines[:, page, line], self.steps[:, page, line] = quantize(both, self.bits)
        self.length[seq] = at + 1

    def read(self, seq):
        """(tokens, kv_heads, head_dim) twice."""
        places = np.arange(self.length[seq])
        page = np.array(self.pages[seq], dtype=int)[places // self.page_size]
        both = self.lines[:, page, places % self.page_size]
        if self.bits is not None:
            scale = self.steps[:, page, places % self.page_size]
            both = dequantize(both, scale, self.head_dim, self.bits)
        return both[0], both[1]
