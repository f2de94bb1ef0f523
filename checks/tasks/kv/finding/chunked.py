"""Finding what takes a prompt in chunks, and running it as if it took the prompt at once.

It takes queries, keys and values (and a cache that it fills), or tokens (and a model); it is a function,
a method of the cache or of the decoder, or an object made from a chunk size.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from judge_tui.checks.binding.candidates import callables
from judge_tui.checks.binding.signatures import arguments
from judge_tui.checks.binding.solver import Family, Option, Search, Trial, trial
from judge_tui.checks.calling.binding import Argument, Binding
from judge_tui.checks.contract import Param, Return, Role
from judge_tui.checks.submission import ADAPTER
from judge_tui.checks.tasks.kv.faces.axis_orders import LAYOUTS, SOLO
from judge_tui.checks.tasks.kv.faces.chunk_fed import ChunkFed
from judge_tui.checks.tasks.kv.faces.decoding import ModelSizes
from judge_tui.checks.tasks.kv.faces.lone import is_lone, lone
from judge_tui.checks.tasks.kv.faces.maker import Maker
from judge_tui.checks.tasks.kv.faces.sequence_handles import opening
from judge_tui.checks.tasks.kv.finding.signatures import Owner, called_with, constructors
from judge_tui.checks.tasks.kv.finding.trials import BUDGET
from judge_tui.checks.tasks.kv.words import roles
from judge_tui.checks.tasks.kv.words.decoder_roles import DECODER
from judge_tui.checks.tasks.kv.words.draws import drawn
from judge_tui.checks.tasks.kv.words.parameters import SEQUENCE
from judge_tui.checks.tasks.kv.words.reference import attention, causal_rows
from judge_tui.checks.tasks.kv.words.sizes import Sizes
from judge_tui.checks.tolerance import relative_error

__all__ = ["NAMED", "ROLE", "as_prefill", "find", "over_tokens"]

#: What is called after chunks; whether it takes a prompt shows in its parameters.
NAMED = re.compile(r"chunk", re.I)
_PROMPT = re.compile(r"prefill|prompt|process|forward")
_ASIDE = re.compile(r"test|demo|bench|bytes|memory|flops|compare|stats|plan|verify|reference|naive", re.I)
_CHUNK = Param(
    "chunk", "int", ("chunk_size", "chunk_len", "chunk_length", "tokens_per_chunk", "c", "prefill_chunk",
                     "prefill_chunk_size", "max_chunk", "step_size", "block_size"), required=False,
)  # fmt: skip
_CHUNKS = Param("chunks", "int", ("num_chunks", "n_chunks", "chunk_count"), required=False)
_BY_NAME = {p.name: p for role in (*roles.ROLES, *DECODER) for p in role.params}
_BY_NAME["sequence"] = SEQUENCE


def _wide(name: str, aliases: str, *, required: bool = False) -> Param:
    known = _BY_NAME[name]
    return replace(known, aliases=(*known.aliases, *aliases.split()), required=required)


_HELD = (
    _wide("cache", "caches kv_caches pool kv_pool"),
    _BY_NAME["cache_k"],
    _BY_NAME["cache_v"],
    _BY_NAME["layer"],
)
_PLACES = (_BY_NAME["sequence"], _BY_NAME["position"], _BY_NAME["lengths"], _CHUNK, _CHUNKS)
_OUT = Return("out", "array", ("output", "outputs", "o", "attn", "attn_out", "context", "y", "result"))
_ARRAYS = Role(
    "chunked",
    (
        _wide("q", "q_prompt prompt_q q_all q_full queries_all all_q"),
        _wide("k", "k_prompt prompt_k k_all k_full keys_all all_k prompt_keys", required=True),
        _wide("v", "v_prompt prompt_v v_all v_full values_all all_v prompt_values", required=True),
        *_HELD, *_PLACES, _BY_NAME["causal"],
    ),
    (_OUT, Return("cache", "handle", ("kv_cache", "past"), required=False)),
    ("chunk",), required=False, pure=False, strict=True,
)  # fmt: skip
#: Sizes that a decoder's calls are told.
_SIZED = tuple(
    p
    for role in DECODER
    for p in role.params
    if role.name == "prefill" and (p.spare or p.name in ("heads", "kv_heads"))
)
_TOKENS = Role(
    "chunked",
    (_wide("model", "attn attention mha attn_layer attention_layer module"),
     _wide("tokens", "prompt_tokens sequence seq"), _BY_NAME["x"], *_HELD, *_PLACES,
     _BY_NAME["use_cache"], *_SIZED),
    (Return("logits", "array", ("output", "out", "y", "hidden", "x")), _ARRAYS.returns[1]),
    ("chunk",), required=False, pure=False, strict=True,
)  # fmt: skip
#: A prompt that goes in piece by piece: over arrays, or tokens.
ROLE = replace(
    _ARRAYS,
    params=(*(replace(p, required=False) for p in _ARRAYS.params), *_TOKENS.params[:3]),
    returns=(replace(_OUT, required=False), *_TOKENS.returns),
)
_MADE_FROM = replace(_ARRAYS, params=(_CHUNK, _CHUNKS, _HELD[0], _BY_NAME["model"], *roles.SIZES))
_MOST = 6


def find(search: Search) -> None:
    """Bind ``chunked``, where something named after chunks takes a prompt."""
    search.bind(_FAMILY)


def _options(search: Search) -> Iterator[Option]:
    """The same, of a decoder's calls first what is told how long the chunks are."""
    found = [*_named(search)]
    told = [one for one in found if one["chunked"].on == "model" and one["chunked"].takes("chunk")]
    yield from (*told, *(one for one in found if one not in told))


