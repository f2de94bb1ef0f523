"""Finding a submission's decoder: what makes it, what takes the prompt, what takes one token."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.binding.candidates import callables
from judge_tui.checks.binding.solver import RIGHT, Family, Option, Search, Trial, trial
from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.faults import BadResult
from judge_tui.checks.tasks.kv.faces.answers import carries
from judge_tui.checks.tasks.kv.faces.decoding import IDS, Decoder, ModelSizes
from judge_tui.checks.tasks.kv.faces.lone import is_lone, keyed, lone, lone_step
from judge_tui.checks.tasks.kv.faces.maker import Maker
from judge_tui.checks.tasks.kv.faces.sequence_handles import hands_out, opening, tells_sequences
from judge_tui.checks.tasks.kv.faces.told import MASKS, WEIGHTS
from judge_tui.checks.tasks.kv.finding.borrowed_caches import BorrowedCaches
from judge_tui.checks.tasks.kv.finding.handing_on import goes_straight_on
from judge_tui.checks.tasks.kv.finding.masking import asked, settle_mask
from judge_tui.checks.tasks.kv.finding.meant import is_meant
from judge_tui.checks.tasks.kv.finding.padding import settle_padding
from judge_tui.checks.tasks.kv.finding.sessions import going_on
from judge_tui.checks.tasks.kv.finding.signatures import Owner, matched
from judge_tui.checks.tasks.kv.finding.trials import BUDGET
from judge_tui.checks.tasks.kv.words.decoder_roles import BY_NAME, DECODER
from judge_tui.checks.tolerance import relative_error

__all__ = ["find"]

Array = npt.NDArray[Any]

#: The same of functions over bare weights, of which the first is no model.
_BARE = {
    role.name: replace(role, params=tuple(param for param in role.params if param.name != "model"))
    for role in DECODER
}
#: Handed over in the place of the newest tokens alone: all that were fed.
_HISTORY = {
    "tokens": "id_history", "token": "id_history", "x": "row_history", "vector": "row_history",
}  # fmt: skip
_MOST = 5
_LENGTH = next(param for param in BY_NAME["decoder"].params if param.name == "max_len")
#: Names of how many blocks there are.
_BLOCKS = re.compile(r"(?i)^((num|n|max|total)_?)?(blocks|pages)$")
#: How methods are called of what takes a prompt, and then tokens one by one.
_TAKES_TURNS = (r" (prefill|process_prompt|encode_prompt)", r" (decode|step|next)")


def find(search: Search) -> None:
    """Bind ``decoder``, ``prefill`` and ``decode``: what agrees with itself first, else what runs."""
    caches, refused = BorrowedCaches(search), set[str]()

    def options(_search: Search) -> Iterator[Option]:
        return (o for o in _options(search, caches) if _prompting(o) not in refused)

    @trial
    def tried(_search: Search, option: Option) -> Trial | float:
        return _tried(search, option, refused)

    family = Family(
        "prefill",
        options,
        tried,
        meant=lambda _, option, _result: is_meant(search, option, caches),
    )
    if found := search.settle(family):
        search.bound.update(found[0])
        settle_mask(search)
        settle_padding(search)
    for name in ("decoder", "decode"):
        search.tried(name).extend(search.tried("prefill"))


def _options(search: Search, caches: BorrowedCaches) -> Iterator[Option]:
    """Ways to make a decoder and to call it; its cache is its own, made by it, or the one that was found."""
    written = {name: search.bound[name] for name in BY_NAME if name in search.bound}
    if "prefill" in written and "decode" in written:
        yield written
        return
    for decoder in [written["decoder"]] if "decoder" in written else [*_made(search), None]:
        owner: Owner | None = None
        with search.guess():
            sizes = ModelSizes().inputs()
            owner = Owner.of(search.worker, decoder, sizes, "model") if decoder else Owner()
        if owner is None:
            continue
        methods = partial(_methods, search, written, owner, decoder)
        made = {"decoder": decoder} if decoder else {}
        # What takes one sequence alone comes last, where no batch is taken.
        pairs = itertools.product(methods("prefill"), methods("decode"))
        for prefill, decode in sorted(pairs, key=is_lone):
            apart = is_lone([prefill]) != is_lone([decode]) and not decode.takes("sequences")
            if apart or _over(prefill) != _over(decode) or _loses_sequence(prefill, decode):
                continue
            for option in _masked(search, {**written, **made, "prefill": prefill, "decode": decode}):
                yield from _with_caches(search, option, written, methods, caches)


def _masked(search: Search, option: Option) -> Iterator[Option]:
    """The same, with a mask in each way of writing one: first where it has to be handed, else last."""
    calls = {name: asked(search, option[name]) for name in ("prefill", "decode")}
    masked = [
        option | {name: binding.handed(seen=mask) for name, binding in calls.items()}
        for mask in (MASKS if calls["prefill"].takes("seen") else ())
    ]
    first = option["prefill"].takes("seen")
    yield from (*masked, option) if first else (option, *masked)


def _with_caches(
    search: Search,
    option: Option,
    written: Option,
    methods: Callable[[str], list[Binding]],
    caches: BorrowedCaches,
) -> Iterator[Option]:
    """A decoder with its own cache, one that it makes, that its caller keeps, or that was found."""
    prefill, decode = option["prefill"], option["decode"]
    if prefill.takes("sequence") and "open" not in written:
        yield from ({**option, "open": each} for each in methods("open"))
    if carries(prefill) and "state" not in written:
        yield from ({**option, "state": state} for state in methods("state"))
    if prefill.on != "cache":
        yield option
    if prefill.takes("sequence") and tells_sequences(decode):
        yield {**option, "prefill": opening(prefill)}
    joins = prefill.takes("cache") or prefill.takes("cache_k")
    if joins and not any(goes_straight_on(search.worker.submission, call) for call in (prefill, decode)):
        yield from _joined(option)
    if prefill.takes("cache"):
        yield from caches.options(option)
    if prefill.target == decode.target:
        yield {**option, "decode": decode.handed(**_HISTORY)}


def _joined(option: Option) -> Iterator[Option]:
    """The same where keys and values of new tokens come back alone, and their caller joins them."""
    for how in ("joined", "joined_by_layer", "joined_list"):
        told = {"cache": how, "cache_k": "joined_k", "cache_v": "joined_v"}
        yield option | {name: option[name].handed(**told) for name in ("prefill", "decode")}
        if not option["prefill"].takes("cache"):
            return


def _methods(
    search: Search, written: Option, owner: Owner, decoder: Binding | None, name: str
) -> list[Binding]:
    """What may play a role of a decoder, and the forms in which tokens or vectors may go in."""
    if name in written:
        return [written[name]]
    role = BY_NAME[name] if decoder else _BARE[name]
    named = matched(search, role, owner=owner, stateful=decoder is not None, on="model")
    if decoder is None:
        # Nothing makes a decoder: its weights are handed over with every call.
        named = [binding for binding in named if all(binding.takes(weight) for weight in WEIGHTS[:3])]
    calls = [one for one in named if decoder is None or one.on == "model" or _is_handed(one, owner)][:_MOST]
    if decoder is not None and name in ("prefill", "decode"):
        calls += going_on(search, role, owner)
    return [form for call in calls for spelling in _spellings(call, decoder) for form in _forms(spelling)]


def _is_handed(binding: Binding, owner: Owner) -> bool:
    """Whether a call is handed the model: of one that is an object, only functions are."""
    return binding.takes("model") and (owner.bare or "." not in binding.name)


def _made(search: Search) -> list[Binding]:
    """Ways to make a decoder: told its sizes by an object that it could do without, then by none."""
    role, made = BY_NAME["decoder"], list[Binding]()
    named = matched(search, role, classes=True)[:_MOST]
    if not named and (classes := _prompted(search)):
        # Its methods say what it is where no name does.
        role = replace(role, patterns=tuple(f"^{re.escape(name.lower())}$" for name in classes))
        named = matched(search, role, classes=True)[:_MOST]
    for decoder in named:
        told = matched(search, role, classes=True, sized=True)
        made += [one for one in told if one.target == decoder.target and one != decoder]
        made.append(decoder)
    return [_in_blocks(search, one) for one in made]


def _in_blocks(search: Search, decoder: Binding) -> Binding:
    """The same; where it is told how many blocks there are, the size of a block is no text's length."""
    names = [str(param["name"]) for param in search.params(decoder.target)]
    lengths = [name for name in names if _LENGTH.means(name)]
    many = any(map(_BLOCKS.search, names)) and lengths == ["block_size"]
    return decoder.handed(max_len="block_size") if many else decoder


