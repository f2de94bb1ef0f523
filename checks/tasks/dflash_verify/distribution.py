"""Whether what is emitted above temperature 0 is distributed as the target says, whatever is drafted.

A draft of given tokens leaves a lossless verifier no choice: the first token that it emits has the target's
distribution, and so has each one after it given those before. Counts are held against that by exact binomial
tails, token by token, so that a right verifier fails once in a million runs.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from time import monotonic

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.faults import BadResult, Raised, Skipped
from judge_tui.checks.tasks.dflash_verify.drafting import prompt_of
from judge_tui.checks.tasks.dflash_verify.mistaken import KNOWN, Drawn, emitted_by, likelier
from judge_tui.checks.tasks.dflash_verify.own_answers import hold_own_answers
from judge_tui.checks.tasks.dflash_verify.scripts import Script, distributed, hashed
from judge_tui.checks.tasks.dflash_verify.tails import binomial_tail
from judge_tui.checks.tasks.dflash_verify.trees import Tokens, Tree
from judge_tui.checks.tasks.dflash_verify.vast import hold_vast
from judge_tui.checks.tasks.dflash_verify.verifying import Verification
from judge_tui.checks.verdict import Verdict

__all__ = ["distribution"]

_TEMPERATURES = (1.0, 0.5, 2.0)
#: After the prompt, and after the first token, at each temperature; likeliest first. Siblings have much of
#: the probability, so that an order in which they are tried, or a residual that is not renormalised, shows in
#: few draws.
_FIRST, _SECOND = (0.5, 0.28, 0.12, 0.06, 0.04), (0.42, 0.3, 0.15, 0.08, 0.05)
#: The first at other temperatures: one has more than an even share of two siblings.
_UNEVEN = (0.57, 0.23, 0.1, 0.06, 0.04)
#: Behind a whole path of the tree, whichever.
_BEHIND = (0.68, 0.12, 0.1, 0.06, 0.04)
#: Which of them are drafted after the first token, per temperature: below 1 the likeliest one is not, so that
#: what replaces refused ones is drawn often.
_DRAFTED = (slice(0, 2), slice(1, 3), slice(1, 3))
_DRAWS, _ALIKE = (420, 420, 280), 40
#: Of many siblings: how many any submission gets, and how many about an integer of its source; how likely the
#: first and the last one are, how many tokens stand beside the siblings, and how likely these are together:
#: a sibling that is refused, and forgotten, comes half as often again.
_MANY, _ABOUT = (20, 70), (20, 200)
_END, _BESIDE, _OTHERS, _WIDE_DRAWS = 0.29, 3, 0.39, 520
_SECONDS = 20.0
#: Targets whose likeliest token has little more than others, and tokens of each.
_FLAT = 16
#: That a right verifier is failed, over all that is looked at.
_FALSE_ALARM = 1e-6
#: A mistake is named where draws are e^3 times likelier under it than under the next, and where counts so far
#: off as one of theirs come that seldom.
_APART, _UNLIKELY = 3.0, 1e-3
#: What says that nothing is done above temperature 0: by its kind, or by its kind and its words.
_UNDONE, _REFUSALS = "NotImplementedError", ("ValueError", "RuntimeError", "AssertionError", "Exception")
_REFUSES = re.compile(r"(?i)temperature|greedy|sampling|not (yet )?(implemented|supported)")


@dataclass(slots=True)
class _Draws:
    """What was emitted at one temperature.

    Attributes:
        temperature: Above 0.
        script: The target.
        prompt: Token ids.
        tree: What was drafted: two roots, each with children.
        outputs: What came, draw by draw.
        accepted: Drafted tokens that were accepted, of all draws.
    """

    temperature: float
    script: Script
    prompt: Tokens
    tree: Tree
    outputs: list[Tokens] = field(default_factory=list)
    accepted: int = 0

    def truth(self, after: Tokens = ()) -> npt.NDArray[np.float64]:
        """The target's distribution, (V,)."""
        logits = self.script.rows.row([*self.prompt, *after]) / self.temperature
        weights = np.exp(logits - logits.max())
        return np.asarray(weights / weights.sum())

    def counted(self) -> Iterator[tuple[str, npt.NDArray[np.float64], list[int]]]:
        """Words, the target's distribution, how often each token came: first, after roots, behind paths."""
        vocab = self.script.vocab_size
        firsts = Counter(output[0] for output in self.outputs if output)
        yield "the first token", self.truth(), [firsts[token] for token in range(vocab)]
        for root in self.tree.text(self.tree.children(-1)):
            nexts = Counter(output[1] for output in self.outputs if output[:1] == (root,) and len(output) > 1)
            counts = [nexts[token] for token in range(vocab)]
            yield f"the token after drafted token {root}", self.truth((root,)), counts
        leaves = {self.tree.text(self.tree.path(node)) for node in range(len(self.tree))}
        behind = Counter(output[2] for output in self.outputs if len(output) > 2 and output[:2] in leaves)
        path = self.tree.text(self.tree.path(len(self.tree) - 1))
        yield "the token behind a whole path", self.truth(path), [behind[token] for token in range(vocab)]

    def places(self) -> Iterator[Drawn]:
        """The same, path by path, with the target's rows beside each place."""
        vocab, roots = self.script.vocab_size, self.tree.text(self.tree.children(-1))

        def came(*before: int) -> list[int]:
            ends = Counter(o[len(before)] for o in self.outputs if o[: len(before)] == before < o)
            return [ends[token] for token in range(vocab)]

        firsts, heat = [self.truth((root,)) for root in roots], self.temperature
        yield Drawn(self.truth(), roots, came(), heat, firsts)
        for number, root in enumerate(roots):
            below, top = self.tree.text(self.tree.children(number)), self.truth()
            leaves = [self.truth((root, child)) for child in below]
            yield Drawn(firsts[number], below, came(root), heat, leaves, top, roots[:number], top)
            for place, (child, row) in enumerate(zip(below, leaves, strict=True)):
                counts = came(root, child)
                yield Drawn(row, (), counts, heat, (), firsts[number], below[:place], top)


