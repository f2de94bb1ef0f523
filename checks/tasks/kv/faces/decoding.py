"""A submission's decoder (a whole model, or a layer with its projections) behind one face.

Decoders take token ids or hidden vectors, own their cache or are handed one, and answer for the
last position or for all. :class:`Decoder` speaks to all of them.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.calling.calls import Returned, invoke
from judge_tui.checks.calling.remote import Handle, Worker
from judge_tui.checks.faults import BadResult, Skipped
from judge_tui.checks.tasks.kv.faces.answers import State, cache_of, carries, made_cache, part
from judge_tui.checks.tasks.kv.faces.joined import Joined, joins
from judge_tui.checks.tasks.kv.faces.left_padding import LEFT, after, aligned, marked
from judge_tui.checks.tasks.kv.faces.lone import KEYED
from judge_tui.checks.tasks.kv.faces.sequence_handles import given_handle, hands_out
from judge_tui.checks.tasks.kv.faces.told import PLACES, drawn_weights, placed
from judge_tui.checks.tasks.kv.words.decoder_roles import BY_NAME
from judge_tui.checks.tasks.kv.words.sizes import BLOCK

__all__ = ["FEW_IDS", "IDS", "Decoder", "ModelSizes"]

Array = npt.NDArray[Any]
#: What token ids are called when they are handed over: a batch, a column of it, lists, one sequence, one id,
#: a dict of them.
IDS = ("tokens", "token", "token_lists", "ids", "id", "id_by_sequence", "id_history")
#: A vocabulary of which most tables hold all.
FEW_IDS = 29
#: Fewer logits than this are taken for something else: ids, or a flag.
_NARROW = 8


@dataclass(frozen=True, slots=True)
class ModelSizes:
    """What a decoder is made for; ``seed`` fixes its weights.

    ``kv_heads`` is ``heads`` where it is 0, and ``window`` is ``max_len``. Weights that are handed over are
    (inputs, outputs), or the other way round with ``outputs_first``.
    """

    batch: int = 2
    vocab: int = FEW_IDS
    embed: int = 24
    heads: int = 3
    layers: int = 2
    max_len: int = 32
    seed: int = 5
    dtype: str = "float32"
    kv_heads: int = 0
    chunk: int = 4
    window: int = 0
    outputs_first: bool = False

    def inputs(self) -> dict[str, Any]:
        """By canonical name."""
        blocks = self.batch * -(-self.max_len // BLOCK)
        shared = self.embed // self.heads * (self.kv_heads or self.heads)
        return {
            **drawn_weights(
                self.embed, self.embed, shared, self.seed, self.dtype, outputs_first=self.outputs_first
            ),
            "batch": self.batch, "vocab": self.vocab, "embed": self.embed, "heads": self.heads,
            "kv_heads": self.kv_heads or self.heads, "head_dim": self.embed // self.heads,
            "layers": self.layers, "layer": 0, "max_len": self.max_len, "ff": 2 * self.embed,
            "seed": self.seed, "dtype": self.dtype, "chunk": self.chunk, "one_layer": 1, "bits": 8,
            "causal": True, "window": self.window or self.max_len,
            "blocks": blocks, "blocks_and_one": blocks + 1, "blocks_each": -(-self.max_len // BLOCK),
            "block_size": BLOCK, "count": self.max_len, "all_tokens": self.batch * self.max_len,
        }  # fmt: skip


class Decoder:
    """A decoder with an empty cache.

    Args:
        worker: Where the submission is.
        bound: Role → binding.
        sizes: What it is made for.
        left: Tells the seconds that remain.

    Attributes:
        takes: ``tokens`` (ids) or ``x`` (hidden vectors).
        counts: (B,) positions that were fed.
        history: All that was fed, (B, S) or (B, S, E); ``None`` before the first call.
        joined: Keys and values that are the caller's to join, where they are.
        real: (B, S) bool, which places of a cache hold no padding, where prompts are padded in front.
        sequences: What the model calls its sequences, where it keeps several apart.
        counters: What the worker counted in each call; asked for where it is a list.
    """

    def __init__(
        self, worker: Worker, bound: Mapping[str, Binding], sizes: ModelSizes, left: Callable[[], float]
    ) -> None:
        self.worker, self.bound, self.sizes, self.left = worker, bound, sizes, left
        self.takes = "tokens" if any(bound[r].takes(t) for r in ("prefill", "decode") for t in IDS) else "x"
        self.counts = np.zeros(sizes.batch, np.int64)
        self.history: Array | None = None
        self.joined = Joined(worker) if any(map(joins, bound.values())) else None
        self.real = np.ones((sizes.batch, 0), bool)
        self.state: State = None
        self.counters: list[Mapping[str, Any]] | None = None
        self.model: Handle | None = None
        if "decoder" in bound:
            made = self._invoked(bound["decoder"], sizes.inputs())
            self.model = made.handle("model") if made.has("model") else made.result.handle
        if "state" in bound:
            self.state = self._empty(bound["state"])
        elif "states" in bound:
            self.state = worker.put([self._empty(bound["states"]) for _ in range(sizes.layers)])
        self.sequences = [self._opened(0)]

    def _opened(self, number: int) -> Any:
        """What a model, or its cache, that keeps sequences apart calls a new one: its number, if no other."""
        if "open" not in self.bound:
            return None if hands_out(self.bound) else number
        given = {**self.sizes.inputs(), "model": self.model, "cache": self.state, "sequence": number}
        told = self._invoked(self.bound["open"], given).result
        if told.tree.get("kind") == "none":
            return number
        return self.worker.value(told.handle) if told.tree.get("kind") in ("int", "str") else told.handle

    def _empty(self, binding: Binding) -> Handle:
        made = self._invoked(binding, {**self.sizes.inputs(), "model": self.model})
        return made.handle("cache") if made.has("cache") else made.result.handle

    def beside(self, number: int) -> Decoder:
        """Another sequence of the same model and the same cache, which nothing was fed.

        Args:
            number: What it is called where the submission does not say.
        """
        other = copy.copy(self)
        other.counts, other.real = np.zeros_like(self.counts), self.real[:, :0]
        other.history = None
        other.joined = Joined(self.worker) if self.joined else None
        other.sequences = [other._opened(number)]
        return other

    def forget(self) -> None:
        """Count from nothing: the submission has emptied it."""
        self.counts, self.history, self.real = np.zeros_like(self.counts), None, self.real[:, :0]

    def draw(self, rng: np.random.Generator, tokens: int) -> Array:
        """Random input: (B, tokens) ids, or (B, tokens, E) vectors."""
        sizes = self.sizes
        if self.takes == "tokens":
            return rng.integers(0, sizes.vocab, (sizes.batch, tokens))
        vectors: Array = rng.standard_normal((sizes.batch, tokens, sizes.embed)).astype(sizes.dtype)
        return vectors

    @property
    def roots(self) -> list[Handle]:
        """The model, and the cache that goes beside it."""
        roots = [self.model] if self.model is not None else []
        if isinstance(self.state, Handle):
            return [*roots, self.state]
        return [*roots, *(self.state or ())]

    def held(self) -> int:
        """Bytes of the model and of the cache that goes beside it."""
        return sum(self.worker.footprint(root) for root in self.roots)

    @property
    def ragged(self) -> bool:
        """Whether prompts of one batch may differ in length."""
        told = ("lengths", "mask", "prompts", "token_lists", *LEFT)
        return any(self.bound["prefill"].takes(name) for name in told)

    def prefill(self, prompt: Array, lengths: Array | None = None) -> Array:
        """Feed the prompts.

        Args:
            prompt: (B, T) or (B, T, E).
            lengths: (B,) real tokens of each; all, when left out.

        Returns:
            (B, W) answers at each prompt's last position.
        """
        binding = self.bound["prefill"]
        tokens = prompt.shape[1]
        whole = np.full(self.sizes.batch, tokens)
        if lengths is not None and not self.ragged:
            raise Skipped(f"{binding.target} takes no lengths")
        real = whole if lengths is None else np.asarray(lengths, np.int64)
        in_front = any(binding.takes(name) for name in LEFT)
        rows = self._answer(binding, aligned(prompt, real) if in_front else prompt, real)
        self.counts += real
        ends = np.full_like(real, tokens) if in_front else real
        last: Array = rows[:, 0] if rows.shape[1] == 1 else rows[np.arange(len(real)), ends - 1]
        return last

    def answers(self, prompt: Array, lengths: Array | None = None) -> Array:
        """Feed the prompts, of so many tokens each; (B, T, W) answers, or (B, 1, W) at the last one alone."""
        real = np.full(self.sizes.batch, prompt.shape[1]) if lengths is None else lengths
        rows = self._answer(self.bound["prefill"], prompt, real)
        self.counts += real
        return rows

    def prefill_rows(self, prompt: Array) -> Array | None:
        """Feed the prompts; (B, T, W) answers at every position, or ``None`` when only the last is given."""
        rows = self.answers(prompt)
        return rows if rows.shape[1] == prompt.shape[1] > 1 else None

    def decode(self, new: Array, active: Array | None = None) -> Array:
        """Feed one token per sequence.

        Args:
            new: (B,) ids or (B, E) vectors.
            active: (B,) bool: sequences that go on; all, when left out.

        Returns:
            (B, W).
        """
        binding = self.bound["decode"]
        going = np.ones(self.sizes.batch, bool) if active is None else active
        if active is not None and not binding.takes("active"):
            raise Skipped(f"{binding.target} takes no mask of the sequences that go on")
        column = new[:, None]
        rows = self._answer(binding, column, going.astype(np.int64), flat=new)
        self.counts += going
        return rows[:, 0]

    def _answer(self, binding: Binding, given: Array, real: Array, flat: Array | None = None) -> Array:
        line, seen = given[0] if flat is None else flat, after(self.real, real, given.shape[1])
        begins = self.history is None or len(self.history) != len(given)
        history = given if begins else np.concatenate([self.history, given], axis=1)
        inputs: dict[str, Any] = {
            **self.sizes.inputs(), "model": self.model, "cache": self.state, "tokens": given, "x": given,
            "token": given if flat is None else flat, "vector": given if flat is None else flat,
            "ids": line, "rows": line, "id": given[0, 0].item() if given.ndim == 2 else None,
            "row": given[0, 0],
            "prompts": [row[:n] for row, n in zip(given, real, strict=True)],
            "token_lists": [row[:n].tolist() for row, n in zip(given, real, strict=True)],
            "lengths": real, "active": real > 0, "position": int(self.counts.max()),
            "positions": self.counts.copy(), "use_cache": True, "totals": self.counts + real,
            "no_cache": False, "stepping": binding.role.endswith("decode"),
            "prompting": not binding.role.endswith("decode"),
            "cache_k": self.state[0] if isinstance(self.state, tuple) else None,
            "cache_v": self.state[1] if isinstance(self.state, tuple) else None,
            "sequence": self.sequences[0], "sequences": self.sequences, "opened": self.sequences[0],
            "valid": None, **self._by_sequence(given),
            "mask": np.arange(given.shape[1]) < real[:, None], **marked(seen),
            "chunks": -(-given.shape[1] // self.sizes.chunk),
            "id_history": history, "row_history": history,
            **self._placed(binding, given), **(self.joined.inputs() if self.joined else {}),
        }  # fmt: skip
        role = BY_NAME[binding.role]
        before = self.state
        returned = self._invoked(binding, inputs)
        self.real, self.history = seen, history
        if self.joined:
            self.joined.take(returned, given.shape[1])
        if binding.takes("cache") or binding.takes("cache_k") or returned.has("cache"):
            # The object that a method is called on is the model here, not the cache.
            self.state = cache_of(returned, replace(binding, on=""), role, before)
        elif (
            binding.role != "decode" and carries(self.bound["decode"])
            and not {"state", "states"} & set(self.bound)
        ):  # fmt: skip
            self.state = made_cache(returned, before)
        if binding.role != "decode" and hands_out(self.bound):
            self.sequences = [given_handle(returned, self.sequences[0])]
        if any(binding.takes(name) for name in KEYED):
            return self._keyed_rows(returned)
        handle = part(returned, role, "logits", (1, 2, 3))
        if handle is None:
            raise BadResult(f"{binding.target} gives no logits")
        return self._rows(handle, given.shape[1])

    def _placed(self, binding: Binding, given: Array) -> dict[str, Any]:
        """Masks, tables and places of the new tokens, for a call that asks for any of them."""
        if not any(binding.takes(name) for name in PLACES):
            return {}
        width = self.sizes.embed // self.sizes.heads
        return placed(int(self.counts.max()), given.shape[1], len(given), width)

    def _by_sequence(self, given: Array) -> dict[str, Any]:
        """The first token of every sequence in a dict, where sequences are called by what can be a key."""
        if not all(isinstance(name, (int, str)) for name in self.sequences):
            return dict.fromkeys(KEYED)
        first = dict(zip(self.sequences, given[:, 0], strict=False))
        return dict.fromkeys(KEYED, first)

    def _keyed_rows(self, returned: Returned) -> Array:
        """The answer to a dict, which holds one under every sequence, as (B, 1, W)."""
        tree, rows = returned.result.tree, []
        held = {key: step for step, key, _below in tree.get("parts", ())}
        for name in self.sequences:
            if tree.get("kind") != "dict" or name not in held:
                raise BadResult(f"{returned.binding.target} gives no answer under the sequence {name!r}")
            rows.append(self._row(returned.result.handle.part((held[name], name))))
        return np.concatenate(rows)

    def _row(self, handle: Handle) -> Array:
        """The answer for one sequence and one token, as (1, 1, W)."""
        one = copy.copy(self)
        one.sizes = replace(self.sizes, batch=1)
        return one._rows(handle, 1)

    def _rows(self, handle: Handle, tokens: int) -> Array:
        """The answer as (B, T or 1, W)."""
        tree = self.worker.describe(handle)
        if tree.get("kind") in ("list", "tuple") and _shapes(tree):
            return self._listed(handle, tree, tokens)
        told = [int(n) for n in tree.get("shape", ())] or _nested(tree)
        batch = self.sizes.batch
        width = told[-1] if told and self._is_width(told[-1], tokens, tree) else self.sizes.embed
        for shape in ((batch, tokens, width), (batch, 1, width), (batch, width), (tokens, width), (width,)):
            if list(shape) == told and (batch == 1 or shape[0] == batch):
                return self.worker.fetch(handle, shape).reshape(batch, -1, width)
        self.worker.fetch(handle, (batch, tokens, width))
        raise BadResult(f"logits of shape {tuple(told)}")

    def _listed(self, handle: Handle, tree: Mapping[str, Any], tokens: int) -> Array:
        """An array of answers per sequence as (B, T or 1, W), with NaN behind the shorter ones."""
        shapes = _shapes(tree)
        width = shapes[0][-1]
        counts = [shape[0] if len(shape) == 2 else 1 for shape in shapes]
        fits = all(len(shape) <= 2 and shape[-1] == width for shape in shapes) and max(counts) <= tokens
        one = tree["parts"][0][2]
        if len(shapes) != self.sizes.batch or not fits or not self._is_width(width, tokens, one):
            raise BadResult(f"logits of shapes {', '.join(map(str, shapes))}")
        out = np.full((len(shapes), 1 if max(counts) == 1 else tokens, width), np.nan)
        for b, (step, key, _below) in enumerate(tree["parts"]):
            row = self.worker.fetch(handle.part((step, key)), shapes[b])
            out[b, : counts[b]] = row.reshape(counts[b], width)
        return out

    def _is_width(self, told: int, tokens: int, tree: Mapping[str, Any]) -> bool:
        """Whether an answer may be so wide: of a decoder that is told of no width, unless it may be ids."""
        decoder = self.bound.get("decoder")
        own = decoder is not None and not (decoder.takes("vocab") or decoder.takes("embed"))
        free = told >= _NARROW and (told != tokens or str(tree.get("dtype", "")).startswith("float"))
        return told in (self.sizes.vocab, self.sizes.embed) or (own and free)

    def _invoked(self, binding: Binding, inputs: dict[str, Any]) -> Returned:
        counting = self.counters is not None
        returned = invoke(self.worker, binding, inputs, budget=self.left(), count=counting)
        if self.counters is not None:
            self.counters.append(returned.result.counters)
        return returned


def _shapes(tree: Mapping[str, Any]) -> list[tuple[int, ...]]:
    """The shapes of arrays in a list; none where it holds anything else."""
    parts = [below for _step, _key, below in tree.get("parts", ())]
    shapes = [tuple(int(n) for n in below.get("shape", ())) for below in parts]
    arrays = all(below.get("kind") == "array" for below in parts) and all(shapes)
    return shapes if arrays and len(parts) == tree.get("count", len(parts)) else []


def _nested(tree: Mapping[str, Any]) -> list[int]:
    """The shape of nested lists of numbers, by their first items."""
    shape = []
    while tree.get("kind") in ("list", "tuple"):
        shape.append(int(tree.get("count", 0)))
        parts = tree.get("parts") or [["", "", {}]]
        tree = parts[0][2]
    return shape
