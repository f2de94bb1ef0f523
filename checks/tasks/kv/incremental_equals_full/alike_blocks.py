"""Prompts whose blocks of tokens a decoder may take for those of an earlier prompt, though they are others.

Whoever gives the blocks of one prompt to another that begins alike goes by a key of them. It has to tell all
that stands in front of a block, too, and tokens from others of the same sum, or of the same hash.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult, Raised, Skipped
from judge_tui.checks.tasks.kv.faces.maker import Maker
from judge_tui.checks.tasks.kv.faces.sequence_handles import hands_out, tells_sequences
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.sentences import Sentences
from judge_tui.checks.tasks.kv.words.sizes import BLOCK
from judge_tui.checks.tolerance import relative_error

__all__ = ["judge"]

#: What code that keeps blocks for later prompts speaks of; blocks that it may have where it is told of none.
_SPEAKS = re.compile(r"(?i)prefix|hash|digest|radix|trie|crc32|reus")
_BLOCKS = (BLOCK, 8, 16, 32)
#: Room of a sequence, ids, tokens that a prompt has behind its blocks, and how far off an answer is at most.
_ROOM, _VOCAB, _TAIL, _ROUNDED = 76, 300, 2, 1e-3
#: The share of the check's budget that must be left to begin, and the seconds that it goes on.
_LEFT, _SECONDS = 0.5, 12.0
#: Blocks of prompts by letters, each prompt while those before it are there.
_PLACES = (
    ("the blocks of an earlier prompt", ("ab", "ab")),
    ("the block of an earlier prompt behind another block", ("ab", "cb")),
    ("the block of an earlier prompt at another place", ("ab", "b")),
    ("the blocks of an earlier prompt in another order", ("ab", "ba")),
    ("the first block of one and the second of another", ("ab", "cd", "ad")),
    ("the same block twice", ("ab", "aab")),
)
#: Ends of two blocks that are alike otherwise.
_WEAK = (
    ("tokens in another order", (1, 2, 3), (2, 3, 1)),
    ("sum of tokens", (1, 2), (3, 0)),
    ("exclusive or of tokens", (1, 2), (4, 7)),
    ("first and last token", (1, 2, 3), (1, 4, 3)),
    ("last token", (2, 3), (4, 3)),
    ("digits", (1, 23), (12, 3)),
    ("last 8 bits of each token", (1, 2), (257, 2)),
)
_OTHER, _NOT_COMPARED = "a block of other tokens than an earlier one's", "not all tokens are compared"
_BEHIND_OTHERS = ": a block is told by its own tokens, and not by those in front of it"
#: Bases of a hash, beside those that the source names, and how many of these there are at most.
_BASES, _NAMED = (31, 33, 37, 131, 257), 12


@dataclass(frozen=True, slots=True)
class _Case:
    """Prompts whose blocks have something in common.

    Attributes:
        words: What, for a sentence.
        prompts: The tokens of each but for its last.
        why: What is wrong where a later one is answered wrongly.
    """

    words: str
    prompts: Sequence[Sequence[int]]
    why: str


def judge(subject: Subject, found: Findings, said: Sentences) -> None:
    """Hand one decoder prompts whose blocks are alike, where those that are not are answered rightly.

    Args:
        subject: The submission's decoder.
        found: Gathers the evidence.
        said: What is wrong is added.
    """
    bench, prefill = subject.bench, subject.bound["prefill"]
    handed = prefill.on == "cache" or prefill.takes("cache") or prefill.takes("cache_k")
    if handed or bench.left < _LEFT * bench.budget:
        return
    with suppress(Raised, BadResult, Skipped):
        sizes: dict[str, Any] = {"vocab": _VOCAB} if _keeps_blocks(subject) else {}
        make = subject.maker(max_len=_ROOM, **sizes)
        if make(1).takes != "tokens" or not _off(subject, make, [[1] * 7, [2] * 6]) <= _ROUNDED:
            return
        cases, began = 0, time.perf_counter()
        for alike in _cases(subject, int(make.sizes["vocab"])):
            if time.perf_counter() - began > _SECONDS:
                break
            errors = [_tried(subject, make, case) for case in alike]
            pairs = zip(alike, errors, strict=True)
            wrong = [(case, error) for case, error in pairs if not error <= _ROUNDED]
            if wrong:
                # what is alike in less comes last, and is alike in what comes before it
                (case, error), every = wrong[-1], len(wrong) == len(alike) > 1
                words, why = (_OTHER, f": {_NOT_COMPARED}") if every else (case.words, case.why)
                found.limit(f"decoder: a prompt with {words}: its answer against a new decoder's", error,
                            _ROUNDED, **subject.where("prefill"))  # fmt: skip
                said.append(f"a prompt with {words} is off by {error:.2g} from a new decoder's{why}")
                return
            cases += len(alike)
        found.note("decoder: prompts whose blocks are alike, answered as by a new decoder", cases)


def _tried(subject: Subject, make: Maker, case: _Case) -> float:
    """The largest error of a case; 0 where it does not go."""
    with suppress(Raised, BadResult, Skipped):
        return _off(subject, make, case.prompts)
    return 0.0


def _cases(subject: Subject, vocab: int) -> Iterator[list[_Case]]:
    """All that there are room and ids for; those are together that may be wrong for one reason."""
    told, keeps = _told_blocks(subject), _keeps_blocks(subject)
    named = {one.value for one in subject.bench.integers if 2 < one.value < _VOCAB - 9}
    bases = dict.fromkeys((*_BASES, *sorted(named)[:_NAMED]))
    hashes = [
        *((f"hash h · {base} + token", (7, base + 9), (8, 9)) for base in bases),
        *((f"sum of tokens times powers of {base}", (9, 8), (base + 9, 7)) for base in bases),
    ]
    for size in (BLOCK,) if told or not keeps else _BLOCKS:
        for words, letters in _PLACES:
            why = _BEHIND_OTHERS if letters[0] != letters[1] else ""
            prompts = [[_id(letter, n) for letter in each for n in range(size)] for each in letters]
            if max(map(len, prompts)) + _TAIL + 2 <= _ROOM and max(map(max, prompts)) < vocab:
                yield [_Case(f"{words} ({size} tokens each)", prompts, why)]
        for group in (_WEAK, *([one] for one in hashes if keeps)):
            yield [_weak(size, *one) for one in group if max(*one[1], *one[2]) < vocab]


def _told_blocks(subject: Subject) -> bool:
    return any(binding.takes("block_size") for binding in subject.bound.values())


def _keeps_blocks(subject: Subject) -> bool:
    """Whether it is told how many tokens a block has, or its text speaks of what prompts have in common."""
    texts = map(subject.bench.submission.read_text, subject.bench.worker.loaded)
    return _told_blocks(subject) or any(map(_SPEAKS.search, texts))


def _weak(size: int, words: str, one: Sequence[int], other: Sequence[int]) -> _Case:
    """A block of a prompt and one of a later prompt that have no more than this in common."""
    both = [[*[5] * (size - len(end)), *end] for end in (one, other)]
    alike = f"a block of {size} tokens that has the {words} of an earlier one's ({[*other]} for {[*one]})"
    return _Case(alike, both, f": blocks are told apart by their {words} alone, {_NOT_COMPARED}")


def _id(letter: str, n: int) -> int:
    """Ids of a block in an order that no other has."""
    return (3 + 7 * "abcd".index(letter) + 5 * n + n * n) % 29


def _off(subject: Subject, make: Maker, prompts: Sequence[Sequence[int]]) -> float:
    """The largest error of prompts in one decoder, and of steps behind each, against new decoders."""
    one = make(1)
    apart = hands_out(subject.bound) or tells_sequences(subject.bound["decode"])
    worst, alive = 0.0, []
    for number, prompt in enumerate(prompts, 1):
        decoder = one.beside(number) if apart else one
        tokens = [*prompt, *(20 + number for _more in range(_TAIL))]
        pairs = [(decoder.prefill(np.array([tokens])), make(1).prefill(np.array([tokens])))]
        if apart:
            alive.append((decoder, [*tokens]))
        else:
            tokens.append(number)
            pairs.append((decoder.decode(np.array([number])), make(1).prefill(np.array([tokens]))))
            decoder.forget()
        worst = max([worst, *(float(relative_error(got, truth)) for got, truth in pairs)])
    for decoder, tokens in alive:
        got = decoder.decode(np.array([9]))
        worst = max(worst, float(relative_error(got, make(1).prefill(np.array([[*tokens, 9]])))))
    return worst
