"""Scripted models with exact log-probabilities: what the worker is sent and the oracle reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from judge_tui.checks.calling.remote import Scripted
from judge_tui.checks.worker.scripted.models import Rows, rows_of

__all__ = ["Script", "Tokens", "barred", "certain", "distinct", "hashed", "stated", "table", "wide"]

Tokens = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Script:
    """A scripted model.

    Attributes:
        spec: What the worker builds it from.
        rows: The same model on this side.
        eos: Its end of sequence.
    """

    spec: Mapping[str, Any]
    rows: Rows
    eos: int

    @property
    def model(self) -> Scripted:
        """As an argument of a call."""
        return Scripted(self.spec)

    @property
    def vocab_size(self) -> int:
        """V."""
        return self.rows.vocab_size


def table(
    rng: np.random.Generator,
    vocab_size: int,
    eos: int,
    entries: Mapping[Tokens, Mapping[int, float]],
    *,
    default: Mapping[int, float] | None = None,
) -> Script:
    """A model whose rows are stated for some prefixes.

    Args:
        rng: Shakes what is left over, so that no two tokens tie.
        vocab_size: V.
        eos: End of sequence.
        entries: Prefix (prompt included) → token → log-probability; the rest of the mass is spread over the
            other tokens, so that every row sums to one and normalising it again changes nothing.
        default: The same for every other prefix.
    """
    rows = np.array([_row(rng, vocab_size, stated) for stated in entries.values()])
    spec = {
        "kind": "table",
        "prefixes": [list(prefix) for prefix in entries],
        "rows": rows.reshape(len(entries), vocab_size),
        "default": _row(rng, vocab_size, default or {}),
    }
    return Script(spec, rows_of(spec), eos)


def _row(rng: np.random.Generator, vocab_size: int, stated: Mapping[int, float]) -> Any:
    weights = rng.uniform(0.8, 1.2, vocab_size)
    weights[list(stated)] = 0.0
    rest = 1.0 - sum(np.exp(value) for value in stated.values())
    if rest < -1e-12 or (len(stated) == vocab_size and rest > 1e-9):
        raise ValueError("stated log-probabilities do not sum to at most one")
    if len(stated) < vocab_size:
        weights *= max(rest, 1e-12) / weights.sum()
    weights[list(stated)] = np.exp(list(stated.values()))
    row = np.log(weights)
    # The stated values themselves, not exp and log of them.
    row[list(stated)] = list(stated.values())
    return row


def certain(
    vocab_size: int, eos: int, entries: Mapping[Tokens, Mapping[int, float]], default: Mapping[int, float]
) -> Script:
    """A model of which every row is stated: what is not has a log-probability of -inf.

    Args:
        vocab_size: V.
        eos: End of sequence.
        entries: Prefix (prompt included) → token → probability.
        default: The same for every other prefix.
    """

    def row(stated: Mapping[int, float]) -> Any:
        logits = np.full(vocab_size, -np.inf)
        logits[list(stated)] = np.log(list(stated.values()))
        return logits

    rows = np.array([row(stated) for stated in entries.values()])
    spec = {
        "kind": "table",
        "prefixes": [list(prefix) for prefix in entries],
        "rows": rows,
        "default": row(default),
    }
    return Script(spec, rows_of(spec), eos)


def stated(
    vocab_size: int, eos: int, entries: Mapping[Tokens, Mapping[int, float]], default: Mapping[int, float]
) -> Script:
    """A model of which all log-probabilities are stated.

    Args:
        vocab_size: V.
        eos: End of sequence.
        entries: Prefix (prompt included) → every token → its log-probability.
        default: The same for every other prefix.
    """
    rows = np.array([[row[token] for token in range(vocab_size)] for row in entries.values()])
    other = np.array([default[token] for token in range(vocab_size)])
    spec = {"kind": "table", "prefixes": [list(prefix) for prefix in entries], "rows": rows, "default": other}
    return Script(spec, rows_of(spec), eos)


def barred(rng: np.random.Generator, vocab_size: int, eos: int, prompt: Tokens) -> Script:
    """A model that rules a third of its tokens out at every place, never EOS: log-probability -inf.

    Args:
        rng: Draws it.
        vocab_size: V.
        eos: End of sequence.
        prompt: What is searched; rows of its own have the prefixes of up to one token behind it.
    """

    def row() -> Any:
        logits = rng.gumbel(size=vocab_size)
        logits[distinct(rng, vocab_size, vocab_size // 3, but=(eos,))] = -np.inf
        return logits - np.logaddexp.reduce(logits)

    prefixes = [list(prompt), *([*prompt, token] for token in range(vocab_size))]
    rows = np.array([row() for _prefix in prefixes])
    spec = {"kind": "table", "prefixes": prefixes, "rows": rows, "default": row()}
    return Script(spec, rows_of(spec), eos)


def hashed(
    rng: np.random.Generator, vocab_size: int, eos: int, *, scale: float = 1.0, bias: float = 0.0
) -> Script:
    """A model whose rows depend on the whole prefix, prompt included.

    Args:
        rng: Seeds it.
        vocab_size: V.
        eos: End of sequence.
        scale: Spread of its logits.
        bias: Added to the logit of EOS.
    """
    seed = int(rng.integers(1, 2**31))
    spec = {
        "kind": "prefix",
        "seed": seed,
        "vocab_size": vocab_size,
        "scale": scale,
        "token": eos,
        "bias": bias,
    }
    return Script(spec, rows_of(spec), eos)


def wide(rng: np.random.Generator) -> int:
    """A V at which what is left of the probability lies at about -7 per token."""
    return int(rng.integers(900, 1200))


def distinct(rng: np.random.Generator, vocab_size: int, count: int, *, but: Sequence[int] = ()) -> list[int]:
    """Different token ids, none of ``but``."""
    free = [token for token in range(vocab_size) if token not in but]
    return [int(token) for token in rng.choice(free, count, replace=False)]