def _named(search: Search) -> Iterator[Option]:
    """Callables that take a prompt in chunks, and how each is called; those that cannot be are noted."""
    owners = {name: _owner(search, name) for name in ("create", "decoder")}
    made = constructors(search.loaded)
    prefill = search.bound.get("prefill")
    for item in callables(search.loaded):
        own = item.name.rpartition(".")[2]
        if item.file == ADAPTER or _ASIDE.search(item.name) or (own.startswith("_") and own != "__call__"):
            continue
        cls = str(item.owner["name"]) if item.owner else ""
        asked = any(p.means(param["name"]) for p in (_CHUNK, _CHUNKS) for param in item.params)
        takes_prompts = _PROMPT.search(own)
        if not (NAMED.search(item.name) or (asked and takes_prompts)):
            continue
        if asked and prefill is not None and prefill.target == f"{item.file}:{item.name}":
            yield {"chunked": _with_chunks(prefill, item.params)}
            continue
        known = [called_with(search, item.params, role) for role in (_ARRAYS, _TOKENS)]
        if takes_prompts and known == [None, None]:
            names = ", ".join(str(param["name"]) for param in item.params)
            said = f"cannot be called: nothing is known for each of ({names})"
            search.tried("chunked").append(f"{item.file}:{item.name}: {said}")
        for role, args in zip((_ARRAYS, _TOKENS), known, strict=True):
            if args is None:
                continue
            binding = Binding("chunked", item.file, item.name, args, {}, why="its name and its parameters",
                              line=item.line)  # fmt: skip
            if role is _TOKENS and not (binding.takes("tokens") or binding.takes("x")):
                continue
            if binding.takes("tokens") and binding.takes("x"):
                # what is called after a sequence says which one it is
                binding = binding.handed(tokens="sequence")
            owned = _owned(binding, cls, owners, made)
            if owned is None:
                continue
            yield {"chunked": owned}
            if role is _TOKENS and owned.takes("layer") and not (cls or owned.takes("model")):
                # a decoder may be a layer, and be called so
                yield {"chunked": owned.handed(layer="model")}