@check(
    "distribution",
    "samples as the target",
    establishes="Above temperature 0 what is emitted has the target's distribution, whatever is drafted.",
    roles=("verify",),
    version=15,
    budget=60,
)
def distribution(bench: Bench, found: Findings) -> str:
    """Draw many times below a tree of siblings; hold the counts of first and second tokens."""
    verify = Verification(bench)
    if not verify.binding.takes("temperature"):
        raise Skipped("it takes no temperature: only greedy verification is there")
    draws = [_drawn(bench, verify, number) for number in range(len(_TEMPERATURES))]
    if len(set(draws[0].outputs)) == 1:
        return _told_alike(bench, found, verify, draws[0])
    mistake = _mistaken(found, verify, draws)
    held = [list(_held(found, verify, each)) for each in draws]
    many = list(_many(bench, found, verify))
    if vast := hold_vast(bench, found, verify):
        many.append(vast)
    told = [*itertools.chain(*held), *many]
    count = sum(len(each.outputs) for each in draws)
    mean = sum(each.accepted for each in draws) / max(count, 1)
    found.note("drafted tokens accepted per draw, mean", round(mean, 3), **verify.where)
    if found.verdict is Verdict.FAIL:
        where = f", as where {mistake}" if mistake else ""
        cool = "; at temperature 1 draws are the target's" if any(held) and not (held[0] or many) else ""
        return (told[0] if told else f"{count} draws are not distributed as the target's") + where + cool
    heats = ", ".join(f"{each.temperature:g}" for each in draws)
    right = f"first and next tokens are distributed as the target's at temperatures {heats}, {count} draws"
    if own := hold_own_answers(bench, found, verify) if verify.written else "":
        return f"{own}; from the judge's targets {right}"
    return right + _written(found, verify)


