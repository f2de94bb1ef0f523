"""Scripted target models with exact logits: what the worker is sent, and the same rows on this side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from judge_tui.checks.calling.remote import Scripted
from judge_tui.checks.tasks.dflash_verify.trees import Tokens, greedy
from judge_tui.checks.worker.scripted.models import Rows, rows_of

__all__ = ["LEAD", "Script", "constant", "decisive", "distributed", "hashed", "led", "stated", "tied"]

#: Every greedy choice that a check relies on leads by this much, so that rounding decides nothing.
LEAD = 1e-2


@dataclass(frozen=True, slots=True)
class Script:
    """A scripted target model.

    Attributes:
        spec: What the worker builds it from.
        rows: The same model on this side.
    """

    spec: Mapping[str, Any]
    rows: Rows

    def model(self, prompt: Sequence[int]) -> Scripted:
        """As an argument of a call.

        Args:
            prompt: What the call is about.
        """
        return Scripted({**self.spec, "prompt": len(prompt)})

    @property
    def vocab_size(self) -> int:
        """V."""
        return self.rows.vocab_size


def _made(spec: dict[str, Any]) -> Script:
    return Script({**spec, "masked": True}, rows_of(spec))


def hashed(rng: np.random.Generator, vocab_size: int, scale: float = 1.0) -> Script:
    """A model whose rows depend on every token of the path, prompt included; ``scale`` is their spread."""
    seed = int(rng.integers(1, 2**31))
    return _made({"kind": "prefix", "seed": seed, "vocab_size": vocab_size, "scale": scale})


def decisive(rng: np.random.Generator, vocab_size: int, prompt: Sequence[int], count: int) -> Script:
    """A hashed model whose greedy decoding of ``count`` tokens never hangs on rounding."""
    while True:
        script = hashed(rng, vocab_size)
        if greedy(script.rows, prompt, count)[1] > LEAD:
            return script


def stated(rng: np.random.Generator, vocab_size: int, choices: Mapping[Tokens, int], other: int) -> Script:
    """A model whose likeliest token is stated for some prefixes.

    Args:
        rng: Shakes the other tokens' logits.
        vocab_size: V.
        choices: Prefix (prompt included) → its likeliest token.
        other: The likeliest token after any other prefix.
    """

    def row(token: int) -> Any:
        logits = rng.uniform(-1.0, 1.0, vocab_size)
        logits[token] = 30.0
        return logits - np.log(np.exp(logits).sum())

    rows = [row(token) for token in choices.values()]
    prefixes = [list(prefix) for prefix in choices]
    table = np.array(rows).reshape(len(rows), vocab_size)
    return _made({"kind": "table", "prefixes": prefixes, "rows": table, "default": row(other)})


def tied(rng: np.random.Generator, vocab_size: int, leaders: Mapping[Tokens, Sequence[int]]) -> Script:
    """A model in which several tokens have the same largest logit after some prefixes.

    Args:
        rng: Shakes the other tokens' logits.
        vocab_size: V.
        leaders: Prefix (prompt included) → the tokens that lead alike; token 0 leads after any other.
    """

    def row(tokens: Sequence[int]) -> Any:
        logits = rng.uniform(-9.0, -3.0, vocab_size)
        logits[list(tokens)] = 0.0
        return logits - np.log(np.exp(logits).sum())

    rows = np.array([row(tokens) for tokens in leaders.values()])
    prefixes = [list(prefix) for prefix in leaders]
    return _made({"kind": "table", "prefixes": prefixes, "rows": rows, "default": row((0,))})


def led(
    rng: np.random.Generator, vocab_size: int, prefix: Tokens, first: int, second: int, gap: float
) -> Script:
    """A model in which a token leads the next one by little, and all others by far.

    Args:
        rng: Shakes the other tokens' logits.
        vocab_size: V.
        prefix: What they follow, prompt included; token 0 is the likeliest after any other.
        first: The likeliest token.
        second: The next one.
        gap: How far it is behind.
    """
    logits = rng.uniform(-9.0, -4.0, vocab_size)
    logits[[first, second]] = 0.0, -gap
    default = rng.uniform(-9.0, -4.0, vocab_size)
    default[0] = 0.0
    row, other = (each - np.log(np.exp(each).sum()) for each in (logits, default))
    return _made({"kind": "table", "prefixes": [list(prefix)], "rows": row[None], "default": other})


def distributed(vocab_size: int, prompt: Tokens, rows: Mapping[Tokens, Mapping[int, float]]) -> Script:
    """A model whose distributions are stated.

    Args:
        vocab_size: V.
        prompt: Token ids.
        rows: What follows the prompt → token → probability; all tokens are alike after anything else.
    """
    table = np.log([[row[token] for token in range(vocab_size)] for row in rows.values()])
    default = np.full(vocab_size, -np.log(vocab_size))
    prefixes = [[*prompt, *after] for after in rows]
    return _made({"kind": "table", "prefixes": prefixes, "rows": table, "default": default})


def constant(rng: np.random.Generator, vocab_size: int, token: int) -> Script:
    """A model whose likeliest token is the same everywhere, whatever row is read."""
    return stated(rng, vocab_size, {}, token)
