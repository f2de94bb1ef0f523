from .layer import LayerNorm

__all__ = ["LayerNorm"]
