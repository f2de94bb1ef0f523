"""The roles of a paged cache: the plain ones under other names, and sequences that come and go."""

from __future__ import annotations

from dataclasses import replace

from judge_tui.checks.contract import Param, Return, Role
from judge_tui.checks.tasks.kv.words import roles, sequence_roles, sharing_roles
from judge_tui.checks.tasks.kv.words.parameters import K, V

__all__ = ["CODED", "IN_BLOCKS", "PARTS", "ROLES"]

#: Words that rule a plain role out and a paged one not.
_WELCOME = ("page", "block", "pool")
_SIZES = (
    Param(
        "blocks",
        "int",
        ("num_blocks", "n_blocks", "num_pages", "n_pages", "total_blocks", "total_pages", "max_blocks",
         "max_pages", "pool_size", "num_physical_blocks", "max_num_blocks", "pages", "pool_blocks",
         "initial_blocks", "num_total_blocks", "capacity_blocks", "nblocks"),
        required=False,
    ),
    Param(
        "block_size",
        "int",
        ("page_size", "tokens_per_block", "tokens_per_page", "bs", "block_len", "page_len", "block_tokens",
         "page_tokens", "block", "page", "blk_size", "slots_per_block"),
        required=False,
    ),
    Param(
        "blocks_each",
        "int",
        ("max_blocks_per_seq", "max_pages_per_seq", "blocks_per_seq", "max_blocks_per_sequence",
         "max_pages_per_sequence"),
        required=False,
    ),
    Param(
        "batch",
        "int",
        ("max_num_seqs", "max_seqs", "num_seqs", "max_sequences", "max_num_sequences", "n_seqs", "max_slots",
         "n_slots", "num_slots", "max_lanes", "lanes"),
        required=False,
    ),
    *roles.SIZES,
)  # fmt: skip


def _part(name: str, *more: Param, patterns: str = "", avoid: str = "") -> Role:
    role = roles.BY_NAME[name]
    return replace(
        role,
        name=f"paged_{name}",
        params=(*role.params, *more),
        patterns=tuple(patterns.split()) or role.patterns,
        avoid=(*(word for word in role.avoid if word not in _WELCOME), *avoid.split()),
    )


def _of_a_prompt(held: Param) -> Param:
    """Keys or values of all tokens of a prompt."""
    first, whole = held.name, held.aliases[0]
    named = (
        f"{first}_prompt",
        f"prompt_{first}",
        f"prompt_{whole}s",
        f"{whole}s_prompt",
        f"{first}_all",
        f"all_{first}",
    )
    return replace(held, required=False, aliases=(*held.aliases, *named))


#: What makes the cache, and what is done with it.
ROLES = (
    Role(
        "paged",
        _SIZES,
        (Return("cache", "handle"),),
        (
            r"^paged_?(kv_?)?cache$", r"paged.*(cache|kv|attention)|(cache|kv).*paged",
            r"(make|new|create|init|build).*(paged|page|block)",
            r"block.*(cache|kv)|(cache|kv).*(block|page)",
            r"(page|block).*(manager|pool|store|table|arena)",
        ),
        (
            r"test", r"check", r"bench", r"demo", r"config", r"stats", r"alloc", r"hybrid", r"quant", r"int8",
            r"transformer", r"decoder", r"bytes", r"memory", r"compare", r"print", r"spec$", r"sequence",
        ),
        required=False,
        pure=False,
        strict=True,
    ),
    replace(
        sequence_roles.ADD,
        name="paged_add",
        # a prompt may come with its keys and values
        params=(
            *sequence_roles.ADD.params,
            sequence_roles.PROMPT,
            *(_of_a_prompt(held) for held in (K, V)),
        ),
    ),
    replace(sequence_roles.RESERVE, name="paged_reserve"),
    _part("append", sequence_roles.TOKEN, sequence_roles.PROMPT, avoid=r"block$ page$ alloc free"),
    _part("append_many", sequence_roles.PROMPT, avoid=r"block$ page$ alloc free"),
    replace(roles.BY_NAME["advance"], name="paged_advance"),
    _part("read", avoid=r"table free used stat num count util usage ids physical block$ page$ blocks$"),
    _part("attend", avoid=r"block$ page$"),
    replace(sequence_roles.FREE, name="paged_free"),
    *sharing_roles.PAGED,
)  # fmt: skip

#: What makes a paged cache that keeps codes, whatever it is called.
CODED = replace(
    ROLES[0], patterns=(r"",), avoid=tuple(word for word in ROLES[0].avoid if word not in ("quant", "int8"))
)
#: How many blocks there are, and how many tokens each has.
IN_BLOCKS = tuple(size for size in _SIZES if size.name in ("blocks", "block_size"))
#: What is done with a paged cache, by the part of the role's name after ``paged_``.
PARTS = {role.name.removeprefix("paged_"): role for role in ROLES if role.name != "paged"}
