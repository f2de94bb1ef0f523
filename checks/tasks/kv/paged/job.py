"""A paged cache as it is judged: its bindings, limits, and what is said of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.calling.remote import Handle
from judge_tui.checks.check import Findings
from judge_tui.checks.submission import ADAPTER
from judge_tui.checks.tasks.kv.faces.chosen_pool import pool_of
from judge_tui.checks.tasks.kv.faces.pool import Pool, PoolSizes
from judge_tui.checks.tasks.kv.limits import precision

__all__ = ["Job"]

#: Of a head. The number of heads stays: each may have blocks of its own, and what is wrong about room shows
#: in a pool that is just large enough.
_WIDTHS = (6, 8, 10, 12, 16)
#: What codes of eight and of four bits may be off, relative to the largest number, and twice as far.
_CODED = (0.01, 0.15)


def _of_codes(error: float) -> float:
    """The limit for what codes give back, by what one token is off; 0 where it is exact, or no code's."""
    if error <= precision("float32").limit(0.0):
        return 0.0
    return 2 * next((limit for limit in _CODED if error <= limit), 0.0)


@dataclass(slots=True)
class Job:
    """A paged cache as it is judged.

    Attributes:
        bench: Where it is judged.
        found: Gathers the evidence.
        parts: Its bindings by part.
        limit: For what is read back, relative.
        wrong: What was wrong, for the summary.
        said: What was found, for the summary.
    """

    bench: Bench
    found: Findings
    parts: Mapping[str, Binding]
    limit: float = 1e-6
    wrong: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def pool(self) -> Pool:
        """An empty one."""
        # some give every head blocks of its own: with more heads they have room for less than is asked here
        sizes = PoolSizes(head_dim=self.bench.sizes("heads").one_of(_WIDTHS))
        return pool_of(self.bench.worker, self.parts, sizes, lambda: self.bench.left)

    def where(self, *parts: str) -> dict[str, Any]:
        """``file`` and ``line`` of the first of these parts that is no adapter's."""
        for part in (*parts, "append", "create"):
            binding = self.parts.get(part)
            if binding is not None and binding.file != ADAPTER:
                return {"file": binding.file, "line": binding.line or None}
        return {}

    @property
    def frees(self) -> bool:
        """Whether sequences can go."""
        return "free" in self.parts

    def measure(self) -> None:
        """Set the limit: copied values come back as they were, as float16 or codes where these are kept."""
        pool = self.pool()
        pool.add(0, 1)
        k, v = self.bench.rng("one token").standard_normal((2, pool.sizes.heads, 1, pool.sizes.head_dim))
        pool.append(0, k.astype(np.float32), v.astype(np.float32))
        leaves = self.bench.worker.leaves(state) if isinstance(state := pool.state(), Handle) else []
        kept = {str(leaf.get("dtype")) for leaf in leaves if leaf.get("kind") == "array"}
        if kept & {"int8", "uint8"} and (coded := _of_codes(pool.off(0))):
            self.limit = coded
        elif "float16" in kept:
            self.limit = 2e-2 if pool.attends else 2e-3
        else:
            self.limit = precision("float32").limit(0.0) if pool.attends else 1e-6
