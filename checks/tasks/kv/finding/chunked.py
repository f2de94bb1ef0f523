"""Finding what takes a prompt in chunks, and running it as if it took the prompt at once.

It takes queries, keys and values (and a cache that it fills), or tokens (and a model); it is a function,
a method of the cache or of the decoder, or an object made from a chunk size.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from judge_tui.checks.binding.candidates import callables
from judge_tui.checks.calling.binding import Argument, Binding
from judge_tui.checks.calling.calls import invoke
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.contract import Param, Return, Role
from judge_tui.checks.faults import Fault
from judge_tui.checks.submission import ADAPTER
from judge_tui.checks.tasks.kv.faces.axis_orders import LAYOUTS, SOLO
from judge_tui.checks.tasks.kv.faces.chunk_fed import ChunkFed
from judge_tui.checks.tasks.kv.faces.decoding import ModelSizes
from judge_tui.checks.tasks.kv.faces.lone import is_lone, lone
from judge_tui.checks.tasks.kv.faces.maker import Maker
from judge_tui.checks.tasks.kv.faces.sequence_handles import opening
from judge_tui.checks.tasks.kv.finding import trial
from judge_tui.checks.tasks.kv.finding.readings import renamed
from judge_tui.checks.tasks.kv.finding.signatures import Configs, Owner, arguments
from judge_tui.checks.tasks.kv.words import roles
from judge_tui.checks.tasks.kv.words.decoder_roles import DECODER
from judge_tui.checks.tasks.kv.words.draws import drawn
from judge_tui.checks.tasks.kv.words.parameters import SEQUENCE
from judge_tui.checks.tasks.kv.words.reference import attention, causal_rows
from judge_tui.checks.tasks.kv.words.roles import ByRole
from judge_tui.checks.tasks.kv.words.sizes import Sizes
from judge_tui.checks.tolerance import relative_error

__all__ = ["NAMED", "ROLE", "as_prefill", "find", "over_tokens"]

Inventories = Mapping[str, Mapping[str, Any]]
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
    ("chunk",), required=False, pure=False,
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
    ("chunk",), required=False, pure=False,
)  # fmt: skip
#: A prompt that goes in piece by piece: over arrays, or tokens.
ROLE = replace(
    _ARRAYS,
    params=(*(replace(p, required=False) for p in _ARRAYS.params), *_TOKENS.params[:3]),
    returns=(replace(_OUT, required=False), *_TOKENS.returns),
)
_MADE_FROM = replace(_ARRAYS, params=(_CHUNK, _CHUNKS, _HELD[0], _BY_NAME["model"], *roles.SIZES))
_MOST = 6


def find(
    worker: Worker,
    loaded: Inventories,
    bound: ByRole,
    rejected: dict[str, list[str]],
    fatal: dict[str, Fault],
) -> None:
    """Bind ``chunked``, where something named after chunks takes a prompt.

    Args:
        worker: Where the submission is.
        loaded: File → inventory.
        bound: Role → binding; added to.
        rejected: Role → what was tried.
        fatal: Callables that ended the process; not called again.
    """
    written = bound.pop("chunked", None)
    tried = rejected.setdefault("chunked", [])
    first: Binding | None = None
    options = [written] if written else list(_options(worker, loaded, bound, tried))
    for option in options[: 2 * _MOST]:
        for reading in _readings(option, bound):
            run = partial(_tried, worker, bound, reading)
            result = trial.survived(fatal, {"chunked": reading}, run)
            if result.right:
                bound["chunked"] = reading
                return
            if result.ran:
                first = first or reading
            line = f"{reading.target}: {result.said or f'runs, error {result.error:.2g}'}"
            if len(tried) < 12 and line not in tried:
                tried.append(line)
    if settled := first or written:
        bound["chunked"] = settled


def _options(worker: Worker, loaded: Inventories, bound: ByRole, tried: list[str]) -> Iterator[Binding]:
    """Callables that take a prompt in chunks, and how each is called; ``tried`` gets those that cannot be."""
    owners = {name: _owner(worker, bound, name) for name in ("create", "decoder")}
    made = {
        (file, cls["name"]): cls["params"]
        for file, inventory in loaded.items()
        for cls in inventory.get("classes", ())
        if cls["params"] is not None
    }
    configs = Configs.of(loaded, worker.submission)
    for item in callables(loaded):
        own = item.name.rpartition(".")[2]
        if item.file == ADAPTER or _ASIDE.search(item.name) or (own.startswith("_") and own != "__call__"):
            continue
        cls = str(item.owner["name"]) if item.owner else ""
        parts = made.get((item.file, cls), ()) if cls else ()
        asked = any(p.means(param["name"]) for p in (_CHUNK, _CHUNKS) for param in item.params)
        takes_prompts = _PROMPT.search(own)
        if not (NAMED.search(item.name) or (asked and takes_prompts)):
            continue
        prefill = bound.get("prefill")
        if asked and prefill is not None and prefill.target == f"{item.file}:{item.name}":
            yield _with_chunks(prefill, item.params)
            continue
        known = [arguments(item.params, role, configs) for role in (_ARRAYS, _TOKENS)]
        if takes_prompts and known == [None, None]:
            names = ", ".join(str(param["name"]) for param in item.params)
            tried.append(f"{item.file}:{item.name}: cannot be called: nothing is known for each of ({names})")
        for role, args in zip((_ARRAYS, _TOKENS), known, strict=True):
            if args is None:
                continue
            binding = Binding("chunked", item.file, item.name, args, {}, why="its name and its parameters",
                              line=item.line)  # fmt: skip
            if role is _TOKENS and not (binding.takes("tokens") or binding.takes("x")):
                continue
            if binding.takes("tokens") and binding.takes("x"):
                # what is called after a sequence says which one it is
                binding = renamed(binding, "tokens", "sequence")
            if cls and cls == owners["create"]:
                binding = replace(binding, on="cache")
            elif cls and cls == owners["decoder"]:
                binding = replace(binding, on="model")
            elif cls:
                init = arguments(parts, _MADE_FROM)
                if init is None:
                    continue
                binding = replace(binding, init=init)
            yield binding
            if role is _TOKENS and binding.takes("layer") and not (cls or binding.takes("model")):
                # a decoder may be a layer, and be called so
                yield renamed(binding, "layer", "model")


def _with_chunks(prefill: Binding, params: Sequence[Mapping[str, Any]]) -> Binding:
    """The decoder's own prefill, told how long the chunks are."""
    named = ((p, str(param["name"])) for param in params for p in (_CHUNK, _CHUNKS) if p.means(param["name"]))
    told = tuple(Argument(p.name, keyword=name) for p, name in named)
    return replace(prefill, role="chunked", args=(*prefill.args, *told[:1]))


