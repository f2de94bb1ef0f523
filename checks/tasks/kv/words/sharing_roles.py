"""Roles of caches whose sequences share a past, are put in another order, or take tokens back.

One table for all caches, plain and paged: a cache plays those of its methods or functions that are called so.
"""

from __future__ import annotations

from dataclasses import replace

from judge_tui.checks.contract import Param, Role
from judge_tui.checks.tasks.kv.words.parameters import AFTER, CACHE, LAYER, SEQUENCE, takes

__all__ = ["FORK", "LEAVE", "PAGED", "REORDER", "ROLES", "ROLL_BACK"]

_PARENT = replace(
    SEQUENCE,
    aliases=(
        *SEQUENCE.aliases, "parent", "parent_id", "parent_seq", "parent_seq_id", "parent_sid", "src",
        "src_id", "src_seq", "src_seq_id", "src_slot", "src_row", "source", "source_id", "from_id",
        "from_seq", "from_slot", "origin", "base", "original",
    ),
)  # fmt: skip
_CHILD = takes(
    "child",
    "child_id child_seq child_seq_id child_sid dst dst_id dst_seq dst_seq_id dst_slot dst_row dest dest_id "
    "destination target target_id to_id to_seq to_slot new_id new_seq new_seq_id new_sid new_sequence "
    "new_slot new_request_id new_rid copy_id fork_id branch_id",
    "int",
)
#: How many tokens of the past are shared: all of them.
_SHARED = takes(
    "length",
    "prefix_len prefix_length shared_len shared_length num_tokens n_tokens num_prefix_tokens prefix_tokens "
    "upto up_to at pos position seq_len",
    "int",
)
#: How many come of one.
_COPIES = takes("one", "n num_copies n_copies copies num_forks n_forks num_children k count", "int")
_ORDER = takes(
    "order",
    "beam_idx beam_indices beam_index beam_ids beam_idxs beams indices index idx idxs perm permutation "
    "parents parent_ids parent_idx parent_indices parent_beams batch_idx batch_indices batch_index keep rows "
    "row_indices row_idx new_order selection selected selected_indices src src_rows source_rows sources "
    "origins reorder_idx ids",
    required=True,
)
_LENGTH = takes(
    "length",
    "new_length new_len max_length max_len target_length target_len to to_length to_len keep n_keep num_keep "
    "total upto up_to pos position end size seq_len cur_len keep_len keep_length num_kept new_size "
    "new_seq_len",
    "int",
)
#: The same of each sequence.
_LENGTHS = replace(
    takes("totals", "lengths new_lengths target_lengths keep_lengths kept_lengths seq_lens new_lens"),
    spare=True,
)
_DROPPED = takes(
    "count",
    "n num k steps step num_tokens n_tokens tokens num_drop n_drop drop amount by num_rejected n_rejected "
    "rejected num_remove n_remove num_steps n_steps rollback_len num_to_drop num_to_remove back",
    "int",
)
_WHO = r"(_?(seq\w*|request|slot|row|stream|lane|session|beam|prefix|blocks|cache|kv_?cache|self|state))?"
_TO = r"(_?(to|by|last|tokens?|seq\w*|row|slot|kv|cache|length|len|state|draft|n))*$"


def _shares(name: str, params: tuple[Param, ...], patterns: str, avoid: str) -> Role:
    words = tuple(patterns.split()), tuple(avoid.split())
    return Role(name, (CACHE, *params), (AFTER,), *words, required=False, pure=False, strict=True)


#: A second sequence, or a second cache, with the same past.
FORK = _shares(
    "fork",
    (_PARENT, _CHILD, _SHARED, replace(_COPIES, spare=True)),
    rf"^fork{_WHO}$ ^(branch|share|split_?off){_WHO}$ ^(clone|copy|duplicate){_WHO}$ _fork$ "
    r"^(beam|prefix|seq|sequence)_?(fork|share|clone|copy)$ ^copy_(from|to)$",
    r"block$ page$ on_?write cow table test data array write (^|_)in(_|$)",
)
#: Names of what keeps some rows of a batch, when others have finished.
LEAVE = r"^(filter|keep|retain|compact)(_?(beams?|batch|rows?|seq\w*|cache|only|active|alive|live|running))?$"
#: Rows of a batch in another order, some of them twice and some no more, as beam search wants it.
REORDER = _shares(
    "reorder",
    (LAYER, _ORDER),
    r"reorder ^(index_?select|permute|gather|select|pick|shuffle|rearrange|take)"
    r"(_?(beams?|batch|rows?|seq\w*|cache|kv_?cache|kv))?$ ^(beam|batch|row)_?(select|gather|index|permute)$ "
    rf"{LEAVE}",
    r"block page head test layer",
)
#: The newest tokens go, as after a draft that was not accepted.
ROLL_BACK = _shares(
    "roll_back",
    (_PARENT, LAYER, _LENGTH, _LENGTHS, _DROPPED),
    rf"^(kv_?|cache_?)?(roll_?back|rewind|undo|revert|retract|un_?append){_TO} "
    rf"^(kv_?|cache_?)?(truncate|crop|trim|shrink|cut_?back){_TO} "
    rf"^(pop|drop|remove|discard|delete)_?(last|tail|newest|draft)?_?(tokens?|n|last|tail|newest|draft)$ "
    r"^set_?(len|length|seq_?len\w*)$",
    r"window old first front head evict block page left start test",
)
ROLES = (FORK, REORDER, ROLL_BACK)
#: The same of a paged cache.
PAGED = tuple(replace(role, name=f"paged_{role.name}") for role in (FORK, ROLL_BACK))
