"""The call by which beam searches are timed: several prompts on a model that costs next to nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from judge_tui.checks.tasks.beam_search.scripts import distinct, table
from judge_tui.checks.timing import Size, Timing

__all__ = ["TIMING"]


def _size(prompts: int, width: int, steps: int, vocab: int) -> Size:
    def inputs(rng: np.random.Generator) -> dict[str, Any]:
        eos, *tokens = distinct(rng, vocab, 1 + 3 * prompts)
        # EOS is too unlikely to end a beam: every search makes all steps.
        script = table(rng, vocab, eos, {(): {}}, default={eos: -30.0})
        lists = [tokens[3 * index : 3 * index + 3] for index in range(prompts)]
        return {
            "model": script.model, "prompts": lists, "beam_width": width, "max_new_tokens": steps,
            "alpha": 0.6, "eos_token_id": eos, "vocab_size": vocab, "pad_token_id": -1,
        }  # fmt: skip

    label = f"{prompts} prompts, K = {width}, {steps} new tokens, V = {vocab}"
    return Size(label, float(prompts * width * steps * vocab), inputs)


TIMING = Timing(
    "search",
    Path(__file__).with_name("plain.py"),
    ("model", "prompts", "beam_width", "max_new_tokens", "alpha", "eos_token_id"),
    (_size(2, 2, 4, 200), _size(3, 4, 8, 500), _size(4, 4, 16, 1000)),
    unlike=("prompt",),
)
