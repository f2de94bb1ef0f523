"""Several sequences in one decoder that keeps them apart: each against the same tokens alone."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult, Raised
from judge_tui.checks.tasks.kv.faces.decoding import Decoder
from judge_tui.checks.tasks.kv.faces.lone import KEYED
from judge_tui.checks.tasks.kv.faces.maker import Maker
from judge_tui.checks.tasks.kv.faces.sequence_handles import tells_sequences
from judge_tui.checks.tasks.kv.incremental_equals_full.beside_others import beside_words
from judge_tui.checks.tasks.kv.incremental_equals_full.decoder_steps import full
from judge_tui.checks.tasks.kv.limits import Worst, precision
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.sentences import Sentences
from judge_tui.checks.tolerance import relative_error

__all__ = ["judge"]

Array = npt.NDArray[np.float64]
_LENGTHS = (1, 5, 12, 3)
_STEPS = 3
#: The share of the budget that must be left for looking closer.
_LEFT = 0.3
#: Tokens of the longest in the end.
_MOST = max(_LENGTHS) + _STEPS + 2
#: Under which names the tokens of a step of several sequences may be handed over.
_FORMS = (("token", "tokens", "ids"), ("vector", "x", "rows"))


class Sequences:
    """Sequences that one decoder keeps apart, in one cache that has room for them.

    Args:
        make: Makes the decoder.
        found: Role → binding.
        count: How many.
    """

    def __init__(self, make: Maker, bound: Mapping[str, Binding], count: int) -> None:
        decoder = make(count, bound)
        decoder.sizes, decoder.counts = replace(decoder.sizes, batch=1), np.zeros(1, np.int64)
        self.each = [decoder, *(decoder.beside(number) for number in range(1, count))]

    def prefill(self, b: int, prompt: Array) -> Array:
        """Feed the prompt, (1, T) or (1, T, E), of one sequence; (1, W)."""
        answer = self.each[b].prefill(prompt)
        self._share(self.each[b])
        return answer

    def step(self, new: Array, going: Sequence[int]) -> Array:
        """Feed one token, (n,) or (n, E), of each sequence that goes on; (n, W)."""
        chosen = [self.each[b] for b in going]
        if not _at_once(chosen[0].bound["decode"]):
            rows = []
            for one, token in zip(chosen, new, strict=True):
                rows.append(one.decode(token[None]))
                self._share(one)
            return np.concatenate(rows)
        joint = copy.copy(chosen[0])
        joint.sizes = replace(joint.sizes, batch=len(chosen))
        joint.sequences = [one.sequences[0] for one in chosen]
        joint.counts = np.concatenate([one.counts for one in chosen])
        answer = joint.decode(new)
        for one, count in zip(chosen, joint.counts, strict=True):
            one.counts = np.array([count])
        self._share(joint)
        return answer

    def _share(self, used: Decoder) -> None:
        """All go on with the cache as the one that was called left it."""
        for one in self.each:
            one.state = used.state


def judge(subject: Subject, found: Findings, said: Sentences) -> bool:
    """Prompts of four lengths, steps of all, a step in which two of them rest, and one after it.

    Returns:
        Whether the decoder is told of its sequences, so that this says something about it.
    """
    if not tells_sequences(subject.bound["decode"]):
        return False
    make = subject.maker()
    try:
        subject = _in_step(subject, make)
    except (Raised, BadResult) as fault:
        found.note("several sequences in the decoder", "not judged",
                   note=f"{fault.message}: nothing shows that it takes them so")  # fmt: skip
        return True
    count, longest = len(_LENGTHS), max(_LENGTHS)
    sequences = Sequences(make, subject.bound, count)
    given = np.concatenate([make(1).draw(subject.bench.rng("together", b), _MOST) for b in range(count)])
    held = [list(range(n)) for n in _LENGTHS]
    worst = Worst()
    for b, n in enumerate(_LENGTHS):
        answer = sequences.prefill(b, given[b : b + 1, :n])
        worst = worst.or_worse(_compared(make, given, held, answer, [b]))
    rest = [0, 2]
    for t in range(longest, _MOST):
        going = rest if t == longest + _STEPS else list(range(count))
        answer = sequences.step(given[going, t], going)
        for b in going:
            held[b].append(t)
        worst = worst.or_worse(_compared(make, given, held, answer, going))
    limit = precision("float32").limit(0.0)
    found.limit(
        f"decoder, sequences of {', '.join(map(str, _LENGTHS))} tokens in one cache: prompts, "
        f"{_STEPS} steps, one in which two rest and one after it, largest relative error per row, float32",
        worst.error, limit, note=worst.note, **subject.where("decode"),
    )  # fmt: skip
    if worst.wrong(limit):
        off = f"is {worst.error:.2g} off the same alone ({worst.where})"
        said.append(f"decoder: a sequence beside others {off}{_why(subject, make, limit)}")
    else:
        said.append(f"decoder: every sequence within {worst.error:.1e} of the same alone (limit {limit:.0e})")
    return True


def _why(subject: Subject, make: Maker, limit: float) -> str:
    """Beside which others a step of two is wrong, as the end of a sentence."""
    if subject.bench.left < _LEFT * subject.bench.budget:
        return ""
    rng = subject.bench.rng("beside others")

    def run(tokens: Sequence[Array]) -> Array:
        sequences, steps = Sequences(make, subject.bound, len(tokens)), 2
        for b, one in enumerate(tokens):
            sequences.prefill(b, one[:, :-steps])
        for back in range(steps, 0, -1):
            answer = sequences.step(np.concatenate([one[:, -back] for one in tokens]), range(len(tokens)))
        return answer

    def right(answer: Array, tokens: Array) -> bool:
        return relative_error(answer, full(make, tokens, 0, tokens.shape[1])) <= limit

    return beside_words(run, lambda count: make(1).draw(rng, count), right)


def _at_once(decode: Binding) -> bool:
    """Whether a step takes tokens of several sequences."""
    return any(decode.takes(name) for name in ("sequences", *KEYED))


def _in_step(subject: Subject, make: Maker) -> Subject:
    """The subject with its step as several sequences of one length take it: in a column, a row, or lists.

    Which of them it is does not show where a step goes on with a single one, nor whether there is room.

    Raises:
        Fault: It takes them in none of these forms.
    """
    decode, refused = subject.bound["decode"], None
    for form in _forms(decode):
        bound = {**subject.bound, "decode": form}
        try:
            if _in_line(make, bound):
                return Subject(subject.bench, bound)
        except (Raised, BadResult) as fault:
            refused = refused or fault
    if refused is not None:
        raise refused
    return subject


def _forms(decode: Binding) -> list[Binding]:
    """The step as it is bound, then with its tokens in other forms."""
    own = {argument.source for argument in decode.args}
    others = [(name, other) for names in _FORMS for name in names if name in own for other in names]
    changed = [
        replace(decode, args=tuple(replace(a, source=other) if a.source == name else a for a in decode.args))
        for name, other in others
        if other != name and _at_once(decode)
    ]
    return [decode, *changed]


def _in_line(make: Maker, bound: Mapping[str, Binding]) -> bool:
    """Whether a step of sequences that are equally long comes out right, with as many tokens as ever."""
    count = len(_LENGTHS)
    sequences = Sequences(make, bound, count)
    given = np.concatenate([make(1).draw(np.random.default_rng(24 + b), _MOST) for b in range(count)])
    for b in range(count):
        sequences.prefill(b, given[b : b + 1, :-1])
    answer = sequences.step(given[:, -1], list(range(count)))
    worst = _compared(make, given, [list(range(_MOST))] * count, answer, list(range(count)))
    return not worst.wrong(precision("float32").limit(0.0))


def _compared(make: Maker, given: Array, held: list[list[int]], answer: Array, going: Sequence[int]) -> Worst:
    worst = Worst()
    for row, b in enumerate(going):
        truth = full(make, given[b : b + 1, held[b]], 0, len(held[b]))
        error = relative_error(answer[row : row + 1], truth)
        worst = worst.or_worse(Worst(error, f"sequence {b} at length {len(held[b])}"))
    return worst
