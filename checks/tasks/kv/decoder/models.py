"""Finding a submission's decoder: what makes it, what takes the prompt, what takes one token."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from judge_tui.checks.binding.binding import Binding
from judge_tui.checks.calling.calls import invoke
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.faults import BadResult, Fault
from judge_tui.checks.tasks.kv import roles
from judge_tui.checks.tasks.kv.decoder.decoding import IDS, ModelSizes
from judge_tui.checks.tasks.kv.decoder.lone import is_lone, lone, lone_step
from judge_tui.checks.tasks.kv.decoder.maker import Maker
from judge_tui.checks.tasks.kv.finding import trial
from judge_tui.checks.tasks.kv.finding.signatures import Owner, matched
from judge_tui.checks.tasks.kv.finding.trial import Trial
from judge_tui.checks.tolerance import relative_error

__all__ = ["find"]

Inventories = Mapping[str, Mapping[str, Any]]
Found = dict[str, Binding]
_ROLES = {role.name: role for role in roles.DECODER}
_CREATE = next(role for role in roles.ROLES if role.name == "create")
_BUDGET = 8.0
_MOST = 5
_CACHE = re.compile(r"(?i)cache|past_?k|kv_?(store|buf)")


def find(
    worker: Worker, loaded: Inventories, found: Found, rejected: dict[str, list[str]], fatal: dict[str, Fault]
) -> None:
    """Bind ``decoder``, ``prefill`` and ``decode``: what agrees with itself first, else what runs."""
    tried = rejected.setdefault("prefill", [])
    written = {name: found[name] for name in _ROLES if name in found}
    best: Found = {}
    caches = _caches(worker, loaded, found)
    for option in _options(worker, loaded, written, caches):
        result = trial.survived(fatal, option, partial(_tried, worker, option))
        error, said = result.error, result.said
        if not said and error <= 1e-3:
            best = option
            break
        if not said and not best and (_plainly_meant(option, caches) or _keeps_a_cache(worker, option)):
            best = option
        names = ", ".join(dict.fromkeys(b.target for b in option.values()))
        if len(tried) < 24:
            tried.append(f"{names}: {said or f'runs, differs from a longer prefill by {error:.2g}'}")
    found.update(best)
    for name in ("decoder", "decode"):
        rejected.setdefault(name, []).extend(tried)


def _caches(worker: Worker, loaded: Inventories, found: Found) -> list[Binding]:
    """What may make a cache that a decoder is handed: what is bound, else classes that are called so."""
    if "create" in found:
        return [found["create"]]
    named = matched(worker, loaded, _CREATE, constructors=True)
    # A function that makes one may be the decoder's own, and is found as such.
    return [replace(option, returns={}) for option in named if option.name[:1].isupper()][:2]


def _plainly_meant(option: Found, caches: list[Binding]) -> bool:
    """Whether a decoder that answers wrongly is called as it is meant to be, so that its answers count.

    A cache not made for it, or one call for all that says nothing of a cache, may be misread.
    """
    state = option.get("state") or option.get("states")
    if state is not None and state.target in {cache.target for cache in caches}:
        return False
    prefill, decode = option["prefill"], option["decode"]
    return prefill.target != decode.target or any(decode.takes(name) for name in ("cache", "use_cache"))


def _keeps_a_cache(worker: Worker, option: Found) -> bool:
    """Whether one call for all is told its position, and its model holds arrays that are called a cache."""
    if not (option["prefill"].takes("position") and option["decode"].takes("position")):
        return False
    model = Maker(worker, option, lambda: _BUDGET)(1).model
    paths = (leaf["path"] for leaf in worker.leaves(model)) if model is not None else ()
    return any(_CACHE.search(str(key)) for path in paths for _kind, key in path)


def _options(worker: Worker, loaded: Inventories, written: Found, caches: list[Binding]) -> Iterator[Found]:
    """Ways to make a decoder and to call it; its cache is its own, made by it, or the one that was found."""
    if "prefill" in written and "decode" in written:
        yield written
        return
    made = [written["decoder"]] if "decoder" in written else matched(
        worker, loaded, _ROLES["decoder"], constructors=True
    )[:_MOST]  # fmt: skip
    for decoder in made:
        try:
            owner = _owner(worker, decoder)
        except Fault:
            if not worker.alive:
                raise
            continue

        def methods(name: str, owner: Owner = owner) -> list[Binding]:
            if name in written:
                return [written[name]]
            return [
                form
                for binding in matched(worker, loaded, _ROLES[name], owner=owner, stateful=True, on="model")[
                    :_MOST
                ]
                if binding.on == "model" or (owner.bare and binding.takes("model"))
                for form in _forms(binding)
            ]

        # What takes one sequence alone comes last, where no batch is taken.
        pairs = itertools.product(methods("prefill"), methods("decode"))
        for prefill, decode in sorted(pairs, key=is_lone):
            apart = is_lone([prefill]) != is_lone([decode]) and not decode.takes("sequences")
            if apart or _over(prefill) != _over(decode):
                continue
            option = {**written, "decoder": decoder, "prefill": prefill, "decode": decode}
            if prefill.takes("sequence") and "open" not in written:
                yield from ({**option, "open": each} for each in methods("open"))
            if prefill.takes("cache") and "state" not in written:
                yield from ({**option, "state": state} for state in methods("state"))
            yield option
            for cache in caches if prefill.takes("cache") else []:
                yield {**option, "state": replace(cache, role="state")}
                yield {**option, "states": replace(cache, role="states")}


def _matched(worker: Worker, loaded: Inventories, name: str, owner: Owner) -> list[Binding]:
    return matched(worker, loaded, _ROLES[name], owner=owner, stateful=True, on="model")[:_MOST]


def _forms(binding: Binding) -> list[Binding]:
    """A single token may go in as (B,) or as (B, 1)."""
    if not (binding.takes("tokens") or binding.takes("x")):
        return [binding] if binding.role in ("state", "open") else []
    if binding.role != "decode":
        return [binding, lone(binding)]
    flat = {"tokens": "token", "x": "vector"}
    other = replace(
        binding, args=tuple(replace(a, source=flat.get(a.source, a.source)) for a in binding.args)
    )
    forms = [other, binding] if binding.takes("tokens") else [binding, other]
    return [*forms, lone_step(binding), lone(binding)]


def _over(binding: Binding) -> str:
    """What a call goes over: ``tokens`` or ``x``."""
    return "tokens" if any(binding.takes(name) for name in IDS) else "x"


def _owner(worker: Worker, decoder: Binding) -> Owner:
    returned = invoke(worker, decoder, ModelSizes().inputs(), budget=_BUDGET)
    handle = returned.handle("model") if returned.has("model") else returned.result.handle
    return Owner.seen(worker.describe(handle))


def _tried(worker: Worker, option: Found) -> Trial:
    """How far two decode steps are from a longer prefill, or how it failed to run."""
    try:
        rng = np.random.default_rng(11)
        make = Maker(worker, option, lambda: _BUDGET)
        batch = 2 if make.any_batch else 1
        one = make(batch)
        given = one.draw(rng, 5)
        one.prefill(given[:, :3])
        error = 0.0
        for t in (3, 4):
            step = one.decode(given[:, t])
            full = make(batch).prefill(given[:, : t + 1])
            if step.shape != full.shape:
                raise BadResult(f"a step answers {step.shape}, a prefill {full.shape}")
            error = max(error, relative_error(step, full))
        if not error <= 1e-3 and one.state is None and option["decode"].takes("cache"):
            return Trial(error, f"{option['decode'].target} takes a cache, and nothing makes one")
        return Trial(float("inf"), "answers with NaN") if np.isnan(error) else Trial(error)
    except Fault as fault:
        if not worker.alive:
            raise
        return Trial(float("inf"), fault.placed)
    except (KeyError, ValueError, IndexError) as error:
        return Trial(float("inf"), f"cannot be called so: {error}")
