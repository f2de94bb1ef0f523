"""The roles of a KV cache: what submissions call them, and what they take."""

from __future__ import annotations

from dataclasses import replace

from judge_tui.checks.contract import Param
from judge_tui.checks.tasks.kv.words.parameters import (
    ACTIVE,
    AFTER,
    BATCH,
    BITS,
    BOUNDS,
    CACHE,
    CACHE_K,
    CACHE_V,
    HEADS,
    KV_HEADS,
    LAYER,
    LAYERS,
    MAX_LEN,
    NEW,
    ROWS,
    SEQUENCE,
    START,
    STARTS,
    TOTAL,
    TOTALS,
    WINDOW,
    K,
    Q,
    V,
    gives,
    role,
    takes,
)

__all__ = ["BY_NAME", "QUANTIZED", "ROLES", "SIZES"]

_ROOM = takes("max_len", f"{MAX_LEN} seq_len s size max_size num_cells n_cells cells kv_size", "int")
SIZES = (
    takes("layers", LAYERS, "int"),
    takes("batch", BATCH, "int"),
    takes("heads", HEADS, "int"),
    takes("kv_heads", KV_HEADS, "int"),
    replace(_ROOM, aliases=(*_ROOM.aliases, *WINDOW.split())),
    takes("head_dim", "d_head dim d head_size d_k dk hd width", "int"),
    takes("embed", "embed_dim d_model hidden_dim hidden_size model_dim", "int"),
    takes("dtype", "data_type", "dtype"),
    # what a plain cache may quantize to is left out: the default is judged
    replace(BITS, spare=True),
)

_OUT = gives("out", "output o attn attn_out attention context y result", required=True)
_KV = (gives("k", "keys k_all key"), gives("v", "values v_all value"))
#: Where the first of the queries stands among the keys.
_FIRST = replace(
    START,
    aliases=(
        *START.aliases, "first", "first_pos", "first_position", "q_start", "q_offset", "q_pos", "query_start",
        "query_offset",
    ),
)  # fmt: skip
#: The same, over a cache.
_AT = replace(START, aliases=(*START.aliases, "q_pos", "q_start", "q_offset", "query_start", "query_offset"))
#: How many of the keys are real, where the others are padding; what has a default for it takes them all.
_REAL = replace(
    takes("length", "kv_len kv_length k_len key_len valid_len cache_len total_len n_keys num_keys", "int"),
    spare=True,
)
#: Where each of the queries stands, or the first of every sequence, and each of the keys: of every sequence,
#: or of all alike.
_STAND = (
    replace(takes("query_positions", "q_positions positions"), spare=True),
    replace(takes("first_positions"), spare=True),
    replace(takes("row_positions"), spare=True),
    replace(takes("key_positions", "k_pos k_positions key_pos kv_pos kv_positions"), spare=True),
)
#: What scores are multiplied by, where the caller is asked for it.
_SCALE = replace(
    takes("scale", "sm_scale softmax_scale scaling scale_factor attn_scale score_scale qk_scale", "float"),
    spare=True,
)
#: Keys and values that are arrays, and may be named after the cache that gave them.
_HELD_K, _HELD_V = (
    replace(held, aliases=(*held.aliases, *cached.aliases, cached.name))
    for held, cached in ((K, CACHE_K), (V, CACHE_V))
)
#: The width of a head, where attention asks for it.
_WIDTH = replace(takes("head_dim", "d_k d_head dk head_size", "int"), spare=True)
_STATE = (CACHE, CACHE_K, CACHE_V, LAYER, SEQUENCE, ROWS)
#: Tells a cache that a step is over, before attention (``advance``) or after it (``advance_after``).
_ADVANCE = role(
    "advance",
    (
        *_STATE,
        takes(
            "count",
            "n by steps step num t tokens n_tokens num_tokens new_tokens num_new_tokens amount delta length "
            "q_len seq_len",
            "int",
        ),
        NEW,
        ACTIVE,
    ),
    (AFTER,),
    r"^advance|^increment|^commit|^tick$|^step_?position|^bump "
    r"^(move|shift|inc|incr|extend|grow)_?(on|forward|pos(ition)?s?|cursor|offsets?|len(gth)?s?)$ "
    r"^(step|token|chunk)_?(done|over|finished)$|^(end|finish|close|complete)_?(step|token|chunk)$|^next_?step$",
    allowed="chunk",
)

