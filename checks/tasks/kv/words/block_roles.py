"""The roles of a pool whose blocks the caller chooses: it is told where tokens go and lie.

What is told is a table for each part: alternatives of a write, and what a read and attention may ask for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from judge_tui.checks.contract import Param, Role
from judge_tui.checks.tasks.kv.words import paging_roles, roles
from judge_tui.checks.tasks.kv.words.parameters import (
    AFTER,
    BOUNDS,
    CACHE,
    CACHE_K,
    CACHE_V,
    LAYER,
    START,
    STARTS,
    TOTAL,
    TOTALS,
    K,
    Q,
    V,
    gives,
    role,
    takes,
)

__all__ = ["ATTEND", "CHOSEN", "CREATE", "READS", "WRITES", "Form"]


@dataclass(frozen=True, slots=True)
class Form:
    """A way in which a call is told of blocks.

    Attributes:
        role: What it takes, by all names.
        told: Parameters of which a callable must take all of one line, by its own names for them.
        on: What its methods are methods of: a pool, or one for keys or for values alone.
    """

    role: Role
    told: tuple[tuple[str, ...], ...]
    on: str = "cache"


_BLOCK = takes(
    "block",
    "block_id block_idx block_index block_no block_num block_number blk blk_id page page_id page_idx "
    "page_index page_no page_number physical_block physical_page phys_block phys_page phys physical_block_id "
    "bid pid frame",
    "int",
)
_OFFSET = takes(
    "offset",
    "position pos slot in_block block_offset offset_in_block pos_in_block position_in_block slot_in_block "
    "slot_idx slot_offset block_pos page_offset offset_in_page pos_in_page token_offset in_page off idx i t",
    "int",
)
_TOKEN_BLOCKS = takes(
    "token_blocks",
    "block_indices block_ids block_idxs block_nos block_numbers blocks page_ids page_indices pages "
    "physical_blocks physical_pages phys_blocks",
)
_TOKEN_OFFSETS = takes(
    "token_offsets",
    "pos_in_blocks offsets block_offsets offsets_in_block offsets_in_blocks positions positions_in_block "
    "positions_in_blocks slot_offsets in_block_offsets page_offsets slots pos_in_block",
)
_SLOT = takes("slot", "slot_id slot_index slot_idx flat_slot physical_slot flat_index loc", "int")
_SLOTS = takes(
    "slots",
    "slot_mapping slot_mappings slot_map slot_ids slot_indices token_slots flat_slots physical_slots out_loc "
    "out_cache_loc cache_loc locs",
)
_TABLE = takes(
    "table",
    "block_table page_table block_ids page_ids block_list page_list seq_blocks seq_pages block_map "
    "page_map blocks pages physical_blocks physical_pages blk_table",
)
_TABLES = takes("tables", "block_tables page_tables block_lists page_lists block_maps block_table_batch")
#: The layer whose part of a table counts, where the pool itself has none.
_LAYER = replace(LAYER, name="table_layer", aliases=(LAYER.name, *LAYER.aliases))
_LENGTH = replace(
    TOTAL,
    aliases=(*TOTAL.aliases, "context_len", "ctx_len", "context_length", "seq_length", "num_tokens",
             "n_tokens", "length", "ctx", "tokens"),
)  # fmt: skip
_LENGTHS = replace(TOTALS, aliases=(*TOTALS.aliases, "context_lengths", "ctx_lens", "kv_lengths"))
_QUERIES = takes("lengths", "query_lens q_lens query_lengths q_lengths num_queries new_lens q_seqlens")
_ENDS = replace(BOUNDS, aliases=(*BOUNDS.aliases, "query_start_loc", "query_start_locs", "q_indptr"))
_LONGEST = takes(
    "longest",
    "max_context_len max_seq_len max_len max_context max_kv_len max_seqlen max_seqlen_k max_length",
    "int",
)
_BLOCK_SIZE = next(param for param in paging_roles.ROLES[0].params if param.name == "block_size")
_SIZES = tuple(param for param in roles.SIZES if param.name in ("heads", "kv_heads", "head_dim"))
_SCALE = next(param for part in roles.ROLES for param in part.params if param.name == "scale")
_KEYS = replace(CACHE_K, aliases=(*CACHE_K.aliases, "k_pool", "key_pool", "k_blocks", "k_pages", "key_pages"))
_VALUES = replace(
    CACHE_V, aliases=(*CACHE_V.aliases, "v_pool", "value_pool", "v_blocks", "v_pages", "value_pages")
)
#: What a pool is called that holds keys, or values, alone.
_EITHER = replace(
    CACHE_K, aliases=(CACHE.name, *CACHE.aliases, *_KEYS.aliases, *_VALUES.aliases, "pages", "blocks")
)
#: What goes into such a pool.
_NEW = takes(
    "k",
    "new_vals new_values vals val values value new x xs data src update updates new_kv token_kv kv key keys "
    "vec vecs vector vectors rows tokens",
    required=True,
)
_POOL = (CACHE, _KEYS, _VALUES)
_SHAPE = (_BLOCK_SIZE, _LAYER, *_SIZES)
_WELCOME = "page block pool allocator chunk slid window"
_WRITE = r"write|scatter|append|store|reshape_and_cache put|insert|update|push|add|fill|save|copy|cache|set"
_READ = r"gather|read materiali[sz]e|collect|fetch|get|load|view|contiguous"

_OF_TOKENS = (("block", "offset"), ("token_blocks", "token_offsets"))
_WHERE = ("position", "positions", "length", "totals")
#: Parameters that a write is told of blocks by: for each token in two numbers or one, or of a sequence.
_PLACES = (
    ((_BLOCK, _OFFSET, _TOKEN_BLOCKS, _TOKEN_OFFSETS), _OF_TOKENS),
    ((_SLOTS, _SLOT), (("slots",), ("slot",))),
    (
        (_TABLES, _TABLE, STARTS, START, _LENGTHS, _LENGTH),
        tuple((table, where) for table in ("table", "tables") for where in _WHERE),
    ),
)


def _write(pool: tuple[Param, ...], new: tuple[Param, ...], places: tuple[Param, ...]) -> Role:
    return role(
        "append", (*places, *pool, *new, *_SHAPE), (AFTER,), _WRITE, r"free alloc read gather attend",
        allowed=_WELCOME,
    )  # fmt: skip


def _read(pool: tuple[Param, ...], returns: tuple[str, ...]) -> Role:
    return role(
        "read",
        (*pool, _TABLES, _TABLE, _LENGTHS, _LENGTH, _LONGEST, *_SHAPE),
        tuple(gives(name) for name in returns),
        _READ,
        r"free alloc write attend attention",
        allowed=_WELCOME,
    )


_MADE = tuple(
    replace(size, aliases=(*size.aliases, "n_head_kv", "num_head_kv", "kv_head", "n_kvh"))
    if size.name == "kv_heads"
    else size
    for size in paging_roles.ROLES[0].params
)

#: What makes a pool: it is told how many blocks there are, how large, and what a token is.
CREATE = role(
    "paged",
    _MADE,
    (gives("cache", kind="handle", required=True),),
    r"page|block|pool cache|kv alloc|make|create|init|new .",
    r"bytes memory attention|attn$ sequence table$",
    allowed=f"{_WELCOME} alloc",
)
#: Keys and values with one call; then each by a call of its own, on a pool of its own.
WRITES = tuple(
    Form(_write(pool, new, places), told, "cache" if pool is _POOL else "cache_k")
    for pool, new in ((_POOL, (K, V)), ((_EITHER,), (_NEW,)))
    for places, told in _PLACES
)
READS = tuple(
    Form(_read(pool, returns), (("table",), ("tables",)), "cache" if pool is _POOL else "cache_k")
    for pool, returns in ((_POOL, ("k", "v")), ((_EITHER,), ("k",)))
)
ATTEND = Form(
    role(
        "attend",
        (Q, *_POOL, _TABLES, _TABLE, _LENGTHS, _QUERIES, _ENDS, _LENGTH, _LONGEST, *_SHAPE, _SCALE),
        (gives("out", "output o attn attn_out attention context y result", required=True),),
        r"paged.*(attention|attn|attend)|(attention|attn|attend).*paged attention|attn|attend decode|forward",
        r"weights mask dense contiguous standard full",
        allowed=_WELCOME,
    ),
    tuple((table, much) for table in ("table", "tables") for much in ("length", "totals")),
)
#: All that is told of blocks, by canonical name.
CHOSEN = frozenset({
    "block", "offset", "token_blocks", "token_offsets", "slot", "slots", "table", "tables", "layer_tables",
    "layer_totals", "longest", "table_layer",
})  # fmt: skip