def _written(found: Findings, verify: Verification) -> str:
    """Whether it writes into what its target gave it, as a clause."""
    if not verify.written:
        return ""
    found.claim(
        "the target's answers stay as they are", False, measured=f"{verify.written} are written into",
        otherwise=Verdict.WARN, note="A target that keeps what it answers is wrong from then on.",
        **verify.where,
    )  # fmt: skip
    return "; but it writes into what the target answers, which a target that keeps its answers is ruined by"


def _drawn(bench: Bench, verify: Verification, number: int) -> _Draws:
    """As many draws as the time allows.

    Raises:
        Skipped: It says that it does nothing above temperature 0, or is too slow for enough draws.
        Fault: It does something else.
    """
    rng, vocab = bench.rng("distribution", number), len(_FIRST)
    prompt = prompt_of(rng, vocab, bench.sizes("distribution", number).between(1, 9))
    tokens = [int(token) for token in rng.permutation(vocab)]
    # the likelier sibling first, or last: neither order is an advantage
    roots = tokens[:2] if number else tokens[1::-1]
    below = {root: [int(token) for token in rng.permutation(vocab)] for root in roots}
    shares = _UNEVEN if number else _FIRST
    rows: dict[Tokens, dict[int, float]] = {(): dict(zip(tokens, shares, strict=True))}
    rows |= {(root,): dict(zip(ranked, _SECOND, strict=True)) for root, ranked in below.items()}
    behind = dict(zip((int(token) for token in rng.permutation(vocab)), _BEHIND, strict=True))
    drafted = {root: ranked[_DRAFTED[number]] for root, ranked in below.items()}
    rows |= {(root, child): behind for root in roots for child in drafted[root]}
    heat = _TEMPERATURES[number]
    script = distributed(vocab, prompt, {after: _cooled(row, heat) for after, row in rows.items()})
    children = [token for root in roots for token in drafted[root]]
    tree = Tree((*roots, *children), (-1, -1, 0, 0, 1, 1))
    draws = _Draws(heat, script, prompt, tree)
    _fill(bench, verify, draws, _DRAWS[number], number)
    return draws


def _cooled(row: dict[int, float], temperature: float) -> dict[int, float]:
    """Of which probabilities, at temperature 1, a temperature makes these."""
    powers = {token: share**temperature for token, share in row.items()}
    return {token: power / sum(powers.values()) for token, power in powers.items()}


def _wide(bench: Bench, verify: Verification, number: int, siblings: int, apart: int) -> _Draws:
    """Draws below many siblings, of which those that are listed first and last have most of the probability.

    Args:
        bench: Draws them.
        verify: The verifier.
        number: Which of them these are.
        siblings: How many.
        apart: By how much the first one's id is above the last one's, that bits of a word may be the same; 0
            for any ids.

    Raises:
        Skipped: It is too slow for enough draws.
        Fault: It does something else.
    """
    rng, vocab = bench.rng("wide", number), siblings + _BESIDE
    prompt = prompt_of(rng, vocab, bench.sizes("wide", number).between(1, 9))
    tokens = [int(token) for token in rng.permutation(vocab)]
    if 0 < apart < vocab:
        low = int(rng.integers(vocab - apart))
        rest = [token for token in tokens if token not in (low, low + apart)]
        tokens = [low + apart, *rest[: siblings - 2], low, *rest[siblings - 2 :]]
    between = (1.0 - 2 * _END - _OTHERS) / (siblings - 2)
    shares = [_END, *[between] * (siblings - 2), _END, *[_OTHERS / _BESIDE] * _BESIDE]
    script = distributed(vocab, prompt, {(): dict(zip(tokens, shares, strict=True))})
    tree = Tree(tuple(tokens[:siblings]), (-1,) * siblings)
    draws = _Draws(1.0, script, prompt, tree)
    _fill(bench, verify, draws, _WIDE_DRAWS, len(_TEMPERATURES) + number)
    return draws