def _owned(
    binding: Binding, cls: str, owners: Mapping[str, str], made: Mapping[tuple[str, str], Any]
) -> Binding | None:
    """The same call on the cache, on the decoder, or on an object that is made for it."""
    if not cls:
        return binding
    for on, name in (("cache", "create"), ("model", "decoder")):
        if cls == owners[name]:
            return replace(binding, on=on)
    init = arguments(made.get((binding.file, cls), ()), _MADE_FROM)
    return None if init is None else replace(binding, init=init[0])


def _with_chunks(prefill: Binding, params: Sequence[Mapping[str, Any]]) -> Binding:
    """The decoder's own prefill, told how long the chunks are."""
    named = ((p, str(param["name"])) for param in params for p in (_CHUNK, _CHUNKS) if p.means(param["name"]))
    told = tuple(Argument(p.name, keyword=name) for p, name in named)
    return replace(prefill, role="chunked", args=(*prefill.args, *told[:1]))


def _owner(search: Search, name: str) -> str:
    """The class of the cache or of the decoder; empty when there is none."""
    if name not in search.bound:
        return ""
    told = {"create": (None, "cache"), "decoder": (ModelSizes().inputs(), "model")}
    with search.guess():
        return Owner.of(search.worker, search.bound[name], *told[name]).kind
    return ""


def over_tokens(binding: Binding) -> bool:
    """Whether it takes tokens or hidden vectors, and not keys and values."""
    return not binding.takes("k")


def _readings(search: Search, option: Option) -> Iterator[Option]:
    own, bound = option["chunked"], search.bound
    if own.layout or over_tokens(own):
        yield {"chunked": lone(own) if "prefill" in bound and is_lone([bound["prefill"]]) else own}
        return
    usual = [bound[name].layout for name in ("step_many", "append_many", "step", "append") if name in bound]
    for layout in dict.fromkeys([*usual, *LAYOUTS, *SOLO]):
        if "N" in layout:
            yield {"chunked": replace(own, layout=layout)}


@trial
def _tried(search: Search, option: Option) -> Trial | float:
    """Seven tokens in chunks of three: the error of what is answered."""
    own, bound, worker = option["chunked"], search.bound, search.worker
    if over_tokens(own) and "prefill" not in bound:
        return Trial(float("inf"), "takes tokens, and no decoder was found to hold it against")
    if over_tokens(own):
        make = Maker(worker, bound, lambda: BUDGET)
        given = make(1).draw(np.random.default_rng(13), 8)
        mine, whole = make(1, as_prefill(bound, own), chunk=3), make(1)
        error = relative_error(mine.prefill(given[:, :7]), whole.prefill(given[:, :7]))
        # what computes a text and stores nothing takes no prompt
        step = relative_error(mine.decode(given[:, 7]), whole.decode(given[:, 7]))
        return float(np.max([error, step]))
    sizes = Sizes(2, 3, 12, 8, chunk=3)
    fed = ChunkFed(worker, bound, own, sizes, lambda: BUDGET)
    q, k, v = drawn(np.random.default_rng(12), sizes, 7)
    out = fed.prompt(q, k, v)
    if out is None:
        return fed.held_error(k, v)
    truth = attention(q, k, v, visible=causal_rows(7, 7))
    return relative_error(out[:, :, -1:], truth[:, :, -1:])


def as_prefill(bound: Mapping[str, Binding], option: Binding) -> dict[str, Binding]:
    """The decoder's roles with the prompt taken in chunks."""
    own, role = bound["prefill"], replace(option, role="prefill")
    # A prefill that opens a sequence by itself does so in chunks as well.
    return {**bound, "prefill": role if own.takes("sequence") or "open" in bound else opening(role)}


_FAMILY = Family("chunked", _options, _tried, _readings, meant=lambda *_: True, most=2 * _MOST, shown=12)
