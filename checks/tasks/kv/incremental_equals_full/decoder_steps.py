"""A decoder against itself: prompt and steps must equal a longer prompt."""

from __future__ import annotations

import ast
import re
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.check import Findings
from judge_tui.checks.faults import Fault, Raised
from judge_tui.checks.sources import parsed
from judge_tui.checks.tasks.kv.faces.answers import carries
from judge_tui.checks.tasks.kv.faces.decoding import Decoder
from judge_tui.checks.tasks.kv.faces.maker import Maker
from judge_tui.checks.tasks.kv.faces.storage import holds_codes
from judge_tui.checks.tasks.kv.faces.told import ways_told
from judge_tui.checks.tasks.kv.faces.weights import rounded_anew, weights
from judge_tui.checks.tasks.kv.incremental_equals_full import own_forward
from judge_tui.checks.tasks.kv.incremental_equals_full.decoder_attention import SAME, foretell
from judge_tui.checks.tasks.kv.incremental_equals_full.decoder_causes import told_step
from judge_tui.checks.tasks.kv.incremental_equals_full.decoder_lengths import told_lengths
from judge_tui.checks.tasks.kv.incremental_equals_full.prefilling import sees_the_future
from judge_tui.checks.tasks.kv.incremental_equals_full.reach import judge_reach
from judge_tui.checks.tasks.kv.incremental_equals_full.stored_places import stored
from judge_tui.checks.tasks.kv.limits import CODES, Worst, precision
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.sentences import Sentences, Topic
from judge_tui.checks.tasks.kv.words.sequence_roles import FORGETS
from judge_tui.checks.tolerance import relative_error, same_bits
from judge_tui.checks.verdict import Verdict

__all__ = ["emptied_by", "full", "judge"]

Array = npt.NDArray[Any]
_BATCH, _PROMPT, _STEPS = 2, 4, 4
#: Large integers of a source, of which so many are tried, tokens about them, and the budget left then.
_PIECE, _MANY, _BEYOND, _PIECES_LEFT = (130, 1100), 2, 3, 0.5
#: Why a prompt and steps may differ by what a code costs.
_CODED = "its cache keeps codes, and a prompt may be attended over before it becomes some"
#: Times the usual limit that a limit is at most.
_LITTLE = 10
#: Tokens past a tile of 16, within the room that decoders are made with.
_LONG = (18, 30)
#: Prompt and steps across 64 tokens, and across many more, of decoders with room for them.
_FAR = ((66, 100), (130, 300))
#: The share of what is left of the budget that all steps of the nearer one may be expected to take.
_SHARE = 0.25
_EMPTIES = re.compile(r"reset|clear|empty|new_|init_?(kv_?)?cache|free|flush|start|begin")


def full(make: Maker, given: Array, b: int, length: int) -> Array:
    """What a decoder says after the first ``length`` positions of sequence ``b`` alone: (1, W)."""
    return make(1).prefill(given[b : b + 1, :length])


def judge(subject: Subject, found: Findings, said: Sentences) -> None:
    """Prompt and decode steps against prompts of every length; the past must matter."""
    make = subject.maker()
    for way in ways_told(
        subject.bound[name] for name in ("decoder", "prefill", "decode") if name in subject.bound
    ):
        found.note("decoder: how it is called", way)
    if _dtype_offered(subject):
        try:
            _compare(subject, found, subject.maker(dtype="float64"), said, "float64")
        except Raised as fault:
            # That its dtype may be float64 is a guess; whatever else raises, raises in float32 as well.
            found.note("decoder: made for float64", fault.placed, note="nothing shows that it takes it")
    if _compare(subject, found, make, said, "float32"):
        _long(subject, found, make, said)
        own_forward.judge(subject, found, make, said)
    _rows(subject, found, make, said)
    _past(subject, found, make, said)
    _again(subject, found, make, said)
    _emptied(subject, found, make, said)
    _foretold(subject, found, said)


def _dtype_offered(subject: Subject) -> bool:
    return "decoder" in subject.bound and subject.bound["decoder"].takes("dtype")


