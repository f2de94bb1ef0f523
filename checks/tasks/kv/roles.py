"""The roles of a KV cache: what submissions call them, and what they take."""

from __future__ import annotations

from dataclasses import replace

from judge_tui.checks.contract import Kind, Param, Return, Role

__all__ = ["AVOID", "BATCHES", "DECODER", "QUANTIZED", "ROLES", "SEQUENCE", "SIZES"]

#: Words of things that are no plain cache and no cached attention.
AVOID = (
    r"naive", r"numerical", r"reference", r"\bref_", r"_ref\b", r"test", r"check", r"bench", r"demo",
    r"verify", r"plot", r"main", r"config", r"spec\b", r"stats\b", r"print", r"analy[sz]", r"compare",
    r"memory", r"bytes", r"flops", r"page", r"quant", r"block", r"hybrid", r"chunk", r"slid", r"window",
    r"pool", r"allocator", r"int8", r"int4", r"converter", r"generat",
)  # fmt: skip


def _takes(name: str, aliases: str = "", kind: Kind = "array", *, required: bool = False) -> Param:
    return Param(name, kind, tuple(aliases.split()), required)


def _gives(name: str, aliases: str = "", kind: Kind = "array", *, required: bool = False) -> Return:
    return Return(name, kind, tuple(aliases.split()), required)


def _role(
    name: str, takes: tuple[Param, ...], gives: tuple[Return, ...], patterns: str, avoid: str = "", *,
    pure: bool = False, allowed: str = "",
) -> Role:  # fmt: skip
    """A role; ``allowed`` are words of :data:`AVOID` that do not rule it out, ``*`` all of them."""
    kept = () if allowed == "*" else (word for word in AVOID if word not in allowed.split())
    ruled_out = (*kept, *avoid.split())
    return Role(name, takes, gives, tuple(patterns.split()), ruled_out, required=False, pure=pure)


_CACHE = _takes(
    "cache",
    "kv_cache kvcache kv past past_kv past_kvs past_key_value past_key_values layer_past state layer_cache "
    "store kv_store pool kv_pool arena kv_arena",
    "handle",
)
_CACHE_K = _takes("cache_k", "k_cache key_cache past_k past_key cached_k keys_cache k_past", "handle")
_CACHE_V = _takes("cache_v", "v_cache value_cache past_v past_value cached_v values_cache v_past", "handle")
_Q = _takes("q", "query queries q_new q_t q_step new_q xq query_states", required=True)
_K = _takes(
    "k",
    "key keys k_new new_k new_keys new_key k_t k_step ks xk key_states keys_new key_new kk",
    required=True,
)
_V = _takes(
    "v",
    "value values v_new new_v new_values new_value v_t v_step vs xv value_states values_new value_new val "
    "vals vv",
    required=True,
)
#: How many of the tokens that go in each sequence has; a trial finds out when they count what is stored.
_NEW = _takes(
    "lengths",
    "new_lens new_lengths num_new n_new lens seq_lens seq_lengths seqlens prompt_lens prompt_lengths "
    "valid_lens valid_lengths counts token_counts num_tokens n_valid num_valid",
)
#: How many tokens each sequence has after the call.
_TOTALS = _takes(
    "totals",
    "total_lens total_lengths kv_lens cache_lens cache_lengths lengths lens seq_lens seq_lengths seqlens "
    "valid_lens valid_lengths context_lens",
)
_ACTIVE = _takes("active", "active_mask is_active alive mask_active")
_START = _takes(
    "position",
    "pos start start_pos offset step cur_pos index t seq_pos cache_pos write_pos cur_len past_len",
    "int",
)
_STARTS = _takes("positions", "start_positions cache_positions offsets starts")
_TOTAL = _takes("length", "seq_len total_len kv_len valid_len cache_len end n upto", "int")
SEQUENCE = _takes(
    "sequence",
    "b batch_idx batch_index seq_id seq_idx seq slot row sequence_id request_id batch_id i idx sid rid "
    "req_id slot_id slot_idx stream_id session_id handle lane owner name",
    "int",
)
#: Of which sequences of the batch the tokens are, where a call may be about some of them.
_ROWS = _takes(
    "rows",
    "row_ids row_indices row_idx seqs sequences seq_ids sequence_ids slots slot_ids batch_indices batch_ids "
    "streams stream_ids lanes sids handles",
    "data",
)
_LAYER = _takes("layer", "layer_idx layer_id layer_index l", "int")

