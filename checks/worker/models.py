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
from collections.abc import Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from . import arrays

__all__ = [
    "STYLES",
    "Model",
    "PrefixRows",
    "Row",
    "Rows",
    "State",
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
#: every answer comes before a :class:`State`, with ``turned`` behind one, with ``void`` before None. What
#: reads ``places`` takes a whole number per sequence for the place of its last token; others take it for the
#: number of its tokens.
STYLES = (
    "last", "all", "last list", "all list", "last dict", "last probs", "all probs", "all output",
    "last pair", "all pair", "last turned", "last void", "all void", "last places", "all places",
)  # fmt: skip

_ANSWERS = re.compile(
    r"prob|logit|forward|predict|score|infer|call|next|step|eval_|run|generate_row|"
    r"^(prefill|start|begin|init|encode|decode|advance|extend|append|feed|prime)"
)
_FORMS = ("list", "dict", "output", "pair", "turned", "void")
#: Attributes by which a cache says how many tokens it holds.
_HELD = re.compile(r"^(n|size|pos|position|offset|count|(\w+_)?len(gth)?|(n|num)_tokens|seen_tokens)$")
_KEYWORDS = (
    "input_ids",
    "token_ids",
    "ids",
    "tokens",
    "sequences",
    "sequence",
    "seq",
    "prefix",
    "x",
    "inputs",
)
_LENGTHS = re.compile(r"len|count|size|split")
#: What a single token is called.
_ONE = ("token", "tok", "token_id", "next_token", "new_token", "last_token", "id", "new_id", "last_id")
_WORD = np.uint64(0xFFFFFFFFFFFFFFFF)

#: Calls and rows since :func:`asked` was last read; untrusted, for binding and evidence.
_ASKED = {"model_calls": 0, "model_rows": 0}


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


class State(dict[str, Any]):
    """What a model keeps of the tokens that it has read: a cache, to the submission.

    It is a dict of one array with a row per sequence, so that whoever indexes, repeats, joins or copies the
    rows of every array of a cache does with the sequences what is meant.

    Args:
        tokens: (L,) of one sequence, or (R, L) of several, -1 behind the shorter ones.
    """

    def __init__(self, tokens: Any) -> None:
        super().__init__(tokens=arrays.moved(np.asarray(tokens, np.int64)))

    @classmethod
    def of(cls, value: Any) -> State | None:
        """One that a submission has kept as it was, or made anew of its parts; ``None`` for anything else."""
        if isinstance(value, dict) and list(value) == ["tokens"]:
            array = arrays.hosted(value["tokens"])
            return cls(array) if isinstance(array, np.ndarray) and 0 < array.ndim < 3 else None
        return None

    @property
    def rows(self) -> list[list[int]]:
        """The tokens of every sequence."""
        return [[int(t) for t in row if t >= 0] for row in np.atleast_2d(arrays.hosted(self["tokens"]))]

    def __len__(self) -> int:
        """How many tokens the longest sequence has."""
        return max(map(len, self.rows), default=0)

    def __getattr__(self, name: str) -> int:
        if not _HELD.search(name):
            raise AttributeError(f"the scripted model's cache has no '{name}'")
        return len(self)


def _padded(rows: Sequence[Sequence[int]]) -> Any:
    whole = np.full((len(rows), max(map(len, rows), default=0)), -1, np.int64)
    for place, row in zip(whole, rows, strict=True):
        place[: len(row)] = row
    return whole


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
        named = [("", value) for value in args]
        named += [(key, kwargs.pop(key)) for key in _KEYWORDS if key in kwargs]
        given = [(name.lower(), arrays.hosted(value)) for name, value in (*named, *kwargs.items())]
        states = [State.of(value) for _name, value in given if isinstance(value, dict)]
        state = next((each for each in states if each is not None), None)
        told = [(name, value) for name, value in given if _is_ids(value)]
        if state is not None:
            told = _behind(state, given, told)
        if not told:
            raise TypeError("the scripted model was called without token ids")
        counted()
        ids, others = told[0][1], told[1:]
        pieces = _unpacked(ids, others)
        batch, leading = _sequences(pieces or ids)
        beside = [] if pieces else [value for _name, value in others]
        single = leading is None
        kept = [_kept(ids, index, beside, self._places, single) for index, ids in enumerate(batch)]
        own = [[t for t, keep in zip(ids, real, strict=True) if keep]
               for ids, real in zip(batch, kept, strict=True)]  # fmt: skip
        before = _spread(state.rows, len(batch)) if state is not None else [[]] * len(batch)
        found = [
            self._positions(ids, real, past) if self._all else self._last([*past, *new])
            for ids, real, new, past in zip(batch, kept, own, before, strict=True)
        ]
        if probs:
            found = [np.exp(rows) for rows in found]
        whole = self._formed(found, leading)
        if self._form not in ("pair", "turned"):
            return (whole, None) if self._form == "void" else whole
        read = [[*past, *new] for past, new in zip(before, own, strict=True)]
        after = State(read[0] if leading is None and len(read) == 1 else _padded(read))
        return (whole, after) if self._form == "pair" else (after, whole)

    def _last(self, prefix: list[int]) -> Row:
        _ASKED["model_rows"] += 1
        return np.array(self._rows.row(prefix))

    def _positions(self, ids: list[int], real: list[bool], before: Sequence[int] = ()) -> Row:
        prefix = list(before)
        rows = np.empty((len(ids), self.vocab_size))
        for index, (token, keep) in enumerate(zip(ids, real, strict=True)):
            prefix += [token] if keep else []
            rows[index] = self._rows.row(prefix)
        _ASKED["model_rows"] += len(ids)
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
        return SimpleNamespace(logits=whole) if self._form == "output" else whole


def _is_ids(value: Any) -> bool:
    """Whether a value is a sequence of numbers or of such sequences, possibly empty."""
    if isinstance(value, np.ndarray):
        return value.ndim > 0 and value.dtype.kind in "iubf"
    if not isinstance(value, (list, tuple)):
        return False
    return all(isinstance(item, (int, np.integer)) or _is_ids(item) for item in value)


def _sequences(value: Any) -> tuple[list[list[int]], tuple[int, ...] | None]:
    """Sequences and the leading axes of a batch; ``None`` for one sequence."""
    if isinstance(value, np.ndarray):
        whole = value.reshape(int(np.prod(value.shape[:-1])), value.shape[-1])
        return [[int(t) for t in row] for row in whole], value.shape[:-1] if value.ndim > 1 else None
    if any(not isinstance(item, (int, np.integer)) for item in value):
        parts = [_sequences(item) for item in value]
        inner = parts[0][1] or ()
        return [ids for part, _axes in parts for ids in part], (len(value), *inner)
    return [[int(t) for t in value]], None


def _unpacked(ids: Any, others: Sequence[tuple[str, Any]]) -> list[list[int]]:
    """Sequences of which one stands behind the other, told apart by bounds or by lengths; else none."""
    flat = _flat(ids)
    for name, value in others if flat is not None else ():
        told = _flat(value)
        if flat is None or told is None or not told.size:
            continue
        ends = np.cumsum(told)
        lengths = _LENGTHS.search(name) or (told.size > 1 and np.any(told > 1))
        if told.size > 1 and told[0] == 0 and np.all(np.diff(told) > 0):
            ends, lengths = told[1:], True
        if lengths and np.all(np.diff(ends, prepend=0) > 0) and ends[-1] == flat.size:
            return [[int(t) for t in piece] for piece in np.split(flat, ends[:-1])]
    return []


def _flat(value: Any) -> Any:
    """Whole numbers in one row, (L,); ``None`` for anything else."""
    listed = isinstance(value, (list, tuple)) and all(isinstance(t, (int, np.integer)) for t in value)
    array = np.asarray(value, np.int64) if listed else value
    return array if isinstance(array, np.ndarray) and array.ndim == 1 and array.dtype.kind in "iu" else None


def _behind(
    state: State, given: Sequence[tuple[str, Any]], told: Sequence[tuple[str, Any]]
) -> list[tuple[str, Any]]:
    """What comes behind what was read, tokens first: some of each sequence, or one of a single one.

    Raises:
        TypeError: There are no tokens, or more than one number may be them.
    """
    single = state["tokens"].ndim == 1
    if not told:
        kinds = (int, np.integer)
        told_of = [(n, int(v)) for n, v in given if isinstance(v, kinds) and not isinstance(v, bool)]
        named = [number for name, number in told_of if name in _ONE or name in _KEYWORDS]
        numbers = named or [number for _name, number in told_of]
        if not single or len(numbers) != 1:
            raise TypeError("the scripted model cannot tell which token comes behind its state")
        return [("", [numbers[0]])]
    ids = np.asarray(told[0][1])
    return [("", ids[:, None] if not single and ids.ndim == 1 else ids), *told[1:]]


def _spread(rows: list[list[int]], count: int) -> list[list[int]]:
    """The tokens of every sequence; those of a single one once for each of several.

    Raises:
        TypeError: There are others than that.
    """
    if len(rows) not in (1, count):
        raise TypeError(f"the scripted model has read {len(rows)} sequences, and is asked for {count}")
    return rows if len(rows) == count else rows * count


def _kept(ids: list[int], index: int, others: list[Any], places: bool, single: bool) -> list[bool]:
    """Which positions of a sequence are real: no negative id, and what a mask, lengths or places say."""
    real = [token >= 0 for token in ids]
    for other in others:
        told = np.asarray(other) if not isinstance(other, np.ndarray) else other
        if single and told.shape == (len(ids),) and set(np.unique(told).tolist()) <= {0, 1}:
            told = told[None]
        if told.ndim == 2 and index < len(told) and told.shape[1] == len(ids):
            if set(np.unique(told).tolist()) <= {0, 1} and told[index].any():
                return [keep and bool(flag) for keep, flag in zip(real, told[index], strict=True)]
        elif told.ndim == 1 and index < len(told) and 0 < told[index] + places <= len(ids):
            return [keep and place < int(told[index]) + places for place, keep in enumerate(real)]
        elif told.ndim == 1 and places and index < len(told):
            raise TypeError("the scripted model was given a place behind the last token")
    return real


def counted() -> None:
    """Note that a model was called."""
    _ASKED["model_calls"] += 1


def asked() -> dict[str, int]:
    """Calls and rows since this was last read; empty when no model was asked."""
    told = {key: count for key, count in _ASKED.items() if count}
    _ASKED.update(dict.fromkeys(_ASKED, 0))
    return told


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
        spec: As in :func:`rows_of`, with ``style`` (see :data:`STYLES`) and ``as``: empty for the object,
            ``class`` for something that makes it whatever it is given, or the name of one of its methods.

    Raises:
        ValueError: There is no such kind.
    """
    model = make(rows_of(spec), spec.get("style") or "last")
    wanted = spec.get("as") or ""
    if wanted == "class":
        return lambda *args, **kwargs: model
    return getattr(model, wanted) if wanted else model