def _compare(subject: Subject, found: Findings, make: Maker, said: Sentences, dtype: str) -> bool:
    """Whether steps after a prompt give what a prefill of the whole gives."""
    batch = _BATCH if make.any_batch else 1
    decoder = make(batch)
    given = decoder.draw(subject.bench.rng("decoder", dtype), _PROMPT + _STEPS)
    worst = Worst()
    after_prompt = decoder.prefill(given[:, :_PROMPT])
    for b in range(batch):
        truth = full(make, given, b, _PROMPT)
        worst = worst.or_worse(_one(after_prompt[b : b + 1], truth, f"the prompt's end, sequence {b}"))
    prompt = worst
    for t in range(_PROMPT, _PROMPT + _STEPS):
        out = decoder.decode(given[:, t])
        for b in range(batch):
            truth = full(make, given, b, t + 1)
            worst = worst.or_worse(_one(out[b : b + 1], truth, f"position {t}, sequence {b}"))
    if make.refused and dtype == "float32":
        found.note("decoder: a batch of two", make.refused, note="judged with one sequence at a time")
    limit = _limit(make, given, worst, dtype)
    quantity = (
        f"decoder: prompt of {_PROMPT} and {_STEPS} steps against a prefill of the whole, "
        f"largest relative error per row, {dtype}"
    )
    narrow = dtype == "float64" and limit < worst.error <= precision("float32").floor
    note = "float32 arithmetic where float64 was asked for" if narrow else worst.note
    coded = _is_of_codes(decoder, worst.error, limit)
    otherwise = Verdict.WARN if narrow or coded else Verdict.FAIL
    where = subject.where("decode")
    if found.limit(quantity, worst.error, limit, note=note, otherwise=otherwise, **where):
        if dtype == "float32":
            text = f"the decoder agrees with its own prefill to {worst.error:.1e} (limit {limit:.1e})"
            said.append(text, Topic.AGREES)
    elif coded:
        said.append(f"decoder: steps differ from a prefill of the whole by {worst.error:.2g}: {_CODED}")
    elif dtype == "float32" or not narrow:
        stage = "prompts in a batch differ from the same alone" if prompt.wrong(limit) else "decode steps"
        # What differs in float32 as well is told of float32 alone.
        said.take_back(Topic.DIFFERS)
        text = f"decoder: {stage} differ from a prefill of the whole by {worst.error:.2g}"
        text += _but_for(subject, make, limit)
        text += told_step(subject, limit) if stage == "decode steps" else ""
        said.append(text, Topic.DIFFERS)
    return not worst.wrong(limit)


def _limit(make: Maker, given: Array, worst: Worst, dtype: str) -> float:
    """The limit of a decoder's steps: wider where a model makes much of a last bit, and steps are little off.

    How much it makes of one is seen where its weights are changed in their last bits.
    """
    limit = precision(dtype).limit(0.0)
    if not limit < worst.error <= _LITTLE * limit:
        return limit
    errors = [_of_a_last_bit(make, given, length) for length in range(_PROMPT + 1, given.shape[1] + 1)]
    return min(precision(dtype).limit(float(np.max(errors))), _LITTLE * limit)


def _of_a_last_bit(make: Maker, given: Array, length: int) -> float:
    """How far weights that are changed in their last bits move a prompt of the first sequence."""
    changed = make(1)
    rounded_anew(changed.worker, weights(changed.worker, changed.model), length)
    return relative_error(changed.prefill(given[:1, :length]), full(make, given, 0, length))


def _but_for(subject: Subject, make: Maker, limit: float) -> str:
    """For what decoder, and after what prompt, steps agree with a prefill, as the end of a sentence."""
    one_layer = "decoder" in subject.bound and subject.bound["decoder"].takes("layers")
    tried = {
        "with one layer": (lambda: subject.maker(layers=1), _PROMPT) if one_layer else None,
        "after a prompt of one token": (lambda: make, 1),
    }
    agreeing = []
    for words, how in tried.items():
        with suppress(Fault):
            if how is not None and _steps_off(subject, how[0](), how[1]) <= limit:
                agreeing.append(words)
    return f", but not {' and not '.join(agreeing)}" if agreeing else ""


