"""What takes several tokens of a decoder behind others, where the call for prompts starts a text of its own.

``prefill(ids)`` may make the cache, ``decode(token, cache)`` take one token, and both go through
``forward(ids, cache)``, which takes the next chunk of a prompt as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from judge_tui.checks.binding.solver import Search
from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.calling.remote import Handle
from judge_tui.checks.tasks.kv.faces.decoding import IDS, Decoder
from judge_tui.checks.tasks.kv.faces.lone import is_lone, lone
from judge_tui.checks.tasks.kv.finding import sessions
from judge_tui.checks.tasks.kv.finding.signatures import Owner, matched
from judge_tui.checks.tasks.kv.words.decoder_roles import DECODER

__all__ = ["candidates", "handed"]

#: What is called after chunks takes the next one.
_ROLES = tuple(
    replace(role, avoid=tuple(word for word in role.avoid if word != "chunk"))
    for role in DECODER
    if role.name in ("prefill", "decode")
)
_MOST = 4
#: What a decoder keeps its cache under.
_KEEPS = re.compile(r"(?i)cache|past|kv|^state$")
_HOLDS = ("object", "list", "tuple", "dict")


def candidates(search: Search, bound: Mapping[str, Binding], model: Handle | None) -> Iterator[Binding]:
    """Calls that may take the tokens behind a prompt's first ones, as if each were a prompt; likeliest first.

    Args:
        search: Where is looked.
        bound: A decoder's roles.
        model: The decoder.
    """
    owner = Owner.seen(search.worker.describe(model)) if model is not None else Owner()
    prompt, seen = bound["prefill"], set[str]()
    found = [
        binding
        for role in _ROLES
        for binding in matched(search, role, owner=owner, stateful=model is not None, on="model")
        if binding.target not in (prompt.target, bound["decode"].target)
    ]
    behind = sessions.going_on(search, _ROLES[1], owner)
    for binding in (*found[:_MOST], *behind, bound["decode"]):
        form = _as_prompt(binding, prompt)
        if binding.target not in seen and form is not None:
            seen.add(binding.target)
            yield form


def _as_prompt(binding: Binding, prompt: Binding) -> Binding | None:
    """The same call, handed tokens as the prompt is; ``None`` where it cannot be."""
    ids = any(prompt.takes(name) for name in IDS)
    plain = ("tokens", "token", "ids", "id", "token_lists") if ids else ("x", "vector", "rows", "row")
    own = replace(binding, role="prefill")
    for name in ("x", "vector", "tokens", "token") if ids else ("tokens", "token", "x", "vector"):
        own = own.handed(**{name: plain[0]})
    if not own.takes(plain[0]):
        return None
    if is_lone([prompt]):
        return lone(own)
    return own.handed(tokens="token_lists") if prompt.takes("token_lists") else own


def handed(decoder: Decoder, later: Binding) -> Decoder:
    """The same decoder, which goes on by another call; that takes its own cache, if none goes beside it."""
    if later.takes("cache") and decoder.state is None and decoder.model is not None:
        parts = decoder.worker.describe(decoder.model).get("parts", ())
        kept = [
            (step, key)
            for step, key, below in parts
            if below.get("kind") in _HOLDS and _KEEPS.search(str(key))
        ]
        if len(kept) == 1:
            decoder.state = decoder.model.part(kept[0])
    decoder.bound = {**decoder.bound, "prefill": later}
    return decoder
