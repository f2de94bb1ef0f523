"""What a decoder's calls may be told beside tokens: masks, rotary tables, places, weights of our own."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.tasks.kv.faces.joined import JOINED

__all__ = ["MASKS", "PLACES", "WEIGHTS", "drawn_weights", "placed", "ways_told"]

Array = npt.NDArray[Any]
#: The projections of an attention layer, where a function or a constructor is handed them.
WEIGHTS = ("w_q", "w_k", "w_v", "w_o")
#: Ways of writing a causal mask of the new tokens over all that are held: what is added to scores, which keys
#: are seen, which are not, and the same with axes for batch and heads.
MASKS = ("seen_added", "seen_true", "hidden_true", "seen_added_4d", "seen_true_4d", "hidden_true_4d")
#: What says where new tokens stand, or what each of them sees.
PLACES = ("seen", *MASKS, "token_positions", "row_positions", "cos", "sin")
_BASE = 10_000.0


def ways_told(calls: Iterable[Binding]) -> list[str]:
    """In what a decoder's calls differ from the usual, for whoever reads a verdict on it."""
    taken = {source for call in calls for a in (*call.args, *(call.init or ())) for source in a.sources}
    words = {
        "keys and values of new tokens come back alone, and were joined to those before": taken & {*JOINED},
        "every step is handed all that was fed so far": taken & {"id_history", "row_history"},
        "what each token sees was told by a mask": taken & {*MASKS},
        "its weights were drawn by the judge": taken & {*WEIGHTS},
        "rotary tables were told": taken & {"cos", "sin"},
    }
    return [said for said, how in words.items() if how]


@lru_cache(maxsize=32)
def drawn_weights(
    embed: int, wide: int, narrow: int, seed: int, dtype: str, *, outputs_first: bool = False
) -> dict[str, Array]:
    """Projections by the names of :data:`WEIGHTS`, (inputs, outputs).

    Args:
        embed: Width of what goes in.
        wide: Query heads times their width.
        narrow: Heads of keys and values times their width.
        seed: The same seed draws the same weights.
        dtype: Of the weights.
        outputs_first: They are (outputs, inputs), as checkpoints have them.
    """
    rng = np.random.default_rng([seed, 26])
    shapes = ((embed, wide), (embed, narrow), (embed, narrow), (wide, embed))
    drawn = {
        name: (rng.standard_normal(shape) / np.sqrt(shape[0])).astype(dtype)
        for name, shape in zip(WEIGHTS, shapes, strict=True)
    }
    return {name: np.ascontiguousarray(each.T) for name, each in drawn.items()} if outputs_first else drawn


def placed(position: int, tokens: int, batch: int, head_dim: int) -> dict[str, Any]:
    """What says where new tokens stand, and what each of them may see.

    Args:
        position: Tokens that are held before the call.
        tokens: New ones.
        batch: Sequences.
        head_dim: Width of a head, for the rotary tables.
    """
    rows = np.arange(position, position + tokens)
    angles = rows[:, None] / _BASE ** (np.arange(0, head_dim, 2) / head_dim)
    seen = np.arange(position + tokens) <= rows[:, None]
    added = np.where(seen, 0.0, -np.inf).astype(np.float32)
    flat = {"seen_added": added, "seen_true": seen, "hidden_true": ~seen}
    deep = {f"{name}_4d": mask[None, None] for name, mask in flat.items()}
    return {
        **flat, **deep, "seen": None,
        "token_positions": np.tile(rows, (batch, 1)), "row_positions": rows,
        "cos": np.cos(angles).astype(np.float32), "sin": np.sin(angles).astype(np.float32),
    }  # fmt: skip
