"""What a callable that wants a place for its cache is handed: as a dict, or as an object with attributes."""

from __future__ import annotations

from typing import Any

__all__ = ["Context"]


class Context(dict[str, Any]):
    """A dict whose keys are attributes too, and which takes tensors as an autograd context does."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the context has no '{name}'") from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def __delattr__(self, name: str) -> None:
        try:
            del self[name]
        except KeyError:
            raise AttributeError(f"the context has no '{name}'") from None

    def save_for_backward(self, *values: Any) -> None:
        """Keep values as ``saved_tensors``."""
        self["saved_tensors"] = values
