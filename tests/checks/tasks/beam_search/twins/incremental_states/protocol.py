"""What a model has to offer to be decoded by :mod:`search`."""

from typing import Any, Protocol, Sequence, Tuple

import numpy as np

State = Any


class IncrementalLM(Protocol):
    """One-hypothesis-at-a-time language model with explicit, persistent state.

    States are values: ``advance`` must leave the state that it is given intact,
    since several children of one beam are advanced from the same state.
    """

    def start(self, prompt: Sequence[int]) -> Tuple[State, np.ndarray]:
        """Read a prompt; return (state, log-probabilities of the next token (V,))."""

    def advance(self, state: State, token: int) -> Tuple[State, np.ndarray]:
        """Feed one token; return (new state, log-probabilities of the next token (V,))."""
