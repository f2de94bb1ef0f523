"""Sequences that come and go in one decoder, some alive at once, many that begin alike.

Whoever keeps what a sequence computed, for a later one that begins alike, has to know what is kept of whom,
also once its room has gone to others.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.calling.remote import Handle
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult, Raised, Skipped
from judge_tui.checks.tasks.kv.faces.answers import carries
from judge_tui.checks.tasks.kv.faces.decoding import Decoder
from judge_tui.checks.tasks.kv.faces.maker import Maker
from judge_tui.checks.tasks.kv.faces.sequence_handles import hands_out, tells_sequences
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.sentences import Sentences
from judge_tui.checks.tolerance import relative_error

__all__ = ["judge"]

Array = npt.NDArray[np.int64]
#: How a method is called by which a sequence goes.
_GOES = re.compile(
    r"(?i)^(free|release|remove|delete|drop|finish|deallocate|end|close|retire|leave)"
    r"(_?(seq\w*|request|slot|row|stream|session|user|handle|state))?$"
)
#: Turns, sequences alive at most, texts that others begin with and their tokens, and tokens behind these.
_TURNS, _ALIVE, _BEGINNINGS, _LONG, _MORE = 150, 4, 3, 24, 9
#: How far off an answer is at most that is summed up in another order.
_ROUNDED = 1e-3
#: The share of the check's budget that must be left to begin, and to go on.
_LEFT, _GOES_ON = 0.5, 0.25


@dataclass(slots=True)
class _Alive:
    """A sequence that has not gone.

    Attributes:
        decoder: The decoder, as far as it is about this sequence.
        number: What the sequence is called where the submission does not say.
        tokens: What was fed.
    """

    decoder: Decoder
    number: int
    tokens: list[int] = field(default_factory=list)


def judge(subject: Subject, found: Findings, said: Sentences) -> None:
    """Let sequences come, take steps and go, in an order that is drawn; the first wrong answer ends it.

    Args:
        subject: The submission's decoder; its prompts give what its steps take, and what goes in the end.
        found: Gathers the evidence.
        said: What is wrong is added.
    """
    bench, leaving = subject.bench, _leaving(subject)
    if not (leaving and _keeps_apart(subject)) or bench.left < _LEFT * bench.budget:
        return
    with suppress(Raised, BadResult, Skipped):
        make = subject.maker()
        if make(1).takes == "tokens":
            _Played(subject, make, leaving).judge(found, said)


def _keeps_apart(subject: Subject) -> bool:
    """Whether steps are told of their sequence: by a name, or by all that is kept of it."""
    told = subject.bound["prefill"].takes("sequence") and tells_sequences(subject.bound["decode"])
    return told or hands_out(subject.bound) or _gives_caches(subject)


def _gives_caches(subject: Subject) -> bool:
    prefill, decode = subject.bound["prefill"], subject.bound["decode"]
    return carries(decode) and not carries(prefill) and not {"state", "states"} & set(subject.bound)


def _leaving(subject: Subject) -> str:
    """The method by which a sequence goes that a prompt has begun; empty where there is none.

    It is one of the model, which is handed the sequence, or of the sequence itself.
    """
    own = _of_its_own(subject)
    call = subject.bound["decode" if own else "prefill"]
    owner = call.name.rpartition(".")[0]
    classes = subject.bench.worker.loaded.get(call.file, {}).get("classes", ())
    methods = next((each["methods"] for each in classes if each["name"] == owner), ())
    named = (method for method in methods if _GOES.match(method["name"]))
    return next((str(method["name"]) for method in named if _needed(method["params"]) == 1 - own), "")


def _of_its_own(subject: Subject) -> bool:
    """Whether a sequence is an object whose methods take its steps."""
    return subject.bound["decode"].on == "cache"


def _needed(params: Sequence[Mapping[str, Any]] | None) -> int:
    return sum("default" not in param and param["name"] != "self" for param in params or ())


class _Played:
    """A game of sequences in one decoder.

    Args:
        subject: The submission's decoder.
        make: Makes it.
        leaving: The method by which a sequence goes.
    """

    def __init__(self, subject: Subject, make: Maker, leaving: str) -> None:
        self.subject, self.make, self.leaving = subject, make, leaving
        self.rng = subject.bench.rng("coming and going")
        self.one = make(1)
        self.vocab = self.one.sizes.vocab
        self.beginnings = self.rng.integers(0, self.vocab, (_BEGINNINGS, _LONG)).tolist()
        self.alive: list[_Alive] = []
        self.gone: list[list[int]] = []
        self.right = 0

    def judge(self, found: Findings, said: Sentences) -> None:
        """Play it."""
        worst = 0.0
        for what, tokens, answer in self._answers():
            error = relative_error(answer, self.make(1).prefill(np.array([tokens])))
            if error <= _ROUNDED:
                worst, self.right = max(worst, error), self.right + 1
                continue
            if not self.right:
                # nothing shows that it is called as it is meant to be
                return
            quantity = "decoder: sequences come and go, some alive at once: answers against a new decoder's"
            found.limit(quantity, error, _ROUNDED, note=what, **self.subject.where("prefill"))
            off = f"is off by {error:.2g} from a new decoder's, after {self.right} right answers"
            said.append(f"of sequences that come and go in one decoder {what} {off}")
            return
        found.note("decoder: answers to sequences that come and go", self.right, limit=self.right,
                   note=f"within {worst:.1e} of a new decoder's")  # fmt: skip

    def _answers(self) -> Iterator[tuple[str, list[int], npt.NDArray[np.float64]]]:
        """What was asked, all tokens of its sequence, and the answer."""
        bench = self.subject.bench
        for _turn in range(_TURNS):
            if bench.left < _GOES_ON * bench.budget:
                return
            choice = self.rng.integers(0, 4)
            if self.alive and (choice == 0 or len(self.alive) == _ALIVE):
                self._let_go(int(self.rng.integers(len(self.alive))))
            elif self.alive and choice == 1:
                each = self.alive[int(self.rng.integers(len(self.alive)))]
                token = int(self.rng.integers(self.vocab))
                answer = each.decoder.decode(np.array([token]))
                each.tokens.append(token)
                yield f"a step at {len(each.tokens)} tokens", each.tokens, answer
            else:
                tokens = self._drawn()
                what = self._told(tokens)
                yield what, tokens, self._begun(tokens)

    def _drawn(self) -> list[int]:
        """A prompt: a part of one of a few beginnings, or of another sequence, and tokens of its own."""
        others = [*(each.tokens for each in self.alive), *self.gone[-_ALIVE:]]
        texts = others if others and self.rng.integers(0, 2) else self.beginnings
        text = texts[int(self.rng.integers(len(texts)))][:_LONG]
        common, more = int(self.rng.integers(0, len(text) + 1)), int(self.rng.integers(1, _MORE))
        return [*text[:common], *self.rng.integers(0, self.vocab, more).tolist()]

    def _told(self, tokens: list[int]) -> str:
        """A prompt, and what it has in common with others."""
        here = max((_common(tokens, each.tokens) for each in self.alive), default=0)
        gone = max((_common(tokens, each) for each in self.gone), default=0)
        whose = "one that is alive" if here >= gone else "one that has gone"
        return f"a prompt of {len(tokens)} tokens, {max(here, gone)} of them as in {whose},"

    def _begun(self, tokens: list[int]) -> npt.NDArray[np.float64]:
        """The answer to a prompt; where there is no room for it, once others have gone."""
        while True:
            number = next(n for n in itertools.count(1) if n not in {each.number for each in self.alive})
            try:
                decoder = self.one.beside(number)
                answer = decoder.prefill(np.array([tokens]))
            except Raised:
                if not self.alive:
                    raise
                self._let_go(0)
                continue
            self.alive.append(_Alive(decoder, number, list(tokens)))
            return answer

    def _let_go(self, at: int) -> None:
        each = self.alive.pop(at)
        self.gone.append(each.tokens)
        if _of_its_own(self.subject):
            assert isinstance(each.decoder.state, Handle)
            self.one.worker.call(each.decoder.state, method=self.leaving)
            return
        assert self.one.model is not None
        handle = each.decoder.state if _gives_caches(self.subject) else each.decoder.sequences[0]
        self.one.worker.call(self.one.model, [handle], method=self.leaving)


def _common(one: list[int], two: list[int]) -> int:
    """How many tokens two texts begin with alike."""
    pairs = zip(one, two, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(two)))
