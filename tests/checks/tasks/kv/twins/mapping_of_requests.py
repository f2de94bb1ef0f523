# right: a paged cache as a mapping by name; del gives the blocks back
# skips: quantized
# passes: paged
"""Paged KV cache that behaves like a mapping from request names to token histories.

    cache = PagedDict(layers=2, kv_heads=2, head_dim=64, page=16, pages=256)
    cache.open("req-7")
    cache.push("req-7", layer, k, v)        # k, v: (kv_heads, n, head_dim), n >= 1
    o = cache.attention("req-7", layer, q)  # q: (heads, n, head_dim), its last n tokens
    del cache["req-7"]                      # pages go back to the pool

A page holds both K and V of `page` tokens of every layer: store[page_id] is (layers, 2, kv_heads, page, head_dim).
A request grows page by page; when the pool is empty `push` raises `PoolExhausted` before it has changed anything.
"""
from __future__ import annotations

from collections.abc import Hashable, Iterator

import numpy as np


class PoolExhausted(MemoryError):
    """No free page is left; nothing was written."""


class _Request:
    __slots__ = ("pages", "filled")

    def __init__(self, layers: int) -> None:
        self.pages: list[int] = []
        self.filled = [0] * layers  # tokens written, by layer


class PagedDict:
    def __init__(self, *, layers: int, kv_heads: int, head_dim: int, page: int = 16, pages: int = 64,
                 dtype=np.float32) -> None:
        if min(layers, kv_heads, head_dim, page, pages) < 1:
            raise ValueError("every size must be positive")
        self.layers, self.kv_heads, self.head_dim, self.page = layers, kv_heads, head_dim, page
        self.store = np.zeros((pages, layers, 2, kv_heads, page, head_dim), dtype)
        self.free = list(range(pages - 1, -1, -1))
        self._requests: dict[Hashable, _Request] = {}

    # -- mapping ---------------------------------------------------------------------------------------------------
    def open(self, name: Hashable) -> None:
        if name in self._requests:
            raise KeyError(f"{name!r} is already open")
        self._requests[name] = _Request(self.layers)

    def __getitem__(self, name: Hashable) -> np.ndarray:
        """Copy of everything a request holds in all layers: (layers, 2, kv_heads, tokens, head_dim)."""
        r = self._request(name)
        n = min(r.filled)
        return self._gather(r, slice(None), n)

    def __delitem__(self, name: Hashable) -> None:
        self.free.extend(reversed(self._request(name).pages))
        del self._requests[name]

    def __contains__(self, name: Hashable) -> bool:
        return name in self._requests

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._requests)

    def __len__(self) -> int:
        return len(self._requests)

    def _request(self, name: Hashable) -> _Request:
        if name not in self._requests:
            raise KeyError(f"no request {name!r}")
        return self._requests[name]

    # -- tokens ----------------------------------------------------------------------------------------------------
    def tokens(self, name: Hashable, layer: int = 0) -> int:
        return self._request(name).filled[layer]

    def push(self, name: Hashable, layer: int, k: np.ndarray, v: np.ndarray) -> None:
        """Append n tokens to one layer of one request; k, v: (kv_heads, n, head_dim)."""
        r = self._request(name)
        if not 0 <= layer < self.layers:
            raise IndexError(f"layer {layer} of {self.layers}")
        k, v = np.asarray(k), np.asarray(v)
        n = k.shape[1] if k.ndim == 3 else -1
        want = (self.kv_heads, n, self.head_dim)
        if k.shape != want or v.shape != want:
            raise ValueError(f"expected (kv_heads, n, head_dim) = {want}, got {k.shape} and {v.shape}")
        start = r.filled[layer]
        missing = -(-(start + n) // self.page) - len(r.pages)
        if missing > len(self.free):
            raise PoolExhausted(f"{name!r} needs {missing} more pages, {len(self.free)} are free")
        for _ in range(missing):
            r.pages.append(self.free.pop())
        pos = np.arange(start, start + n)
        where = np.asarray(r.pages, np.intp)[pos // self.page]
        self.store[where, layer, 0, :, pos % self.page] = k.swapaxes(0, 1)
        self.store[where, layer, 1, :, pos % self.page] = v.swapaxes(0, 1)
        r.filled[layer] = start + n

    def _gather(self, r: _Request, layer, n: int) -> np.ndarray:
        used = r.pages[:-(-n // self.page)]
        x = np.moveaxis(self.store[used][:, layer], 0, -3)     # (..., kv_heads, pages, page, head_dim)
        return x.reshape(x.shape[:-3] + (len(used) * self.page, self.head_dim))[..., :n, :]

    def read(self, name: Hashable, layer: int) -> tuple[np.ndarray, np.ndarray]:
        """(k, v) of one layer, each (kv_heads, tokens, head_dim)."""
        r = self._request(name)
        k, v = self._gather(r, layer, r.filled[layer])
        return k, v

    def attention(self, name: Hashable, layer: int, q: np.ndarray) -> np.ndarray:
        """Causal attention of a request's last n tokens; q and result (heads, n, head_dim), heads = m * kv_heads."""
        k, v = self.read(name, layer)
        heads, n, d = q.shape
        total = k.shape[1]
        if n > total or heads % self.kv_heads:
            raise ValueError(f"queries {q.shape} do not fit {total} tokens of {self.kv_heads} heads")
        x = q.reshape(self.kv_heads, heads // self.kv_heads, n, d)
        w = (x @ k[:, None].swapaxes(-1, -2)) * np.asarray(d ** -0.5, q.dtype)
        w = np.where(np.tri(n, total, total - n, dtype=bool), w, -np.inf)
        w = np.exp(w - w.max(-1, keepdims=True))
        w /= w.sum(-1, keepdims=True)
        return (w @ v[:, None]).reshape(heads, n, d)

    # -- accounting ------------------------------------------------------------------------------------------------
    def utilization(self) -> float:
        """Tokens held over token slots of the pages in use (1.0 when no page is in use)."""
        held = sum(max(r.filled) for r in self._requests.values())
        slots = sum(len(r.pages) for r in self._requests.values()) * self.page
        return held / slots if slots else 1.0

    @property
    def bytes_per_token(self) -> int:
        return 2 * self.layers * self.kv_heads * self.head_dim * self.store.itemsize
