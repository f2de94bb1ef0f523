"""The roles of a decoder: a whole model, or one layer with its projections."""

from __future__ import annotations

from dataclasses import replace

from judge_tui.checks.tasks.kv.words.parameters import (
    ACTIVE,
    AFTER,
    BATCH,
    CACHE,
    CACHE_K,
    CACHE_V,
    HEADS,
    KV_HEADS,
    LAYERS,
    MAX_LEN,
    NEW,
    START,
    STARTS,
    WINDOW,
    gives,
    role,
    takes,
)

__all__ = ["BATCHES", "BY_NAME", "DECODER"]

_PROJECTED = (
    "w{0}", "{0}_w", "{0}_weight", "weight_{0}", "{0}_proj", "{0}_proj_weight", "w_{1}", "{1}_weight",
    "{1}_proj", "{0}_kernel",
)  # fmt: skip
_MODEL = takes("model", "decoder self net params weights parameters", "handle")
_X = takes("x", "hidden hidden_states inputs embeddings x_new x_t h emb tokens_embedded")
_TOKENS = takes(
    "tokens",
    "token_ids ids input_ids prompt prompt_ids prompts token token_id next_token next_tokens new_token "
    "new_tokens idx last_token input_tokens prompt_tokens next_id next_ids new_id new_ids last_id tok toks "
    "tok_ids idx_next cur_token current_token prompt_token_ids",
)
#: A step may be handed what each of its sequences goes on with.
_EACH = replace(_X, aliases=(*_X.aliases, "batch", "requests"))
_USE = takes("use_cache", "use_kv_cache cached return_cache return_kv with_cache", "bool")
#: Which of the two a call is that one function does both of.
_WHICH = (
    takes("stepping", "decode decoding is_decode is_decoding decode_mode is_generating", "bool"),
    takes("prompting", "prefill prefilling is_prefill prefill_mode is_prompt", "bool"),
)
#: What a function over bare weights has to be told at every call.
_TOLD = (takes("heads", HEADS, "int"), takes("kv_heads", KV_HEADS, "int"))
#: Projections that the caller hands over, where nothing of the submission makes them.
_WEIGHTS = tuple(
    takes(f"w_{letter}", " ".join(form.format(letter, word) for form in _PROJECTED))
    for letter, word in (("q", "query"), ("k", "key"), ("v", "value"), ("o", "out"))
)
#: What each new token sees, where the caller says so; a trial tells how it is written.
_SEEN = replace(takes("seen", "mask causal_mask attn_bias attention_bias bias_mask", "data"), spare=True)
#: Where the new tokens stand: tables of their rotations, or the place of every one.
_PLACES = (
    takes("cos", "freqs_cos cos_cached rope_cos cos_table freq_cos"),
    takes("sin", "freqs_sin sin_cached rope_sin sin_table freq_sin"),
    takes("token_positions", "position_ids pos_ids"),
)
_LOGITS = gives("logits", "output out y hidden x", required=True)
_MODEL_SIZES = (
    takes("vocab", "vocab_size n_vocab v", "int"),
    takes(
        "embed",
        "embed_dim d_model hidden hidden_dim hidden_size dim model_dim n_embd e embedding_dim width",
        "int",
    ),
    takes("heads", HEADS, "int"),
    takes("kv_heads", KV_HEADS, "int"),
    takes("head_dim", "d_head head_size d_k", "int"),
    takes("layers", LAYERS, "int"),
    takes("layer", "layer_idx layer_id layer_index", "int"),
    takes("max_len", f"{MAX_LEN} block_size max_pos n_positions", "int"),
    takes("window", WINDOW, "int"),
    takes("batch", "batch_size max_batch max_batch_size num_rows n_rows max_rows num_beams n_beams", "int"),
    takes("ff", "d_ff ffn_dim hidden_mult mlp_dim intermediate_size", "int"),
    takes("seed", "random_seed rng_seed", "int"),
    takes("dtype", "data_type", "dtype"),
    replace(takes("causal", "is_causal use_causal causal_mask", "bool"), spare=True),
)