def _owner(worker: Worker, bound: ByRole, name: str) -> str:
    """The class of the cache or of the decoder; empty when there is none."""
    if name not in bound:
        return ""
    sizes = Sizes().inputs() if name == "create" else ModelSizes().inputs()
    try:
        made = invoke(worker, bound[name], sizes, budget=10.0)
    except Fault:
        if not worker.alive:
            raise
        return ""
    canonical = "cache" if name == "create" else "model"
    return Owner.seen(
        worker.describe(made.handle(canonical) if made.has(canonical) else made.result.handle)
    ).kind


def over_tokens(binding: Binding) -> bool:
    """Whether it takes tokens or hidden vectors, and not keys and values."""
    return not binding.takes("k")


def _readings(option: Binding, bound: ByRole) -> Iterator[Binding]:
    if option.layout or over_tokens(option):
        yield lone(option) if "prefill" in bound and is_lone([bound["prefill"]]) else option
        return
    usual = [bound[name].layout for name in ("step_many", "append_many", "step", "append") if name in bound]
    for layout in dict.fromkeys([*usual, *LAYOUTS, *SOLO]):
        if "N" in layout:
            yield replace(option, layout=layout)


def _tried(worker: Worker, bound: ByRole, option: Binding) -> trial.Trial:
    """Seven tokens in chunks of three: the error of what is answered."""
    if over_tokens(option) and "prefill" not in bound:
        return trial.Trial(float("inf"), "takes tokens, and no decoder was found to hold it against")
    try:
        if over_tokens(option):
            return trial.Trial(_of_tokens(worker, bound, option))
        sizes = Sizes(2, 3, 12, 8, chunk=3)
        fed = ChunkFed(worker, bound, option, sizes, lambda: trial.BUDGET)
        q, k, v = drawn(np.random.default_rng(12), sizes, 7)
        out = fed.prompt(q, k, v)
        if out is None:
            return trial.Trial(fed.held_error(k, v))
        truth = attention(q, k, v, visible=causal_rows(7, 7))
        return trial.Trial(relative_error(out[:, :, -1:], truth[:, :, -1:]))
    except Fault as fault:
        if not worker.alive:
            raise
        return trial.Trial(float("inf"), fault.placed)
    except (KeyError, ValueError, IndexError) as error:
        return trial.Trial(float("inf"), f"cannot be called so: {error}")


def _of_tokens(worker: Worker, bound: ByRole, option: Binding) -> float:
    make = Maker(worker, bound, lambda: trial.BUDGET)
    given = make(1).draw(np.random.default_rng(13), 7)
    own = make(1, as_prefill(bound, option), chunk=3).prefill(given)
    return relative_error(own, make(1).prefill(given))


def as_prefill(bound: Mapping[str, Binding], option: Binding) -> dict[str, Binding]:
    """The decoder's roles with the prompt taken in chunks."""
    own, role = bound["prefill"], replace(option, role="prefill")
    # A prefill that opens a sequence by itself does so in chunks as well.
    return {**bound, "prefill": role if own.takes("sequence") or "open" in bound else opening(role)}
