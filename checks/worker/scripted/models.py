"""Scripted models that a search is run against; the trusted side computes the same rows.

A model here is a function from a prefix (every token so far, prompt included) to exact,
normalised log-probabilities of the next token. :class:`Model` wraps one so that it
answers every interface that searches are written for: called, or by any method whose
name speaks of logits, probabilities or steps; with one sequence or many, as lists or
arrays, padded or ragged, one behind the other; with the last position or all of them;
from the start, or behind what it has read before.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from .. import arrays
from .prefixes import Prefix, Prefixes

__all__ = [
    "STYLES",
    "Model",
    "PrefixRows",
    "Row",
    "Rows",
    "TableRows",
    "asked",
    "build",
    "counted",
    "rows_of",
]

if TYPE_CHECKING:
    import numpy.typing as npt

Row: TypeAlias = "npt.NDArray[np.float64]"

#: How answers are shaped, likeliest first: which positions, as what, and whether exponentiated. With ``pair``
#: every answer is followed by a :class:`.prefixes.State`, with ``turned`` it follows one, with ``void`` None
#: follows it; what reads ``places`` takes a whole number per prefix for the place of its last token, others
#: take it for the number of its tokens.
STYLES = (
    "last", "all", "last list", "all list", "last dict", "last probs", "all probs", "all output",
    "last pair", "all pair", "last turned", "last void", "all void", "last places", "all places",
)  # fmt: skip

_ANSWERS = re.compile(
    r"prob|logit|forward|predict|score|infer|call|next|step|eval_|run|generate_row|"
    r"^(prefill|start|begin|init|encode|decode|advance|extend|append|feed|prime)"
)
_FORMS = ("list", "dict", "output", "pair", "turned", "void")
_WORD = np.uint64(0xFFFFFFFFFFFFFFFF)

#: Calls and rows since :func:`asked` was last read; untrusted, for binding and evidence.
_ASKED = {"model_calls": 0, "model_rows": 0}
#: The newest arrays that were answered, each beside a copy: who writes into one is told.
_GIVEN: deque[tuple[Row, Row]] = deque(maxlen=16)


class Rows(Protocol):
    """A prefix's row: log-probabilities of the next token, shape (V,), float64."""

    vocab_size: int

    def row(self, prefix: Sequence[int]) -> Row:
        """The row of a prefix; the caller may not change it."""


class TableRows:
    """Rows from a table; prefixes that are not in it have the default row.

    Args:
        prefixes: The prefixes that have rows.
        rows: Theirs, shape (len(prefixes), V).
        default: Shape (V,).
    """

    def __init__(self, prefixes: Sequence[Sequence[int]], rows: Any, default: Any) -> None:
        self._rows = {
            tuple(int(t) for t in prefix): np.array(row) for prefix, row in zip(prefixes, rows, strict=True)
        }
        self._default = np.array(default)
        self.vocab_size = len(self._default)

    def row(self, prefix: Sequence[int]) -> Row:
        """The row of a prefix."""
        return self._rows.get(tuple(prefix), self._default)


class PrefixRows:
    """Rows that depend on every token of the prefix, by hashing it.

    Args:
        seed: Another seed is another model.
        vocab_size: V.
        scale: Spread of the logits; 0 is uniform.
        bias: Added to the logit of ``token``.
        token: The token (EOS) that ``bias`` makes likelier or less likely.
    """

    def __init__(
        self, seed: int, vocab_size: int, scale: float = 1.0, token: int = 0, bias: float = 0.0
    ) -> None:
        self.vocab_size = int(vocab_size)
        self._seed = _mixed(np.array([seed], np.uint64))
        self._scale, self._token, self._bias = float(scale), int(token), float(bias)
        self._known: dict[tuple[int, ...], Row] = {}
        self._slots = _mixed(np.arange(1, self.vocab_size + 1, dtype=np.uint64))

    def row(self, prefix: Sequence[int]) -> Row:
        """The row of a prefix; kept, since a search's variants ask for the same ones."""
        key = tuple(int(token) for token in prefix)
        if key not in self._known:
            self._known[key] = self._made(key)
        return self._known[key]

    def _made(self, prefix: tuple[int, ...]) -> Row:
        state = self._seed
        for token in prefix:
            state = _mixed(state ^ np.array([(token + 1) & 0xFFFFFFFF], np.uint64))
        uniform = (_mixed(state ^ self._slots) >> np.uint64(11)).astype(np.float64) / 2.0**53
        # Gumbel noise: a few likely tokens and a long tail, as language models have.
        logits = -np.log(-np.log(np.clip(uniform, 1e-12, 1 - 1e-12))) * self._scale
        logits[self._token] += self._bias
        logits -= logits.max()
        return np.asarray(logits - np.log(np.exp(logits).sum()))