_HEADS = (
    "num_heads n_heads n_head h nheads n_q_heads num_q_heads q_heads n_query_heads num_query_heads "
    "num_attention_heads"
)
_KV_HEADS = (
    "num_kv_heads n_kv_heads n_kv_head num_key_value_heads n_kv num_heads_kv n_heads_kv kv_groups "
    "num_kv_groups num_query_groups kvh"
)
_LAYERS = "num_layers n_layers n_layer l depth"
_BATCH = (
    "batch_size max_batch max_batch_size bsz b num_sequences bs num_slots n_slots max_slots slots num_seqs "
    "n_seqs max_seqs max_num_seqs max_sequences max_requests num_requests rows n_rows lanes max_lanes "
    "num_lanes"
)
_MAX_LEN = (
    "max_seq_len max_length max_seq capacity max_tokens max_seq_length max_position max_context s_max "
    "context_length max_positions n_ctx max_position_embeddings"
)
#: A cache that keeps so many of the newest tokens holds all of them until then.
_WINDOW = "window window_size window_len sliding_window ring_size max_window"
_BITS = _takes("bits", "n_bits num_bits nbits", "int")
SIZES = (
    _takes("layers", _LAYERS, "int"),
    _takes("batch", _BATCH, "int"),
    _takes("heads", _HEADS, "int"),
    _takes("kv_heads", _KV_HEADS, "int"),
    _takes("max_len", f"{_MAX_LEN} seq_len s size {_WINDOW}", "int"),
    _takes("head_dim", "d_head dim d head_size d_k dk hd", "int"),
    _takes("embed", "embed_dim d_model hidden_dim hidden_size model_dim", "int"),
    _takes("dtype", "data_type", "dtype"),
    # what a plain cache may quantize to is left out: the default is judged
    replace(_BITS, spare=True),
)

_OUT = _gives("out", "output o attn attn_out attention context y result", required=True)
_AFTER = _gives("cache", " ".join(_CACHE.aliases), "handle")
_KV = (_gives("k", "keys k_all key"), _gives("v", "values v_all value"))
_STATE = (_CACHE, _CACHE_K, _CACHE_V, _LAYER, SEQUENCE, _ROWS)
#: Tells a cache that a step is over, before attention (``advance``) or after it (``advance_after``).
_ADVANCE = _role(
    "advance",
    (
        *_STATE,
        _takes(
            "count",
            "n by steps step num t tokens n_tokens num_tokens new_tokens num_new_tokens amount delta length "
            "q_len seq_len",
            "int",
        ),
        _NEW,
        _ACTIVE,
    ),
    (_AFTER,),
    r"^advance|^increment|^commit|^tick$|^step_?position|^bump "
    r"^(move|shift|inc|incr|extend|grow)_?(on|forward|pos(ition)?s?|cursor|offsets?|len(gth)?s?)$ "
    r"^(step|token|chunk)_?(done|over|finished)$|^(end|finish|close|complete)_?(step|token|chunk)$|^next_?step$",
    allowed="chunk",
)

