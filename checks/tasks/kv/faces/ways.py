"""How a cache is fed by one call, as far as names and signatures leave it open."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Way"]


@dataclass(frozen=True, slots=True)
class Way:
    """How a cache is fed by one call.

    Attributes:
        several: Several tokens of a sequence at once.
        onto: The cache holds something already.
        ragged: Sequences of the batch get different numbers of tokens.
        dtype: Of queries, keys and values.
    """

    several: bool = False
    onto: bool = False
    ragged: bool = False
    dtype: str = "float32"

    @property
    def settled(self) -> bool:
        """Whether nothing is bound without a trial that went this way."""
        return not (self.several or self.ragged) and self.dtype == "float32"

    def __str__(self) -> str:
        tokens = "several tokens at once" if self.several else "one token"
        parts = [tokens, "onto what is stored" if self.onto else "onto nothing"]
        if self.ragged:
            parts.append("in different numbers per sequence")
        if self.dtype != "float32":
            parts.append(f"in {self.dtype}")
        return " ".join(parts)