#: What a cache for a decoder is told, beside the decoder or instead of it.
_ROOM = (
    takes("batch", f"{BATCH} n_batch", "int"),
    takes("max_len", f"{MAX_LEN} length size seq_len max_pos n_positions room", "int"),
    *(size for size in _MODEL_SIZES if size.name not in ("batch", "max_len", "layer", "seed")),
)
#: Sizes that a call is told where it has no default of its own for them, and what their objects are made of.
_CALLED = tuple(
    replace(size, spare=True)
    for size in _MODEL_SIZES
    if size.name not in ("heads", "kv_heads", "layer", "batch", "seed")
)
#: The cache that a decoder is handed.
_PAST = replace(CACHE, aliases=(*CACHE.aliases, "caches", "kv_caches", "layer_caches", "memory"))
#: What may be called an object that holds the cache of a request.
_CARRIED = (
    r"(?i)(^|_)(req(uest)?|sess(ion)?|ctx|context|conv(ersation)?|dialog(ue)?|chat|seq(uence)?|stream|handle|"
    r"run|job|hist(ory)?|mem(ory)?|caches?|kvs?|pasts?|states?|st|gen(eration)?|carry|prev(ious)?)(_|$)"
)
#: A step's one place of unknown name takes what the prompt gave, but where it may be a number.
_GIVEN = (
    r"(?i)^(?!.*(off|pos|start|cur|len|idx|index|num|max|min|temp|top|seed|rng|step|mask|eos|bias|layer|count|"
    r"prob|verbose|train)|[a-z]$)"
)
#: Which tokens are real, as counts or as a mask: a trial tells.
_REAL = takes("valid", "valid_mask attention_mask attn_mask pad_mask padding_mask token_mask real n_real")

#: Which of the sequences a call is about, where a model keeps several apart.
_OF = (
    takes(
        "sequence",
        "slot slot_id seq seq_id sequence_id sid request_id req_id rid session session_id handle stream_id "
        "ticket uid user_id conversation conversation_id conv conv_id chat chat_id dialog dialog_id",
        "int",
    ),
    takes(
        "sequences",
        "slots slot_ids seqs seq_ids sequence_ids sids request_ids req_ids rids sessions session_ids handles "
        "tickets uids",
        "data",
    ),
)

_CALL = (*_WEIGHTS, CACHE_K, CACHE_V, _SEEN, *_PLACES)

#: A whole model, or one layer with its projections: judged by its own consistency.
DECODER = (
    role(
        "decoder",
        (*_MODEL_SIZES, *(replace(weight, spare=True) for weight in _WEIGHTS)),
        (gives("model", kind="handle", required=True),),
        r"decoder transformer|model|gpt|llama|engine|lm$|params|weights attention|layer|block|mha server "
        r"^(init|make|build|create)$",
        r"mask|norm|mlp|feed|linear|embedding|(?<!with_)(?<!with_kv)(?<!with_kv_)cache$|state$",
        allowed="generat block page slid window hybrid chunk pool memory",
    ),
    role(
        "state",
        (_MODEL, *_ROOM),
        (gives("cache", kind="handle", required=True),),
        r"^(new|make|create|init|initiali[sz]e|empty|build|alloc\w*)_?(kv_?)?(cache|state)s?$ "
        r"^(new|make|create|init|initiali[sz]e|empty|build|alloc\w*)_.*caches?$ "
        r"^(new|make|create|init|start|begin|open)(_(request|session|context|ctx|stream|run))?$ "
        r"^(session|stream|context)$",
    ),
    role(
        "open",
        (_MODEL, _OF[0], *(size for size in _ROOM if size.name in ("batch", "max_len"))),
        (),
        r"^(start|open|begin|new|add|register|admit|acquire)(_?(seq\w*|session|request|slot|stream))?$",
        allowed="block memory",
    ),
    role(
        "prefill",
        (
            _MODEL,
            _TOKENS,
            _X,
            replace(_PAST, likely=_CARRIED),
            START,
            STARTS,
            NEW,
            _REAL,
            _USE,
            *_WHICH,
            *_TOLD,
            *_OF,
            *_CALLED,
            *_CALL,
        ),
        (_LOGITS, AFTER),
        r"prefill ^(start|begin|process_prompt|encode) ^(forward|__call__|run|apply)$ "
        r"with_?(kv_?)?cache|cached _(forward|apply)$ ^(step|feed|extend)(_?(tokens|ids))?$",
        r"layer_?norm",
        allowed="block memory",
    ),
    role(
        "decode",
        (
            _MODEL,
            _TOKENS,
            _EACH,
            replace(_PAST, likely=_GIVEN),
            START,
            STARTS,
            ACTIVE,
            _REAL,
            _USE,
            *_WHICH,
            *_TOLD,
            *_OF,
            *_CALLED,
            *_CALL,
        ),
        (_LOGITS, AFTER),
        r"decode_?(step|token|one)?$ ^(step|next|decode) _step$|step_ ^(forward|__call__|run|apply)$ "
        r"with_?(kv_?)?cache|cached _(forward|apply)$ ^(step|feed|extend)(_?(tokens|ids))?$",
        r"layer_?norm|logits",
        allowed="block memory",
    ),
)

BY_NAME = {each.name: each for each in DECODER}

#: Where ragged batches go through another object than single ones: only ever written by hand.
BATCHES = tuple(
    replace(role, name=f"batch_{role.name}") for role in DECODER if role.name not in ("state", "open")
)
