"""Back-pointer storage for beam hypotheses.

Hypotheses of one prompt share prefixes.  Instead of copying token lists around at
every step we append ``(parent, token)`` nodes to a trellis and walk back when the
tokens are wanted.  Nodes are never changed after they were added, so two beams that
come from the same parent cannot write over each other.
"""

from dataclasses import dataclass
from typing import List

ROOT = -1


class Trellis:
    """Append-only forest of (parent, token) nodes."""

    def __init__(self) -> None:
        self._parent: List[int] = []
        self._token: List[int] = []

    def add(self, parent: int, token: int) -> int:
        self._parent.append(parent)
        self._token.append(token)
        return len(self._token) - 1

    def tokens(self, node: int) -> List[int]:
        """Tokens on the way from the root to ``node``, first token first."""
        out = []
        while node != ROOT:
            out.append(self._token[node])
            node = self._parent[node]
        out.reverse()
        return out


@dataclass(frozen=True)
class Hypothesis:
    """One member of the pool. ``length`` counts generated tokens, EOS included."""

    node: int
    logprob: float
    length: int
    finished: bool

    def score(self, alpha: float) -> float:
        # The empty hypothesis only exists before the first step.
        return self.logprob / (self.length ** alpha) if self.length else self.logprob