#: A cache and attention over it: fused (``step``) or apart (``append``, then ``attend``, or ``read`` and
#: ``attention``). Patterns rank names, best first.
ROLES = (
    role(
        "create",
        SIZES,
        (gives("cache", kind="handle", required=True),),
        r"^(make|create|new|init|initiali[sz]e|empty|build)_?(kv_?)?cache$ ^kv_?cache$ "
        r"(contiguous|flat|static|dense|simple|basic|layer|batched|dynamic|single).*cache$ cache$ "
        r"^(make|create|new|init|build|empty)_.*cache cache kv|attention|attn ^(create|empty|make)$ "
        r"^(make|create|new|init|empty)_?(kv_?)?state$ ^init$ (buffer|store|storage|bank|slab)s?$",
        r"mask(?!ed) ^mha$ dot_product",
    ),
    role(
        "append",
        (*_STATE, START, STARTS, K, V, NEW, BOUNDS, ACTIVE),
        (AFTER, *_KV),
        r"^(update|append)$ append|update ^(add|put|push|insert|write|store|set)(_?(kv|token|step))?$ "
        r"^(add|put|push|insert|write|store|cache)_ write|insert|store|push",
        r"many|prefill|sequence$|bulk|extend|table",
    ),
    role(
        "append_many",
        (*_STATE, START, STARTS, K, V, NEW, BOUNDS),
        (AFTER, *_KV),
        r"prefill append_?many|append_?sequence|append_?prompt|extend|write_?sequence|write_?many|bulk|fill "
        r"^update|^append|^write|^store|^put|^add|^insert|^push",
        r"table",
    ),
    role(
        "read",
        (*_STATE, TOTAL),
        _KV,
        r"^(get|read|view|fetch|gather|get_kv|read_kv|kv|load|lookup)$ "
        r"^(get|read)_?(all|kv|keys_values|full) "
        r"^(get|read|gather|fetch|view)_ materialize|contents|valid _(get|read|gather|fetch|view)$ ^data$",
        r"len|size|padded|batch$|position|layer$",
    ),
    role(
        "attend",
        (Q, *_STATE, TOTALS, NEW, BOUNDS, TOTAL, _AT, *_STAND, _SCALE),
        (_OUT,),
        r"attend|cached_?attention|attention_?with_?cache|cache_?attention attention|attn ^query$|^lookup$ "
        r"^(forward|decode|step|__call__)",
        r"weights|mask|standard|full|causal",
    ),
    role(
        "step",
        (Q, K, V, *_STATE, START, STARTS, NEW, BOUNDS, ACTIVE, _SCALE),
        (_OUT, AFTER),
        r"with_?cache|cached.*(attention|attn)|attend|attention_?step|decode_?step|step|decode|tick "
        r"attention|attn ^(forward|__call__|run|compute)$",
        r"weights|mask|standard|full|prefill",
    ),
    role(
        "step_many",
        (Q, K, V, *_STATE, START, STARTS, NEW, BOUNDS, _SCALE),
        (_OUT, AFTER),
        r"prefill with_?cache|cached.*attention|attend|step|attention|attn|forward|__call__",
        r"weights|mask|standard|full",
    ),
    _ADVANCE,
    replace(_ADVANCE, name="advance_after"),
    role(
        "attention",
        (
            *(Q, _HELD_K, _HELD_V, takes("causal", "is_causal use_causal_mask", "bool")),
            *(TOTALS, _REAL, _FIRST, *_STAND, _SCALE, _WIDTH),
        ),
        (_OUT,),
        r"^(scaled_dot_product_attention|sdpa|attention|multi_?head_attention|mha|attn)$ attention|attn "
        # what is called after all that there is may want as many queries as keys
        r"^(?!full|dense|whole|causal|self)(\w*_)?attend$ ^attend",
        r"weights|mask(?!ed)|prefill",
        pure=True,
    ),
)

BY_NAME = {role.name: role for role in ROLES}

#: A cache of codes and scales: only its making is told apart by name, the rest by its class.
QUANTIZED = role(
    "quantized",
    # of a window with a default, the newest tokens may be kept as they are
    (
        *(_ROOM if size.name == _ROOM.name else size for size in SIZES[:-1]),
        Param(_ROOM.name, "int", tuple(WINDOW.split()), required=False, spare=True),
        BITS,
    ),
    (gives("cache", kind="handle", required=True),),
    r"quanti[sz]ed.*cache cache.*quanti[sz]ed int8.*cache|cache.*int8|q8|int4",
    r"test check bench demo config stats page hybrid block tensor",
    allowed="*",
)