def _prompted(search: Search) -> list[str]:
    """Classes that take a prompt, and a token behind it."""
    owned: dict[str, str] = {}
    for item in callables(search.loaded):
        if item.owner:
            name = str(item.owner["name"])
            owned[name] = f"{owned.get(name, '')} {item.name.rpartition('.')[2].lower()}"
    return [name for name, methods in owned.items() if all(re.search(word, methods) for word in _TAKES_TURNS)]


def _loses_sequence(prefill: Binding, decode: Binding) -> bool:
    """Whether a prompt is told of a sequence, and a step of nothing that could go on with it."""
    return prefill.takes("sequence") and not (tells_sequences(decode) or carries(decode))


def _spellings(binding: Binding, decoder: Binding | None) -> list[Binding]:
    """What goes by the name of vectors may be ids, in a model that is told how many there are."""
    told = decoder.takes("vocab") if decoder else False
    if decoder and binding.takes("tokens") and not told and decoder.takes("embed"):
        # What is told a width and no vocabulary may call its vectors tokens.
        return [binding, binding.handed(tokens="x")]
    if not (binding.takes("x") and told):
        return [binding]
    return [binding.handed(x="tokens"), binding]


def _forms(binding: Binding) -> list[Binding]:
    """A single token may go in as (B,) or as (B, 1), and ids in lists."""
    if not (binding.takes("tokens") or binding.takes("x")):
        return [binding] if binding.role in ("state", "open") else []
    if binding.role != "decode":
        listed = [binding.handed(tokens="token_lists")] if binding.takes("tokens") else []
        return [binding, *listed, lone(binding)]
    other = binding.handed(tokens="token", x="vector")
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


