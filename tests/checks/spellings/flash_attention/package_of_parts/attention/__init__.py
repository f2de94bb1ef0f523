from .config import TileConfig
from .kernel import FlashAttention

__all__ = ["FlashAttention", "TileConfig"]