def _fill(bench: Bench, verify: Verification, draws: _Draws, most: int, turn: int) -> None:
    """Draw as often as wanted, or as the time allows.

    Raises:
        Skipped: It says that it does nothing above temperature 0, or is too slow for enough draws.
        Fault: It does something else.
    """
    begun = monotonic()
    # far apart: neighbours make what follows from a seed in one step look alike
    seeds = bench.rng("seeds", turn).integers(1, 2**31, most).tolist()
    for draw in range(most):
        if monotonic() - begun > _SECONDS:
            break
        if draw == _ALIKE and len(set(draws.outputs)) == 1:
            break
        bench.progress(
            f"drawing at temperature {draws.temperature:g}", (turn + draw / most) / (len(_TEMPERATURES) + 2)
        )
        try:
            answer = verify.answer(
                draws.script,
                draws.prompt,
                draws.tree,
                temperature=draws.temperature,
                seed=seeds[draw],
                budget=10.0,
            )
        except Raised as fault:
            if not draw and _refuses(fault):
                raise Skipped(f"above temperature 0 it {fault.message}"[:200]) from fault
            raise
        if not answer.output:
            raise BadResult(f"emits nothing at temperature {draws.temperature:g}")
        draws.outputs.append(tuple(answer.output))
        draws.accepted += len(answer.tokens)
    if len(draws.outputs) < _ALIKE:
        raise Skipped(
            f"too slow: {len(draws.outputs)} draws in {_SECONDS:g} s tell nothing of a distribution"
        )


def _refuses(fault: Raised) -> bool:
    """Whether it was raised to say that there is no sampling, and not by a mistake."""
    return fault.kind == _UNDONE or (fault.kind in _REFUSALS and bool(_REFUSES.search(fault.message)))


def _told_alike(bench: Bench, found: Findings, verify: Verification, draws: _Draws) -> str:
    """What it means that all draws are alike: greedy at any temperature, or random numbers that begin anew.

    Under flat targets the second is seen to take other tokens than the likeliest.
    """
    rng, greedy = bench.rng("flat"), 0
    for _ in range(_FLAT):
        prompt = prompt_of(rng, _FLAT, 3)
        script = hashed(rng, _FLAT)
        ranked = np.argsort(-script.rows.row(prompt))
        tree = Tree((int(ranked[-1]), int(ranked[-2])), (-1, -1))
        output = verify.answer(script, prompt, tree, temperature=1.0, budget=10.0).output
        greedy += bool(output) and output[0] == int(ranked[0])
    always = greedy == _FLAT
    same = (
        f"{list(draws.outputs[0])} in all of {len(draws.outputs)} draws at temperature {draws.temperature:g}"
    )
    found.claim(
        "what is emitted above temperature 0 changes from draw to draw", False, measured=same,
        note=f"the likeliest token in {greedy} of {_FLAT} draws from flat targets", **verify.where,
        otherwise=Verdict.WARN if always else Verdict.AMBIGUOUS,
    )  # fmt: skip
    if always:
        return f"temperature changes nothing: the likeliest token always, {same}"
    seeded = ", whatever its seed" if verify.binding.takes("seed") else ""
    return f"its random numbers begin anew with every call{seeded}, so no distribution can be seen: {same}"