def _prompting(option: Option) -> str:
    """All that a prompt depends on: the rest of an option is not tried where none goes in."""
    names = ("decoder", "open", "state", "states", "prefill")
    called = [f"{name} {option[name].target} {option[name].args}" for name in names if name in option]
    return "; ".join([*called, _over(option["decode"]), str(hands_out(option))])


def _computes_anew(decoder: Decoder, option: Option, given: Array) -> bool:
    """Whether a step that is handed all tokens so far does the work of a prompt: it needs no cache."""
    if not any(option["decode"].takes(name) for name in _HISTORY.values()):
        return False
    decoder.counters = []
    decoder.prefill(given[:, :-1])
    decoder.decode(given[:, -1])
    whole, step = (int(each.get("multiply_adds", 0)) for each in decoder.counters)
    return step >= whole / 2


def _tried(search: Search, option: Option, refused: set[str]) -> Trial | float:
    """How far two decode steps are from a longer prefill."""
    rng = np.random.default_rng(11)
    refused.add(_prompting(option))
    make = Maker(search.worker, option, lambda: BUDGET)
    refused.discard(_prompting(option))
    batch = 2 if make.any_batch else 1
    one = make(batch)
    given = one.draw(rng, 5)
    one.prefill(given[:, :3])
    if one.joined is not None and one.joined.empty:
        return Trial(float("inf"), f"{option['prefill'].target} gives no keys and values to join")
    errors = []
    for t in (3, 4):
        step = one.decode(given[:, t])
        full = make(batch).prefill(given[:, : t + 1])
        if step.shape != full.shape:
            raise BadResult(f"a step answers {step.shape}, a prefill {full.shape}")
        errors.append(relative_error(step, full))
    error = float(np.max(errors))
    if error <= RIGHT and _computes_anew(make(batch), option, given):
        return Trial(error, f"{option['decode'].target} computes all tokens that it is handed anew")
    if not error <= RIGHT and one.state is None and carries(option["decode"]):
        return Trial(error, f"{option['decode'].target} takes a cache, and nothing makes one")
    return Trial(float("inf"), "answers with NaN") if np.isnan(error) else error