def _mixed(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The finalizer of SplitMix64, element by element."""
    words = (words + np.uint64(0x9E3779B97F4A7C15)) & _WORD
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


class Model:
    """An object that answers as a submission's model would.

    Args:
        rows: What it knows.
        style: One of :data:`STYLES`: ``last`` gives (V,) or (n, V), ``all`` gives (L, V) or (n, L, V).
    """

    def __init__(self, rows: Rows, style: str = "last") -> None:
        words = style.split()
        self._rows = rows
        self._all = "all" in words
        self._probs = "probs" in words
        self._places = "places" in words
        self._form = next((w for w in words if w in _FORMS), "array")
        self.vocab_size = self.V = self.n_vocab = self.num_tokens = rows.vocab_size

    def told(self, prompt: int) -> None:
        """How many tokens the prompt has; of no use to a search."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Answer for what looks like token ids among the arguments; a mask or lengths may follow."""
        return self._answer(args, kwargs, self._probs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not _ANSWERS.search(name.lower()):
            raise AttributeError(f"the scripted model has no '{name}'")
        plain = name.lower().replace("log_prob", "").replace("logprob", "")
        probs = self._probs or "prob" in plain
        return lambda *args, **kwargs: self._answer(args, kwargs, probs)

    def eval(self) -> Model:
        """Itself, as frameworks have it."""
        return self

    def _answer(self, args: tuple[Any, ...], kwargs: dict[str, Any], probs: bool) -> Any:
        prefixes = Prefixes.read(args, kwargs, places=self._places)
        counted()
        found = [self._positions(each) if self._all else self._last(each.whole) for each in prefixes.each]
        if probs:
            found = [np.exp(rows) for rows in found]
        whole = self._formed(found, prefixes.leading)
        if self._form not in ("pair", "turned"):
            return (whole, None) if self._form == "void" else whole
        return (whole, prefixes.after()) if self._form == "pair" else (prefixes.after(), whole)

    def _last(self, prefix: list[int]) -> Row:
        _ASKED["model_rows"] += 1
        return np.array(self._rows.row(prefix))

    def _positions(self, prefix: Prefix) -> Row:
        tokens = list(prefix.before)
        rows = np.empty((len(prefix.ids), self.vocab_size))
        for index, (token, real) in enumerate(zip(prefix.ids, prefix.real, strict=True)):
            tokens += [token] if real else []
            rows[index] = self._rows.row(tokens)
        _ASKED["model_rows"] += len(prefix.ids)
        return rows

    def _formed(self, found: list[Row], leading: tuple[int, ...] | None) -> Any:
        if leading is None:
            whole: Any = found[0]
        elif len({rows.shape for rows in found}) > 1:
            whole = found
        else:
            tail = found[0].shape if found else (self.vocab_size,)
            whole = np.array(found).reshape(*leading, *tail)
        if self._form not in ("list", "dict"):
            whole = [arrays.moved(rows) for rows in whole] if isinstance(whole, list) else arrays.moved(whole)
        if self._form == "list":
            return [rows.tolist() for rows in whole] if isinstance(whole, list) else whole.tolist()
        if self._form == "dict":
            maps = [dict(enumerate(rows.tolist())) for rows in found]
            return maps[0] if leading is None else maps
        if isinstance(whole, np.ndarray):
            _GIVEN.append((whole, whole.copy()))
        return SimpleNamespace(logits=whole) if self._form == "output" else whole


def counted() -> None:
    """Note that a model was called."""
    _ASKED["model_calls"] += 1


def asked() -> dict[str, int]:
    """Calls and rows since this was last read, and answers written into; empty when no model was asked."""
    told = {key: count for key, count in _ASKED.items() if count}
    _ASKED.update(dict.fromkeys(_ASKED, 0))
    changed = sum(not np.array_equal(array, copy, equal_nan=True) for array, copy in _GIVEN)
    _GIVEN.clear()
    return told | ({"model_answers_changed": changed} if changed else {})


def rows_of(spec: dict[str, Any]) -> Rows:
    """The rows that a spec describes; both sides call this.

    Args:
        spec: ``kind`` ``"table"`` with ``prefixes``, ``rows``, ``default``; or ``"prefix"`` with ``seed``,
            ``vocab_size``, ``scale``, ``token``, ``bias``.

    Raises:
        ValueError: There is no such kind.
    """
    if spec.get("kind") == "table":
        return TableRows(spec["prefixes"], spec["rows"], spec["default"])
    if spec.get("kind") == "prefix":
        names = ("seed", "vocab_size", "scale", "token", "bias")
        return PrefixRows(**{name: spec[name] for name in names if name in spec})
    raise ValueError(f"no scripted model of kind {spec.get('kind')!r}")


def build(spec: dict[str, Any], make: type[Model] = Model) -> Any:
    """Make the model that ``spec`` describes.

    Args:
        make: The interface that it answers by.
        spec: As in :func:`rows_of`, with ``style`` (see :data:`STYLES`), ``prompt``, the length of the prompt
            that it is asked about where that is known, and ``as``: empty for the object, ``class`` for
            something that makes it whatever it is given, or the name of one of its methods.

    Raises:
        ValueError: There is no such kind.
    """
    model = make(rows_of(spec), spec.get("style") or "last")
    if spec.get("prompt"):
        model.told(spec["prompt"])
    wanted = spec.get("as") or ""
    if wanted == "class":
        return lambda *args, **kwargs: model
    return getattr(model, wanted) if wanted else model
