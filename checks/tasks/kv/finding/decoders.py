"""Finding a submission's decoder: what makes it, what takes the prompt, what takes one token."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.calling.calls import invoke
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.faults import BadResult, Fault
from judge_tui.checks.tasks.kv.faces.decoding import IDS, ModelSizes
from judge_tui.checks.tasks.kv.faces.lone import is_lone, keyed, lone, lone_step
from judge_tui.checks.tasks.kv.faces.maker import Maker
from judge_tui.checks.tasks.kv.faces.sequence_handles import hands_out, opening, tells_sequences
from judge_tui.checks.tasks.kv.finding import trial
from judge_tui.checks.tasks.kv.finding.borrowed_caches import BorrowedCaches
from judge_tui.checks.tasks.kv.finding.meant import is_meant
from judge_tui.checks.tasks.kv.finding.padding import settle_padding
from judge_tui.checks.tasks.kv.finding.readings import renamed
from judge_tui.checks.tasks.kv.finding.signatures import Owner, matched
from judge_tui.checks.tasks.kv.finding.trial import Trial
from judge_tui.checks.tasks.kv.words.decoder_roles import DECODER
from judge_tui.checks.tasks.kv.words.roles import ByRole
from judge_tui.checks.tolerance import relative_error

__all__ = ["find"]

Inventories = Mapping[str, Mapping[str, Any]]
_ROLES = {role.name: role for role in DECODER}
_BUDGET = 8.0
_MOST, _SHOWN = 5, 24


def find(
    worker: Worker,
    loaded: Inventories,
    bound: ByRole,
    rejected: dict[str, list[str]],
    fatal: dict[str, Fault],
) -> None:
    """Bind ``decoder``, ``prefill`` and ``decode``: what agrees with itself first, else what runs."""
    tried = rejected.setdefault("prefill", [])
    written = {name: bound[name] for name in _ROLES if name in bound}
    best: ByRole = {}
    caches, refused = BorrowedCaches(worker, loaded, bound), set[str]()
    for option in _options(worker, loaded, written, caches):
        if _prompting(option) in refused:
            continue
        result = trial.survived(fatal, option, partial(_tried, worker, option, refused))
        error, said = result.error, result.said
        if not said and error <= 1e-3:
            best = option
            break
        if not said and not best and is_meant(worker, loaded, option, caches):
            best = option
        names = ", ".join(dict.fromkeys(b.target for b in option.values()))
        line = f"{names}: {said or f'runs, differs from a longer prefill by {error:.2g}'}"
        if len(tried) < _SHOWN and line not in tried:
            tried.append(line)
    bound.update(best)
    if best:
        settle_padding(worker, bound)
    for name in ("decoder", "decode"):
        rejected.setdefault(name, []).extend(tried)


def _options(
    worker: Worker, loaded: Inventories, written: ByRole, caches: BorrowedCaches
) -> Iterator[ByRole]:
    """Ways to make a decoder and to call it; its cache is its own, made by it, or the one that was found."""
    if "prefill" in written and "decode" in written:
        yield written
        return
    for decoder in [written["decoder"]] if "decoder" in written else _made(worker, loaded):
        try:
            owner = _owner(worker, decoder)
        except Fault:
            if not worker.alive:
                raise
            continue

        def methods(name: str, owner: Owner = owner, decoder: Binding = decoder) -> list[Binding]:
            if name in written:
                return [written[name]]
            return [
                form
                for binding in matched(worker, loaded, _ROLES[name], owner=owner, stateful=True, on="model")[
                    :_MOST
                ]
                if binding.on == "model" or (owner.bare and binding.takes("model"))
                for spelling in _spellings(binding, decoder)
                for form in _forms(spelling)
            ]

        # What takes one sequence alone comes last, where no batch is taken.
        pairs = itertools.product(methods("prefill"), methods("decode"))
        for prefill, decode in sorted(pairs, key=is_lone):
            apart = is_lone([prefill]) != is_lone([decode]) and not decode.takes("sequences")
            if apart or _over(prefill) != _over(decode) or _loses_sequence(prefill, decode):
                continue
            option = {**written, "decoder": decoder, "prefill": prefill, "decode": decode}
            if prefill.takes("sequence") and "open" not in written:
                yield from ({**option, "open": each} for each in methods("open"))
            if prefill.takes("cache") and "state" not in written:
                yield from ({**option, "state": state} for state in methods("state"))
            yield option
            if prefill.takes("sequence") and tells_sequences(decode):
                yield {**option, "prefill": opening(prefill)}
            if prefill.takes("cache"):
                yield from caches.options(option)


def _made(worker: Worker, loaded: Inventories) -> list[Binding]:
    """Ways to make a decoder: told its sizes by an object that it could do without, then by none."""
    made = []
    for decoder in matched(worker, loaded, _ROLES["decoder"], constructors=True)[:_MOST]:
        told = matched(worker, loaded, _ROLES["decoder"], constructors=True, sized=True)
        made += [one for one in told if one.target == decoder.target and one != decoder]
        made.append(decoder)
    return made


def _loses_sequence(prefill: Binding, decode: Binding) -> bool:
    """Whether a prompt is told of a sequence, and a step of nothing that could go on with it."""
    return prefill.takes("sequence") and not (tells_sequences(decode) or decode.takes("cache"))


def _spellings(binding: Binding, decoder: Binding) -> list[Binding]:
    """What goes by the name of vectors may be ids, in a model that is told how many there are."""
    if not (binding.takes("x") and decoder.takes("vocab")):
        return [binding]
    args = tuple(replace(a, source="tokens") if a.source == "x" else a for a in binding.args)
    return [replace(binding, args=args), binding]


def _forms(binding: Binding) -> list[Binding]:
    """A single token may go in as (B,) or as (B, 1), and ids in lists."""
    if not (binding.takes("tokens") or binding.takes("x")):
        return [binding] if binding.role in ("state", "open") else []
    if binding.role != "decode":
        listed = [renamed(binding, "tokens", "token_lists")] if binding.takes("tokens") else []
        return [binding, *listed, lone(binding)]
    flat = {"tokens": "token", "x": "vector"}
    other = replace(
        binding, args=tuple(replace(a, source=flat.get(a.source, a.source)) for a in binding.args)
    )
    forms = [other, binding, _listed(other)] if binding.takes("tokens") else [binding, other]
    told = [] if tells_sequences(binding) else [keyed(binding)]
    return [*forms, lone_step(binding), lone(binding), *told]


def _listed(binding: Binding) -> Binding:
    """The same call, handed one id of each sequence in a list."""
    args = (replace(a, form="lists") if a.source == "token" else a for a in binding.args)
    return replace(binding, args=tuple(args))


def _over(binding: Binding) -> str:
    """What a call goes over: ``tokens`` or ``x``."""
    return "tokens" if any(binding.takes(name) for name in IDS) else "x"


def _owner(worker: Worker, decoder: Binding) -> Owner:
    returned = invoke(worker, decoder, ModelSizes().inputs(), budget=_BUDGET)
    handle = returned.handle("model") if returned.has("model") else returned.result.handle
    return Owner.seen(worker.describe(handle))


def _prompting(option: ByRole) -> str:
    """All that a prompt depends on: the rest of an option is not tried where none goes in."""
    names = ("decoder", "open", "state", "states", "prefill")
    called = [f"{name} {option[name].target} {option[name].args}" for name in names if name in option]
    return "; ".join([*called, _over(option["decode"]), str(hands_out(option))])


def _tried(worker: Worker, option: ByRole, refused: set[str]) -> Trial:
    """How far two decode steps are from a longer prefill, or how it failed to run."""
    try:
        rng = np.random.default_rng(11)
        refused.add(_prompting(option))
        make = Maker(worker, option, lambda: _BUDGET)
        refused.discard(_prompting(option))
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
