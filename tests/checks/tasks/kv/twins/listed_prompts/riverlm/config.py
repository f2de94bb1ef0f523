"""Model shape and the memory calculator that follows from it."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Spec:
    """Hyper-parameters of the decoder.

    ``q_heads`` must be a multiple of ``kv_heads``: 1 KV head is MQA,
    as many as the query heads is ordinary multi-head attention.
    """

    vocab: int = 64
    width: int = 32
    depth: int = 3
    q_heads: int = 4
    kv_heads: int = 2
    context: int = 128
    rope_base: float = 10_000.0

    def __post_init__(self):
        if self.width % self.q_heads:
            raise ValueError("width must be a multiple of q_heads")
        if self.q_heads % self.kv_heads:
            raise ValueError("q_heads must be a multiple of kv_heads")
        if self.head_dim % 2:
            raise ValueError("rotary embedding needs an even head_dim")

    @property
    def head_dim(self):
        return self.width // self.q_heads

    @property
    def group(self):
        return self.q_heads // self.kv_heads


def cache_bytes(spec, batch, tokens=None, itemsize=8):
    """Bytes of K and V for ``batch`` sequences of ``tokens`` (default: full context)."""
    tokens = spec.context if tokens is None else tokens
    return 2 * spec.depth * batch * spec.kv_heads * tokens * spec.head_dim * itemsize