def _steps_off(subject: Subject, make: Maker, prompt: int) -> float:
    """How far steps of one sequence after a prompt are from a prefill of the whole, relative."""
    decoder = make(1)
    given = decoder.draw(subject.bench.rng("but for", prompt), prompt + _STEPS)
    decoder.prefill(given[:, :prompt])
    steps = range(prompt, prompt + _STEPS)
    errors = [relative_error(decoder.decode(given[:, t]), full(make, given, 0, t + 1)) for t in steps]
    return float(np.max(errors))


def _long(subject: Subject, found: Findings, make: Maker, said: Sentences) -> None:
    """Long prompts against the same in steps; what has no room for them decides nothing."""
    before = subject.bench.left
    wrong = _longer(subject, found, make, said, _PROMPT, subject.between("long", *_LONG))
    steps = (before - subject.bench.left) * _FAR[0][1] / _LONG[0]
    for number, lengths in enumerate(_FAR):
        tokens = subject.between(f"far {number}", *lengths)
        try:
            far = subject.maker(max_len=tokens + _PROMPT)
        except Fault as fault:
            found.note(f"decoder: {tokens} tokens", fault.message, note="it may have room for fewer")
            return
        # From which length on it is wrong is told of the shortest that is.
        wrong |= _longer(subject, found, far, None if wrong else said, tokens - _PROMPT, tokens)
        if number == 0 and steps <= _SHARE * subject.bench.left:
            # What makes room as tokens come is moved in steps alone.
            wrong |= _longer(subject, found, far, None if wrong else said, _PROMPT, tokens)
    if not wrong:
        _about_integers(subject, found, said)


def _about_integers(subject: Subject, found: Findings, said: Sentences) -> None:
    """Prompts about as long as large integers of the source, which may be how many tokens go at once."""
    known = sorted(subject.bench.integers, key=lambda one: -one.doubt)
    for value in [*dict.fromkeys(one.value for one in known if _PIECE[0] < one.value <= _PIECE[1])][:_MANY]:
        if subject.bench.left < _PIECES_LEFT * subject.bench.budget:
            return
        with suppress(Fault):
            make = subject.maker(max_len=value + 2 * _BEYOND)
            if _longer(subject, found, make, said, value - _BEYOND, value + _BEYOND):
                return


def _longer(
    subject: Subject, found: Findings, make: Maker, said: Sentences | None, prompt: int, whole: int
) -> bool:
    """Whether a prompt and steps differ from a prompt of the whole; both are numbers of tokens."""
    try:
        stepped = make(1)
        given = stepped.draw(subject.bench.rng("long", whole), whole)
        truth = make(1).prefill(given)
        out = stepped.prefill(given[:, :prompt])
        for t in range(prompt, whole):
            out = stepped.decode(given[:, t])
    except Fault as fault:
        found.note(f"decoder: {whole} tokens", fault.message, note="it may have room for fewer")
        return False
    limit, error = precision("float32").limit(0.0), relative_error(out, truth)
    if limit < error <= _LITTLE * limit:
        own = max(_of_a_last_bit(make, given, length) for length in (whole - 1, whole))
        limit = min(precision("float32").limit(own), _LITTLE * limit)
    quantity = f"decoder: prompt of {whole} against {prompt} and steps, largest relative error, float32"
    coded = _is_of_codes(stepped, error, limit)
    otherwise, note = (Verdict.WARN, _CODED) if coded else (Verdict.FAIL, "")
    if found.limit(quantity, error, limit, note=note, otherwise=otherwise, **subject.where("prefill")):
        return False
    if coded and said is not None:
        said.append(f"decoder: a prompt of {whole} differs from the same in steps by {error:.2g}: {_CODED}")
    elif said is not None:
        lengths = told_lengths(subject, int(make.sizes.get("max_len", 0)), given, limit)
        said.append(f"decoder: a prompt of {whole} differs from the same in steps by {error:.2g}{lengths}")
    return True


def _is_of_codes(decoder: Decoder, error: float, limit: float) -> bool:
    """Whether answers are as far off as codes may leave them, of a decoder that keeps some."""
    return limit < error <= CODES and holds_codes(decoder.worker, decoder.roots)


def _one(out: Array, truth: Array, where: str) -> Worst:
    return Worst(relative_error(out, truth), where)