def _many(bench: Bench, found: Findings, verify: Verification) -> Iterator[str]:
    """Hold the first tokens below many siblings, of which a list of those refused may hold too few."""
    sizes = bench.sizes("many siblings")
    cases = [(sizes.between(*_MANY), 0, "")]
    # One more than the integer: ids that are it apart are one bit of a word of as many.
    about = [(one.largest, str(one)) for one in sizes.about(bench.integers, {"siblings": _ABOUT}, 1)]
    cases += [(siblings, siblings - 1, why) for siblings, why in about]
    for number, (siblings, apart, why) in enumerate(cases):
        words = f"below {siblings} siblings{f', {why},' if why else ''} "
        try:
            draws = _wide(bench, verify, number, siblings, apart)
        except (Raised, BadResult) as fault:
            fault.message = f"{fault.message} ({words.strip(' ,')})"
            raise
        cause = _cause_of_many(draws)
        for clause in _held(found, verify, draws, words, firsts=True):
            yield f"{clause}{cause}"


def _cause_of_many(draws: _Draws) -> str:
    """What the counts below many siblings say, as a clause; empty where neither of two causes fits."""
    counts, siblings = Counter(output[0] for output in draws.outputs), draws.tree.tokens
    beside = [counts[token] for token in range(draws.script.vocab_size) if token not in siblings]
    if not all(beside) or not any(counts[token] for token in siblings[1:-1]):
        return ", and less likely tokens never come, as where all but the likeliest few are cut off"
    often = max(counts[siblings[0]], counts[siblings[-1]])
    again = often > 1.25 * _END * len(draws.outputs)
    return ", as where a sibling that was refused is drawn again" if again else ""


def _held(
    found: Findings, verify: Verification, draws: _Draws, below: str = "", *, firsts: bool = False
) -> Iterator[str]:
    """Hold the counts of one temperature, or those of first tokens alone; what is wrong, in words."""
    tests = len(_TEMPERATURES) * draws.script.vocab_size * 4
    for named, truth, counts in itertools.islice(draws.counted(), 1 if firsts else None):
        words = f"{below}{named}"
        total = sum(counts)
        if not total:
            continue
        tails = [binomial_tail(count, total, float(p)) for count, p in zip(counts, truth, strict=True)]
        token = int(np.argmin(tails))
        table = (
            ("token", "target", "drawn"),
            *((str(t), f"{p:.3f}", f"{counts[t] / total:.3f}") for t, p in enumerate(truth)),
        )
        quantity = (
            f"temperature {draws.temperature:g}: {words} against the target's distribution, {total} draws, "
            "least probability of a count so far off"
        )
        right = found.claim(
            quantity, tails[token] >= _FALSE_ALARM / tests, measured=tails[token],
            limit=_FALSE_ALARM / tests, table=table, note=f"{draws.tree}, prompt {list(draws.prompt)}",
            **verify.where,
        )  # fmt: skip
        if not right:
            always = ", its likeliest," if counts[token] == total and token == int(np.argmax(truth)) else ""
            yield (
                f"at temperature {draws.temperature:g} {words} is {token}{always} in "
                f"{counts[token] / total:.0%} of {total} draws where the target says {truth[token]:.0%}"
            )


def _mistaken(found: Findings, verify: Verification, draws: Sequence[_Draws]) -> str:
    """The known mistake that explains the draws, where the target and all others do not; empty for none."""
    drawn = [place for each in draws for place in each.places()]
    (words, ratio), (_, second) = list(likelier(drawn))[:2]
    # Where the target is right a ratio exceeds c once in c times, for each of the mistakes.
    limit = float(np.log(len(KNOWN) / _FALSE_ALARM))
    explains = _explains(words, drawn)
    right = found.claim(
        "log of how much likelier the draws are under a known mistake than under the target",
        ratio < limit, measured=ratio, limit=limit,
        note=f"where {words}" if explains else "none of them explains all", **verify.where,
    )  # fmt: skip
    return words if not right and explains and ratio - second >= _APART else ""


def _explains(words: str, drawn: Sequence[Drawn]) -> bool:
    """Whether no count is too far off what a mistake emits."""
    tails = [
        binomial_tail(count, sum(each.counts), float(share))
        for each in drawn
        for count, share in zip(each.counts, emitted_by(words, each), strict=True)
    ]
    return min(tails) >= _UNLIKELY / len(tails)
