"""Roles of caches that are told of their sequences: one comes, room is made for its tokens, it goes."""

from __future__ import annotations

import re

from judge_tui.checks.contract import Param, Return, Role
from judge_tui.checks.tasks.kv.words.parameters import CACHE, NEW, SEQUENCE

__all__ = ["ADD", "FORGETS", "FREE", "PROMPT", "RESERVE", "TOKEN"]

#: A method after which a cache, or a decoder, is to be as when it was new.
FORGETS = re.compile(
    r"(reset|clear|empty|flush)(_(the_|all_|kv_)*(caches?|states?|context|history|conversation|session))?"
)
_COUNT = Param(
    "count",
    "int",
    ("num_tokens", "n_tokens", "length", "prompt_len", "prompt_length", "initial_len", "seq_len", "max_len",
     "max_tokens", "tokens", "n", "num_new_tokens", "initial_length", "expected_len", "size"),
    required=False,
)  # fmt: skip
#: The ids of a sequence's tokens, for caches that look for blocks that others have of the same past.
PROMPT = Param(
    "prompt",
    "data",
    ("token_ids", "prompt_ids", "prompt_tokens", "prompt_token_ids", "input_ids", "ids", "tokens", "prefix"),
    required=False,
)
#: The id of a token that goes in.
TOKEN = Param("token", "int", ("token_id", "tok", "tid", "new_token", "new_token_id"), required=False)
_ROOM = r"(_?(slots?|tokens?|capacity|room|space|blocks?|pages?))?"
_COMES = "add|new|create|register|start|open|begin|admit|acquire|allocate|alloc|join|enter|seat|lease|occupy"
_GOES = "free|release|remove|delete|drop|evict|finish|deallocate|dealloc|end|close|retire|leave|vacate|unseat"
_WHOLE = r"(_?(seq\w*|request|slot|row|stream|lane|session|sample|user))"


def _moves(name: str, params: tuple[Param, ...], gives: Return, patterns: str, avoid: str) -> Role:
    words = tuple(patterns.split()), tuple(avoid.split())
    return Role(name, (CACHE, SEQUENCE, *params), (gives,), *words, required=False, pure=False, strict=True)


#: What tells a cache of any kind that a sequence comes.
ADD = _moves(
    "add",
    (_COUNT,),
    Return("sequence", "data", required=False),
    rf"^({_COMES}|init){_WHOLE}$ ^({_COMES})$ ^(reserve|ensure) _({_COMES})$",
    r"block page free list (^|_)all(_|$)",
)
#: What makes room for tokens before they are written.
RESERVE = _moves(
    "reserve",
    (_COUNT, NEW),
    Return("position", "data", required=False),
    rf"^(reserve|ensure|claim|grow|make_?room|prepare|alloc|allocate){_ROOM}$ "
    r"^(check|require|assert)_?(room|capacity|space|fits|limits?|bounds|overflow)$",
    r"free list (^|_)all(_|$)",
)
#: What lets such a sequence go.
FREE = _moves(
    "free",
    (),
    Return("count", "data", required=False),
    rf"^({_GOES}){_WHOLE}$ ^({_GOES}|pop|discard)$ ^(reset|clear){_WHOLE}?$ ^(free|release) "
    rf"_({_GOES})$ ^__delitem__$",
    r"block page list num count (^|_)all(_|$) available slots tokens",
)
