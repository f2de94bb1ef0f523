"""Whether the prompts of a batch are searched as if each were alone."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.check import Findings, check
from judge_tui.checks.faults import BadResult, Fault, Raised
from judge_tui.checks.sizes import Sizes
from judge_tui.checks.tasks.beam_search.batch_lengths import length_of_the_batch
from judge_tui.checks.tasks.beam_search.mixing import mixed_up
from judge_tui.checks.tasks.beam_search.oracle import beam_search
from judge_tui.checks.tasks.beam_search.reading import Beam
from judge_tui.checks.tasks.beam_search.scripts import Script, Tokens, distinct, hashed
from judge_tui.checks.tasks.beam_search.searching import NARROW, Answer, Search, written
from judge_tui.checks.tasks.beam_search.stopping import behind
from judge_tui.checks.verdict import Verdict

__all__ = ["batch_independence"]

_ROUNDING = 1e-9
#: Alpha, and what is added to the logit of EOS, per batch.
_DRAWS = ((0.0, -1.0), (0.0, 1.2), (0.6, 1.2), (0.6, 2.5))
#: Alpha per batch of prompts that begin alike.
_NESTED = (0.0, 0.6)
#: K of a search that may stop while a beam that is behind can still win, and the words for it.
_STOPPING, _STOPS = 2, "its search may stop early"
#: One of so many comparisons at most differs where prompts do not mix but wait for each other.
_FEW = 5
#: Prompts whose scores are not their tokens' of which the cause is looked for.
_ASKED = 4


@dataclass(frozen=True, slots=True)
class _Batch:
    """Sizes of a search.

    Attributes:
        vocab: V.
        width: K.
        steps: Most new tokens.
        lengths: Of the prompts: unequal, the longest not last, two of them equal; or of many.
    """

    vocab: int
    width: int
    steps: int
    lengths: tuple[int, ...]

    @classmethod
    def drawn(cls, sizes: Sizes, *, many: bool = False) -> _Batch:
        """One of a few prompts, or of many."""
        vocab, width, steps = sizes.shape((17, 40), (2, 4), (4, 6))
        length = sizes.between(2, 4)
        lengths: tuple[int, ...] = (length, length + sizes.between(1, 4), 1, length)
        if many:
            lengths += tuple(sizes.between(1, 9) for _ in range(sizes.between(3, 14)))
        return cls(vocab, width, steps, lengths)


@dataclass(frozen=True, slots=True)
class _Unexplained:
    """A prompt none of whose beams has the score that its tokens have after that prompt.

    Attributes:
        told: That, as a clause.
        answer: Of the search.
        number: Of the prompt.
        steps: Most new tokens of the search.
    """

    told: str
    answer: Answer
    number: int
    steps: int


@dataclass(slots=True)
class _Seen:
    """Differences between answers that should be one."""

    tokens: list[str] = field(default_factory=list)
    error: float = 0.0
    compared: int = 0
    unexplained: list[_Unexplained] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    tried: list[tuple[Answer, Sequence[Sequence[Beam]]]] = field(default_factory=list)

    @property
    def told(self) -> str:
        """The first difference; the last, which says why, where few differ: those that mix differ in most."""
        if not self.tokens:
            return ""
        few = _FEW * len(self.tokens) <= self.compared
        return self.tokens[-1 if few and _STOPS in self.tokens[-1] else 0]

    def compare(self, what: str, one: Sequence[Beam], other: Sequence[Beam], eos: int) -> None:
        """Compare two answers for one prompt."""
        self.compared += 1
        if [b.tokens for b in one] != [b.tokens for b in other]:
            pairs = itertools.zip_longest(one, other)
            first = next((a, b) for a, b in pairs if a is None or b is None or a.tokens != b.tokens)
            told = ["no beam" if b is None else written(b.tokens, eos) for b in first]
            self.tokens.append(f"{what}: {told[0]} becomes {told[1]}")
            return
        for a, b in zip(one, other, strict=True):
            if a.score is not None and b.score is not None and a.score != b.score:
                gap = abs(a.score - b.score)
                self.error = max(self.error, gap if gap == gap else float("inf"))


@check(
    "batch_independence",
    "prompts do not mix",
    establishes="Every prompt of a batch gets what it gets alone, in any order and whatever the others are, "
    "from a model that depends on the whole prefix.",
    roles=("search",),
    version=6,
)
def batch_independence(bench: Bench, found: Findings) -> str:
    """Compare a batch with solo runs (in another process), permuted, a neighbour changed, prompts nested."""
    search = Search(bench)
    if search.alone:
        found.note("prompts a call", 1, note="A batch is as many calls, one after another.", **search.where)
    seen = _Seen()
    try:
        _searched(bench, search, seen)
    except (Raised, BadResult) as fault:
        if not (why := _why(bench, search, seen, broken=True)):
            raise
        found.claim(
            "every batch is answered", False, measured=fault.message, note=why, file=fault.file,
            line=fault.line, output=fault.output,
        )  # fmt: skip
        return f"{why}: {fault.placed}"
    doubted = [] if seen.tokens else seen.unexplained[:_ASKED]
    mixed = [told for one in doubted if (told := _mixed(bench, search, one))]
    told = _told(search, found, seen, mixed)
    return f"{why}: {told}" if (why := _why(bench, search, seen)) else told


def _searched(bench: Bench, search: Search, seen: _Seen) -> None:
    with bench.fresh() as alone:
        for index, (alpha, bias) in enumerate(_DRAWS):
            rng, batch = bench.rng("draw", index), _Batch.drawn(bench.sizes("draw", index), many=index == 0)
            script = hashed(rng, batch.vocab, int(rng.integers(batch.vocab)), bias=bias)
            _tried(search, seen, script, batch, _prompts(rng, script, batch, index), alpha, rng, alone)
        for index, alpha in enumerate(_NESTED):
            batch = _Batch.drawn(bench.sizes("nested", index))
            _nested(search, seen, batch, bench.rng("nested", index), alpha, alone)
        _outlasted(search, seen, bench.rng("outlasted"), alone)


def _why(bench: Bench, search: Search, seen: _Seen, *, broken: bool = False) -> str:
    """What explains that a batch gets something else; empty where nothing does, or nothing is to explain."""
    if not broken and not seen.tokens and seen.error <= _ROUNDING:
        return ""
    try:
        return length_of_the_batch(bench, search) or mixed_up(bench, search, seen.tried)
    except Fault:
        return ""


def _mixed(bench: Bench, search: Search, one: _Unexplained) -> str:
    """Why scores that are not their tokens' come of other prompts; empty where they are wrong by themselves.

    A process of its own has met no other prompt: what the same prompt gets there is its own. And it hangs
    on all of the prompt, since the model does.
    """
    answer, prompt = one.answer, one.answer.prompts[one.number]

    def alone(asked: Tokens) -> Sequence[Beam]:
        with bench.fresh() as worker:
            made = search(answer.script, [asked], answer.width, one.steps, answer.alpha, worker=worker)
        return made.beams[0]

    def other(token: int) -> int:
        after = (token + 1) % vocab
        return after if after != answer.script.eos else (after + 1) % vocab

    vocab = int(answer.script.spec["vocab_size"])
    own = alone(prompt)
    if own != answer.beams[one.number]:
        return one.told
    for place in sorted({0, len(prompt) // 2, len(prompt) - 1}):
        changed = (*prompt[:place], other(prompt[place]), *prompt[place + 1 :])
        if own and alone(changed) == own:
            return f"{one.told}, and another prompt gets the same"
    return ""


def _tried(
    search: Search,
    seen: _Seen,
    script: Script,
    batch: _Batch,
    prompts: list[Tokens],
    alpha: float,
    rng: np.random.Generator,
    alone: Worker,
) -> None:
    width, steps = batch.width, batch.steps
    together = search(script, prompts, width, steps, alpha)
    made = together.counters.get("model_calls", "?")
    seen.calls.append(f"{made} for {len(prompts)} prompts, K = {width}, {steps} steps")
    solos = [search(script, [prompt], width, steps, alpha, worker=alone).beams[0] for prompt in prompts]
    seen.tried.append((together, solos))
    for number, solo in enumerate(solos):
        seen.compare(f"prompt {number} alone, then in a batch", solo, together.beams[number], script.eos)
    _permuted(search, seen, batch, together, alpha, rng.permutation(len(prompts)).tolist())
    changed = [prompts[0], tuple(distinct(rng, batch.vocab, 9, but=(script.eos,))), *prompts[2:]]
    other = search(script, changed, width, steps, alpha)
    for number in (0, 2, 3):
        what = f"prompt {number} after prompt 1 was changed"
        seen.compare(what, together.beams[number], other.beams[number], script.eos)
    if alpha == 0.0:
        seen.unexplained += [
            *_unexplained(search, together, steps),
            *_unexplained(search, other, steps),
        ]
    if alpha == 0.0 and not search.binding.patch:
        again = search(hashed(rng, batch.vocab, script.eos), prompts, width, steps, alpha)
        others = _unexplained(search, again, steps)
        seen.unexplained += [replace(one, told=f"with a second model, {one.told}") for one in others]


def _nested(
    search: Search, seen: _Seen, batch: _Batch, rng: np.random.Generator, alpha: float, alone: Worker
) -> None:
    """Prompts of which one goes on as the search of another does: what they share is the prefix alone."""
    width, steps = batch.width, batch.steps
    script = hashed(rng, batch.vocab, int(rng.integers(batch.vocab)), bias=-1.0)
    root: Tokens = tuple(distinct(rng, batch.vocab, 2, but=(script.eos,)))
    best = beam_search(script.rows, root, width, steps, 0.0, script.eos).hyps[0].tokens
    path = [token for token in best if token != script.eos]
    prompts = [root, (*root, *path[:1]), (*root, *path[:2]), root]
    solo = [search(script, [prompt], width, steps, alpha, worker=alone) for prompt in prompts[:3]]
    for order in ([0, 1, 2, 3], [2, 1, 3, 0]):
        together = search(script, [prompts[i] for i in order], width, steps, alpha)
        for place, number in enumerate(order):
            what = f"prompt {number} alone, then beside prompts that go on from it"
            seen.compare(what, solo[number % 3].beams[0], together.beams[place], script.eos)


def _outlasted(search: Search, seen: _Seen, rng: np.random.Generator, alone: Worker) -> None:
    """A prompt whose search may stop early, beside one that goes on to the end: it stops as it does alone."""
    script, prompt, steps, alpha = next(behind(rng))
    vocab = int(script.spec["default"].size)
    other = tuple(distinct(rng, vocab, 3, but=(script.eos, *prompt)))
    solo = search(script, [prompt], _STOPPING, steps, alpha, worker=alone)
    for place, prompts in enumerate(([prompt, other], [other, prompt])):
        together = search(script, prompts, _STOPPING, steps, alpha)
        what = f"prompt {place} alone, where {_STOPS}, then beside one that goes on longer"
        seen.compare(what, solo.beams[0], together.beams[place], script.eos)


def _prompts(rng: np.random.Generator, script: Script, batch: _Batch, index: int) -> list[Tokens]:
    """Prompts of unequal lengths; in later draws all beams of one end early while others go on."""
    early = {1: 0, 2: 2, 3: 0}.get(index)
    chosen: list[Tokens] = []
    for number, length in enumerate(batch.lengths):
        prompt: Tokens = ()
        for _attempt in range(300):
            prompt = tuple(distinct(rng, batch.vocab, length, but=(script.eos,)))
            truth = beam_search(script.rows, prompt, batch.width, batch.steps, 0.0, script.eos)
            longest = max(len(hyp.tokens) for hyp in truth.hyps)
            if early is None or (longest < batch.steps - 1 if number == early else longest == batch.steps):
                break
        chosen.append(prompt)
    return chosen


def _permuted(
    search: Search, seen: _Seen, batch: _Batch, together: Answer, alpha: float, order: list[int]
) -> None:
    if order == sorted(order):
        order.reverse()
    script = together.script
    mixed = search(script, [together.prompts[i] for i in order], batch.width, batch.steps, alpha)
    for place, number in enumerate(order):
        what = f"prompt {number} at place {place} of the batch"
        seen.compare(what, together.beams[number], mixed.beams[place], script.eos)


def _unexplained(search: Search, answer: Answer, steps: int) -> list[_Unexplained]:
    """Prompts none of whose beams has the score that its tokens have after that prompt."""
    found = []
    for number in range(len(answer.prompts)):
        beams = [beam for beam in answer.beams[number] if beam.tokens]
        if search.form.score is None:
            continue
        off = [abs((beam.score or 0.0) - answer.truth(beam, number)) for beam in beams]
        if not any(error <= NARROW for error in off):
            told = written(beams[0].tokens, answer.script.eos) if beams else "no beam"
            clause = (
                f"prompt {number} of {len(answer.prompts)}: no score is that of its tokens after this prompt "
                f"(first beam {told}, off by {min(off, default=float('inf')):.3g})"
            )
            found.append(_Unexplained(clause, answer, number, steps))
    return found


def _told(search: Search, found: Findings, seen: _Seen, mixed: Sequence[str]) -> str:
    compared = seen.compared
    found.claim(
        "beams of a prompt, batched against alone, permuted, and with a neighbour changed", not seen.tokens,
        measured=f"{compared - len(seen.tokens)} of {compared} the same", limit=f"{compared} of {compared}",
        note=seen.told, **search.where,
    )  # fmt: skip
    found.limit(
        "scores of the same beams, largest difference", seen.error, 0.0,
        otherwise=Verdict.FAIL if seen.error > _ROUNDING else Verdict.WARN, **search.where,
    )  # fmt: skip
    found.claim(
        "beams come from the model's answer to their own prompt", not mixed,
        measured=f"{len(mixed)} prompts mixed" if mixed else "all", limit="all",
        note=mixed[0] if mixed else "", **search.where,
    )  # fmt: skip
    if seen.unexplained and not mixed:
        found.note("scores that are not their tokens', alone as in a batch", len(seen.unexplained),
                   note=seen.unexplained[0].told, **search.where)  # fmt: skip
    found.note(
        "model calls per batch", "; ".join(seen.calls),
        note="As many as steps where all live beams are asked for in one call a step.", **search.where,
    )  # fmt: skip
    if seen.tokens:
        return f"{len(seen.tokens)} of {compared} comparisons differ: {seen.told}"
    if mixed:
        return mixed[0]
    if seen.error:
        return f"same beams in {compared} of {compared} comparisons, scores differ by up to {seen.error:.1g}"
    return f"bit for bit the same in {compared} of {compared} comparisons: alone, permuted, beside others"