#: A cache and attention over it: fused (``step``) or apart (``append``, then ``attend``, or ``read`` and
#: ``attention``). Patterns rank names, best first.
ROLES = (
    _role(
        "create",
        SIZES,
        (_gives("cache", kind="handle", required=True),),
        r"^(make|create|new|init|initiali[sz]e|empty|build)_?(kv_?)?cache$ ^kv_?cache$ "
        r"(contiguous|flat|static|dense|simple|basic|layer|batched|dynamic|single).*cache$ cache$ "
        r"^(make|create|new|init|build|empty)_.*cache cache kv|attention|attn ^(create|empty|make)$ "
        r"^(make|create|new|init|empty)_?(kv_?)?state$",
        r"mask(?!ed) ^mha$ dot_product",
    ),
    _role(
        "append",
        (*_STATE, _START, _STARTS, _K, _V, _NEW, _ACTIVE),
        (_AFTER, *_KV),
        r"^(update|append)$ append|update ^(add|put|push|insert|write|store|set)(_?(kv|token|step))?$ "
        r"^(add|put|push|insert|write|store|cache)_ write|insert|store|push",
        r"many|prefill|sequence$|bulk|extend|table",
    ),
    _role(
        "append_many",
        (*_STATE, _START, _STARTS, _K, _V, _NEW),
        (_AFTER, *_KV),
        r"prefill append_?many|append_?sequence|append_?prompt|extend|write_?sequence|write_?many|bulk|fill "
        r"^update|^append|^write|^store|^put|^add|^insert|^push",
        r"table",
    ),
    _role(
        "read",
        (*_STATE, _TOTAL),
        _KV,
        r"^(get|read|view|fetch|gather|get_kv|read_kv|kv|load|lookup)$ "
        r"^(get|read)_?(all|kv|keys_values|full) "
        r"^(get|read|gather|fetch|view)_ materialize|contents|valid",
        r"len|size|padded|batch$|position|layer$",
    ),
    _role(
        "attend",
        (_Q, *_STATE, _TOTALS, _TOTAL, _START),
        (_OUT,),
        r"attend|cached_?attention|attention_?with_?cache|cache_?attention attention|attn ^query$|^lookup$ "
        r"^(forward|decode|step|__call__)",
        r"weights|mask|standard|full|causal",
    ),
    _role(
        "step",
        (_Q, _K, _V, *_STATE, _START, _STARTS, _NEW, _ACTIVE),
        (_OUT, _AFTER),
        r"with_?cache|cached.*(attention|attn)|attend|attention_?step|decode_?step|step|decode "
        r"attention|attn ^(forward|__call__|run|compute)$",
        r"weights|mask|standard|full|prefill",
    ),
    _role(
        "step_many",
        (_Q, _K, _V, *_STATE, _START, _STARTS, _NEW),
        (_OUT, _AFTER),
        r"prefill with_?cache|cached.*attention|attend|step|attention|attn|forward|__call__",
        r"weights|mask|standard|full",
    ),
    _ADVANCE,
    replace(_ADVANCE, name="advance_after"),
    _role(
        "attention",
        (_Q, _K, _V, _takes("causal", "is_causal use_causal_mask", "bool"), _TOTALS),
        (_OUT,),
        r"^(scaled_dot_product_attention|sdpa|attention|multi_?head_attention|mha|attn)$ attention|attn "
        r"^attend",
        r"weights|mask(?!ed)|cache|prefill",
        pure=True,
    ),
)

#: A cache of codes and scales: only its making is told apart by name, the rest by its class.
QUANTIZED = _role(
    "quantized",
    (*SIZES[:-1], _BITS),
    (_gives("cache", kind="handle", required=True),),
    r"quanti[sz]ed.*cache cache.*quanti[sz]ed int8.*cache|cache.*int8|q8|int4",
    r"test check bench demo config stats page hybrid block tensor",
    allowed="*",
)

_MODEL = _takes("model", "decoder self net params weights parameters", "handle")
_X = _takes("x", "hidden hidden_states inputs embeddings x_new x_t h emb tokens_embedded")
_TOKENS = _takes(
    "tokens",
    "token_ids ids input_ids prompt prompt_ids prompts token token_id next_token next_tokens new_token "
    "new_tokens idx last_token input_tokens prompt_tokens next_id next_ids new_id new_ids last_id tok toks "
    "tok_ids idx_next cur_token current_token prompt_token_ids",
)
_USE = _takes("use_cache", "use_kv_cache cached return_cache return_kv with_cache", "bool")
#: What a function over bare weights has to be told at every call.
_TOLD = (_takes("heads", _HEADS, "int"), _takes("kv_heads", _KV_HEADS, "int"))
_LOGITS = _gives("logits", "output out y hidden x", required=True)
_MODEL_SIZES = (
    _takes("vocab", "vocab_size n_vocab v", "int"),
    _takes(
        "embed", "embed_dim d_model hidden_dim hidden_size dim model_dim n_embd e embedding_dim width", "int"
    ),
    _takes("heads", _HEADS, "int"),
    _takes("kv_heads", _KV_HEADS, "int"),
    _takes("head_dim", "d_head head_size d_k", "int"),
    _takes("layers", _LAYERS, "int"),
    _takes("layer", "layer_idx layer_id layer_index", "int"),
    _takes("max_len", f"{_MAX_LEN} block_size max_pos n_positions", "int"),
    _takes("batch", "batch_size max_batch max_batch_size", "int"),
    _takes("ff", "d_ff ffn_dim hidden_mult mlp_dim intermediate_size", "int"),
    _takes("seed", "random_seed rng_seed", "int"),
    _takes("dtype", "data_type", "dtype"),
)

