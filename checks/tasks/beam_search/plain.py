"""The search that a submission is timed against: a pool of K ranked by penalised score, NumPy alone."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["call"]


def call(model: Any, prompts: Any, width: int, steps: int, alpha: float, eos: int) -> Any:
    """Per prompt the K best (tokens, score), best first."""
    return [_one(model, list(prompt), width, steps, alpha, eos) for prompt in prompts]


def _one(model: Any, prompt: list[int], width: int, steps: int, alpha: float, eos: int) -> list[Any]:
    pool: list[tuple[list[int], float, bool]] = [([], 0.0, False)]
    for _step in range(steps):
        grown = [beam for beam in pool if beam[2]]
        for tokens, total, ended in pool:
            if ended:
                continue
            row = np.asarray(model(prompt + tokens))
            best = np.argpartition(-row, width)[: width + 1] if len(row) > width + 1 else np.arange(len(row))
            grown += [([*tokens, int(t)], total + float(row[t]), int(t) == eos) for t in best]
        grown.sort(key=lambda beam: -beam[1] / max(len(beam[0]), 1) ** alpha)
        pool = grown[:width]
        if all(ended for _tokens, _total, ended in pool):
            break
    return [(tokens, total / max(len(tokens), 1) ** alpha) for tokens, total, _ended in pool]
