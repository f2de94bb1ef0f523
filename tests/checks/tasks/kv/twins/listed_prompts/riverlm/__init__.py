"""riverlm: a small GQA decoder that owns its KV cache (NumPy only).

    from riverlm import Spec, Decoder
    dec = Decoder.random(Spec(vocab=64), seed=0)
    logits = dec.prefill([[1, 2, 3], [4, 5]], chunk=2)   # (2, vocab)
    logits = dec.decode([7, 9])                          # (2, vocab)
"""
from .config import Spec, cache_bytes
from .model import Decoder
from .store import ContextOverflow, LayerStore

__all__ = ["Spec", "Decoder", "LayerStore", "ContextOverflow", "cache_bytes"]