#: What a cache for a decoder is told, beside the decoder or instead of it.
_ROOM = (
    _takes("batch", f"{_BATCH} n_batch", "int"),
    _takes("max_len", f"{_MAX_LEN} length size seq_len max_pos n_positions room", "int"),
    *(size for size in _MODEL_SIZES if size.name not in ("batch", "max_len", "layer", "seed")),
)
#: Sizes that a call is told where it has no default of its own for them, and what their objects are made of.
_CALLED = tuple(
    replace(size, spare=True)
    for size in _MODEL_SIZES
    if size.name not in ("heads", "kv_heads", "layer", "batch", "seed")
)
#: The cache that a decoder is handed.
_PAST = replace(_CACHE, aliases=(*_CACHE.aliases, "caches", "kv_caches", "layer_caches", "memory"))
#: Which tokens are real, as counts or as a mask: a trial tells.
_REAL = _takes("valid", "valid_mask attention_mask attn_mask pad_mask padding_mask token_mask real n_real")

#: Which of the sequences a call is about, where a model keeps several apart.
_OF = (
    _takes(
        "sequence",
        "slot slot_id seq seq_id sequence_id sid request_id req_id rid session session_id handle stream_id",
        "int",
    ),
    _takes(
        "sequences",
        "slots slot_ids seqs seq_ids sequence_ids sids request_ids req_ids rids sessions session_ids handles",
        "data",
    ),
)

#: A whole model, or one layer with its projections: judged by its own consistency.
DECODER = (
    _role(
        "decoder",
        _MODEL_SIZES,
        (_gives("model", kind="handle", required=True),),
        r"decoder transformer|model|gpt|llama|engine|lm$|params|weights attention|layer|block|mha server "
        r"^(init|make|build|create)$",
        r"mask|norm|mlp|feed|linear|embedding|cache$|state$",
        allowed="generat block",
    ),
    _role(
        "state",
        (_MODEL, *_ROOM),
        (_gives("cache", kind="handle", required=True),),
        r"^(new|make|create|init|initiali[sz]e|empty|build|alloc\w*)_?(kv_?)?(cache|state)s?$ "
        r"^(new|make|create|init|initiali[sz]e|empty|build|alloc\w*)_.*caches?$",
    ),
    _role(
        "open",
        (_MODEL, _OF[0]),
        (),
        r"^(start|open|begin|new|add|register|admit|acquire)(_?(seq\w*|session|request|slot|stream))?$",
        allowed="block memory",
    ),
    _role(
        "prefill",
        (_MODEL, _TOKENS, _X, _PAST, _START, _STARTS, _NEW, _REAL, _USE, *_TOLD, *_OF, *_CALLED),
        (_LOGITS, _AFTER),
        r"prefill ^(start|begin|process_prompt|encode) ^(forward|__call__|run|apply)$ "
        r"with_?(kv_?)?cache|cached _(forward|apply)$ ^(step|feed|extend)(_?(tokens|ids))?$",
        r"layer_?norm",
        allowed="block memory",
    ),
    _role(
        "decode",
        (_MODEL, _TOKENS, _X, _PAST, _START, _STARTS, _ACTIVE, _REAL, _USE, *_TOLD, *_OF, *_CALLED),
        (_LOGITS, _AFTER),
        r"decode_?(step|token|one)?$ ^(step|next|decode) _step$|step_ ^(forward|__call__|run|apply)$ "
        r"with_?(kv_?)?cache|cached _(forward|apply)$ ^(step|feed|extend)(_?(tokens|ids))?$",
        r"layer_?norm|logits",
        allowed="block memory",
    ),
)

#: Where ragged batches go through another object than single ones: only ever written by hand.
BATCHES = tuple(
    replace(role, name=f"batch_{role.name}") for role in DECODER if role.name not in ("state", "open")
)