def _rows(subject: Subject, found: Findings, make: Maker, said: Sentences) -> None:
    """Rows of a prompt before the last, where a decoder gives them."""
    decoder = make(1)
    given = decoder.draw(subject.bench.rng("rows"), 5)
    rows = decoder.prefill_rows(given)
    if rows is None:
        return
    truth = np.stack([full(make, given, 0, t + 1)[0] for t in range(5)])[None]
    error, limit = relative_error(rows[:, :-1], truth[:, :-1]), precision("float32").limit(0.0)
    quantity = (
        "decoder: rows of a prompt against prompts of their own length, largest relative error, float32"
    )
    if error <= limit:
        found.limit(quantity, error, limit)
        return
    sees_the_future(subject, found, said, quantity, error, limit, "prefill")


def _again(subject: Subject, found: Findings, make: Maker, said: Sentences) -> None:
    """A second prompt to a decoder that keeps its cache: it starts anew, or goes on after the first.

    What it mixes warns: that a decoder is made anew for every prompt can be meant.
    """
    decoder = make(1)
    if not _keeps_its_cache(subject, decoder):
        return
    given = decoder.draw(subject.bench.rng("again"), 2 * _PROMPT + 1)
    decoder.prefill(given[:, :_PROMPT])
    decoder.decode(given[:, _PROMPT])
    second = given[:, _PROMPT + 1 :]
    try:
        answer = decoder.prefill(second)
    except Fault as fault:
        found.note("decoder: a second prompt", fault.message, note="it may want a decoder of its own")
        return
    limit = precision("float32").limit(0.0)
    anew = relative_error(answer, make(1).prefill(second))
    on = relative_error(answer, make(1).prefill(given))
    quantity = "decoder: a second prompt, against the same alone or after the first, relative error, float32"
    if min(anew, on) <= limit:
        found.limit(quantity, min(anew, on), limit, note="starts anew" if anew <= limit else "goes on")
        return
    emptied, empties = emptied_by(subject), _empties_itself(subject)
    if empties:
        found.limit(quantity, min(anew, on), limit, note=f"line {empties} of it empties the cache",
                    **subject.where("prefill"))  # fmt: skip
        said.append(
            f"a second prompt, which empties the cache first, is off by {anew:.2g} from a new decoder's"
        )
        return
    if emptied:
        found.note(quantity, min(anew, on), limit=limit, note=f"{emptied} may have to be called before")
        return
    found.limit(quantity, min(anew, on), limit, otherwise=Verdict.WARN, **subject.where("prefill"))
    said.append(f"a second prompt mixes with what the first left in the cache: off by {min(anew, on):.2g}")


def _empties_itself(subject: Subject) -> int:
    """The line on which the call for a prompt empties the cache itself; 0 where it does not."""
    prefill = subject.bound["prefill"]
    own = prefill.name.rpartition(".")[2]
    with suppress(SyntaxError):
        for node in ast.walk(parsed(subject.bench.submission.read_bytes(prefill.file))):
            if isinstance(node, ast.FunctionDef) and node.name == own and node.lineno == prefill.line:
                calls = (each for each in ast.walk(node) if isinstance(each, ast.Call))
                named = ((each.lineno, getattr(each.func, "attr", "")) for each in calls)
                return next((line for line, name in named if FORGETS.fullmatch(name)), 0)
    return 0


def _emptied(subject: Subject, found: Findings, make: Maker, said: Sentences) -> None:
    """A prompt and a step after the call that empties a decoder: those of a new one, whatever came before.

    One that goes on as if nothing had been called warns: its call may be for something else.
    """
    decoder, unused = make(1), make(1)
    name = _forgets(subject, unused)
    if not name or not _keeps_its_cache(subject, decoder):
        return
    given = decoder.draw(subject.bench.rng("emptied"), 2 * _PROMPT + 2)
    second = given[:, _PROMPT + 1 :]
    first = make(1).prefill(second[:, :-1])
    quantity = f"decoder: a second prompt and a step after {name}(), against a new decoder, relative error"
    limit = precision("float32").limit(0.0)
    try:
        if not relative_error(unused.prefill(second[:, :-1]), first) <= limit:
            found.note(
                quantity, "not judged", note="it changes what was fed nothing: it is for something else"
            )
            return
        decoder.prefill(given[:, :_PROMPT])
        decoder.decode(given[:, _PROMPT])
        _call(decoder, name)
        decoder.forget()
        answers = [decoder.prefill(second[:, :-1]), decoder.decode(second[:, -1])]
    except Fault as fault:
        found.note(quantity, fault.message, note="it may have to be called otherwise")
        return
    truths = (first, make(1).prefill(second))
    anew = max(relative_error(answer, truth) for answer, truth in zip(answers, truths, strict=True))
    on = relative_error(answers[0], make(1).prefill(given[:, :-1]))
    goes_on = anew > limit >= on
    otherwise = Verdict.WARN if goes_on else Verdict.FAIL
    note = "it goes on after the first" if goes_on else ""
    if not found.limit(quantity, anew, limit, otherwise=otherwise, note=note, **subject.where("prefill")):
        told = "goes on after the first" if goes_on else f"is off that of a new decoder by {anew:.2g}"
        why = "" if goes_on else _kept_after(subject, name, given[:, : _PROMPT + 1], second)
        said.append(f"after {name}() a second prompt {told}{why}")


