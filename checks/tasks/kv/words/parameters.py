"""What the roles of a KV cache take and give, by all the names that submissions have for it."""

from __future__ import annotations

from dataclasses import replace

from judge_tui.checks.contract import Kind, Param, Return, Role

__all__ = [
    "ACTIVE",
    "AFTER",
    "AVOID",
    "BATCH",
    "BITS",
    "BOUNDS",
    "CACHE",
    "CACHE_K",
    "CACHE_V",
    "HEADS",
    "KV_HEADS",
    "LAYER",
    "LAYERS",
    "MAX_LEN",
    "NEW",
    "ROWS",
    "SEQUENCE",
    "START",
    "STARTS",
    "TOTAL",
    "TOTALS",
    "WINDOW",
    "K",
    "Q",
    "V",
    "gives",
    "role",
    "takes",
]

#: Words of things that are no plain cache and no cached attention.
AVOID = (
    r"naive", r"numerical", r"reference", r"\bref_", r"_ref\b", r"test", r"check", r"bench", r"demo",
    r"verify", r"plot", r"main", r"config", r"spec\b", r"stats\b", r"print", r"analy[sz]", r"compare",
    r"memory", r"bytes", r"flops", r"page", r"quant", r"block", r"hybrid", r"chunk", r"slid", r"window",
    r"pool", r"allocator", r"int8", r"int4", r"converter", r"generat",
)  # fmt: skip


def takes(name: str, aliases: str = "", kind: Kind = "array", *, required: bool = False) -> Param:
    """A parameter; ``aliases`` are other names, apart by blanks."""
    return Param(name, kind, tuple(aliases.split()), required)


def gives(name: str, aliases: str = "", kind: Kind = "array", *, required: bool = False) -> Return:
    """Something that is given; ``aliases`` are other names, apart by blanks."""
    return Return(name, kind, tuple(aliases.split()), required)


def role(
    name: str, takes: tuple[Param, ...], gives: tuple[Return, ...], patterns: str, avoid: str = "", *,
    pure: bool = False, allowed: str = "",
) -> Role:  # fmt: skip
    """A role; ``allowed`` are words of :data:`AVOID` that do not rule it out, ``*`` all of them."""
    kept = () if allowed == "*" else (word for word in AVOID if word not in allowed.split())
    ruled_out = (*kept, *avoid.split())
    words = tuple(patterns.split())
    return Role(name, takes, gives, words, ruled_out, required=False, pure=pure, strict=True)


CACHE = takes(
    "cache",
    "kv_cache kvcache kv past past_kv past_kvs past_key_value past_key_values layer_past state layer_cache "
    "store kv_store pool kv_pool arena kv_arena buf kv_buf buffer kv_buffer slab kv_slab bank kv_bank",
    "handle",
)
CACHE_K = takes("cache_k", "k_cache key_cache past_k past_key cached_k keys_cache k_past", "handle")
CACHE_V = takes("cache_v", "v_cache value_cache past_v past_value cached_v values_cache v_past", "handle")
#: What has not been projected yet is no queries.
Q = replace(
    takes("q", "query queries q_new q_t q_step new_q xq query_states", required=True),
    unlike=r"(?i)^(x|hidden\w*|inputs?|embeddings?|emb|tokens?|ids|input_ids)$",
)
K = takes(
    "k",
    "key keys k_new new_k new_keys new_key k_t k_step ks xk key_states keys_new key_new kk",
    required=True,
)
V = takes(
    "v",
    "value values v_new new_v new_values new_value v_t v_step vs xv value_states values_new value_new val "
    "vals vv",
    required=True,
)
#: How many of the tokens that go in each sequence has; a trial finds out when they count what is stored.
NEW = takes(
    "lengths",
    "new_lens new_lengths num_new n_new lens seq_lens seq_lengths seqlens prompt_lens prompt_lengths "
    "valid_lens valid_lengths counts token_counts num_tokens n_valid num_valid",
)
#: Where the new tokens of each sequence begin, and where the last one's end, of tokens behind each other.
BOUNDS = takes("bounds", "cu_seqlens cu_seqlens_q cu_lens cu_lengths cum_lens indptr row_splits row_offsets")
#: How many tokens each sequence has after the call.
TOTALS = takes(
    "totals",
    "total_lens total_lengths kv_lens cache_lens cache_lengths lengths lens seq_lens seq_lengths seqlens "
    "valid_lens valid_lengths context_lens",
)
ACTIVE = takes("active", "active_mask is_active alive mask_active")
START = replace(
    takes(
        "position",
        "pos start start_pos offset step cur_pos index t seq_pos cache_pos write_pos cur_len past_len",
        "int",
    ),
    likely=r"(?i)(^|_)(off(set)?s?|pos(ition)?|start|cursor|cur_len|past_len|idx|index)(_|$)",
)
STARTS = takes("positions", "start_positions cache_positions offsets starts")
TOTAL = takes("length", "seq_len total_len kv_len valid_len cache_len end n upto", "int")
SEQUENCE = takes(
    "sequence",
    "b batch_idx batch_index seq_id seq_idx seq slot row sequence_id request_id batch_id i idx sid rid "
    "req_id slot_id slot_idx stream_id session_id handle lane owner name ticket uid user user_id session",
    "int",
)
#: Of which sequences of the batch the tokens are, where a call may be about some of them.
ROWS = takes(
    "rows",
    "row_ids row_indices row_idx seqs sequences seq_ids sequence_ids slots slot_ids batch_indices batch_ids "
    "streams stream_ids lanes sids handles tickets uids requests request_ids req_ids rids session_ids users "
    "user_ids ids active_ids names owners seats",
    "data",
)
LAYER = takes("layer", "layer_idx layer_id layer_index l", "int")

HEADS = (
    "num_heads n_heads n_head h nheads n_q_heads num_q_heads q_heads n_query_heads num_query_heads "
    "num_attention_heads"
)
KV_HEADS = (
    "num_kv_heads n_kv_heads n_kv_head num_key_value_heads n_kv num_heads_kv n_heads_kv kv_groups "
    "num_kv_groups num_query_groups kvh"
)
LAYERS = "num_layers n_layers n_layer num_hidden_layers n_hidden_layers l depth"
BATCH = (
    "batch_size max_batch max_batch_size bsz b num_sequences bs num_slots n_slots max_slots slots num_seqs "
    "n_seqs max_seqs max_num_seqs max_sequences max_requests num_requests rows n_rows num_rows lanes "
    "max_lanes num_lanes n_lanes"
)
MAX_LEN = (
    "max_seq_len max_length max_seq capacity max_tokens max_seq_length max_position max_context s_max "
    "context context_length max_positions n_ctx max_position_embeddings max_cache_len max_cache_length"
)
#: A cache that keeps so many of the newest tokens holds all of them until then.
WINDOW = "window window_size window_len sliding_window ring_size max_window"
BITS = takes("bits", "n_bits num_bits nbits", "int")
#: The cache, as a call gives it back.
AFTER = gives("cache", " ".join(CACHE.aliases), "handle")