def _kept_after(subject: Subject, name: str, first: Array, second: Array) -> str:
    """What a decoder that was emptied stores otherwise than a new one, as the end of a sentence."""

    def feed(decoder: Decoder) -> None:
        decoder.prefill(first[:, :-1])
        decoder.decode(first[:, -1])
        _call(decoder, name)
        decoder.forget()
        decoder.prefill(second[:, :-1])
        decoder.decode(second[:, -1])

    told = stored(subject, feed, second)
    return f": {told}" if told else ""


def _forgets(subject: Subject, decoder: Decoder) -> str:
    """The call that empties a decoder, which it then is; empty where there is none."""
    for name in filter(FORGETS.fullmatch, subject.defined(subject.bound["prefill"])):
        # a cache in the same file may have others
        with suppress(Fault):
            return _call(decoder, name)
    return ""


def _call(decoder: Decoder, name: str) -> str:
    if decoder.model is None:
        return ""
    decoder.worker.call(decoder.model, method=name)
    return name


def _keeps_its_cache(subject: Subject, decoder: Decoder) -> bool:
    """Whether nobody hands a cache over."""
    handed = any(carries(subject.bound[role]) for role in ("prefill", "decode"))
    return decoder.state is None and decoder.joined is None and not handed


def _foretold(subject: Subject, found: Findings, said: Sentences) -> None:
    """The scale of its scores: agreement with itself cannot show a wrong one, a foretold step can."""
    told = foretell(subject)
    quantity = (
        "decoder: a step foretold from its weights and its cache, scores scaled by 1/√D, relative error"
    )
    if told.why:
        found.note(quantity, f"not established: {told.why}",
                   note="its agreement with itself cannot show a wrong scale")  # fmt: skip
        return
    if told.right:
        found.limit(quantity, told.error, SAME, note="another scale foretells another step",
                    **subject.where("decode"))  # fmt: skip
        return
    found.claim(
        quantity, False, measured=told.error, limit=SAME, note=f"foretold exactly where {told.wrong}",
        **subject.where("decode"),
    )  # fmt: skip
    said.instead(Topic.AGREES, f"decoder: {told.wrong} (it agrees with itself all the same)")


def emptied_by(subject: Subject) -> str:
    """A method of the decoder's file that seems to empty its cache."""
    names = subject.defined(subject.bound["prefill"])
    return next((name for name in names if _EMPTIES.search(name)), "")


def _past(subject: Subject, found: Findings, make: Maker, said: Sentences) -> None:
    """Another first token must change the last step, unless a window slides; else agreement means nothing."""
    drawing = make(1)
    given = drawing.draw(subject.bench.rng("past"), _PROMPT + 1)
    other = given.copy()
    ids = given.dtype.kind == "i"
    other[:, 0] = (given[:, 0] + 1) % drawing.sizes.vocab if ids else given[:, 0] + 1.0
    answers = []
    for tokens in (given, other):
        decoder: Decoder = make(1)
        decoder.prefill(tokens[:, :_PROMPT])
        answers.append(decoder.decode(tokens[:, _PROMPT]))
    if same_bits(*answers):
        judge_reach(subject, found, said, make, "decoder")
        return
    found.claim(
        "decoder: a changed first token changes the last step", True,
        measured="changes", limit="changes", **subject.where("decode"),
    )  # fmt: skip
