"""Where a submission is handed an EOS id: one that is accepted ends the text, and is its last token."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult, Fault, Raised
from judge_tui.checks.tasks.dflash_verify.drafting import ORDERS, chain, ordered, prompt_of
from judge_tui.checks.tasks.dflash_verify.handing import END_SOURCES
from judge_tui.checks.tasks.dflash_verify.scripts import Script, decisive
from judge_tui.checks.tasks.dflash_verify.trees import Tokens, Tree, accepted, greedy, likeliest
from judge_tui.checks.tasks.dflash_verify.verifying import Case, Verification, first_departure
from judge_tui.checks.verdict import Verdict

__all__ = ["hold_ends"]

#: Tokens of the right path that are drafted at most, and rounds of all places that EOS stands in.
_LENGTH, _ROUNDS = 4, 3
_REJECTED = "a rejected sibling"


@dataclass(frozen=True, slots=True)
class _Drafted:
    """A tree, and where EOS stands in it.

    Attributes:
        place: In words.
        script: The target model.
        prompt: Token ids.
        tree: What was drafted.
        eos: The id.
    """

    place: str
    script: Script
    prompt: Tokens
    tree: Tree
    eos: int

    @property
    def text(self) -> Tokens:
        """What a verification that forgoes nothing gives."""
        path = accepted(self.script.rows, self.prompt, self.tree)
        whole = (*path, likeliest(self.script.rows, (*self.prompt, *path)))
        return whole[: whole.index(self.eos) + 1] if self.eos in whole else whole


@dataclass(frozen=True, slots=True)
class _Seen:
    """What came of a tree: a clause about what is wrong, and whether that fails."""

    told: str = ""
    fails: bool = True
    output: Tokens | None = None


def hold_ends(bench: Bench, found: Findings, verify: Verification) -> str:
    """Hold an EOS inside the path, last in it, as bonus or replacement, rejected, absent, in the prompt.

    A verification that takes no EOS is held to nothing here.

    Returns:
        What is wrong, in words.
    """
    if not any(verify.binding.takes(source) for source in END_SOURCES):
        return ""
    drafts = list(_drafts(bench))
    seen = [(drafted, _judged(verify, drafted)) for drafted in drafts]
    bad = sorted((each for each in seen if each[1].told), key=lambda each: not each[1].fails)
    rows = [
        (place, *_counted([one for drafted, one in seen if drafted.place == place]))
        for place in dict.fromkeys(drafted.place for drafted in drafts)
    ]
    passed_over = bool(bad) and _unseen(verify) and not any(_moves(verify, each) for each in drafts)
    told = ""
    if bad:
        drafted, one = bad[0]
        told = f"EOS {drafted.eos} is {drafted.place}: {one.told}"
    fails = any(one.fails for _, one in bad) and not passed_over
    if passed_over:
        told += "; its constructor alone takes the id, and what it verifies does not hang on it"
    found.claim(
        "texts that end with an accepted EOS", not bad, measured=f"{len(seen) - len(bad)} of {len(seen)}",
        limit=f"{len(seen)} of {len(seen)}", note=told, otherwise=Verdict.FAIL if fails else Verdict.WARN,
        table=(("EOS is", "right", "of"), *rows), **verify.where,
    )  # fmt: skip
    return told


def _counted(seen: list[_Seen]) -> tuple[str, str]:
    return str(sum(not one.told for one in seen)), str(len(seen))


def _unseen(verify: Verification) -> bool:
    """Whether only the constructor is told the id: its caller may be what cuts the text."""
    return not any(source in END_SOURCES for argument in verify.binding.args for source in argument.sources)


def _moves(verify: Verification, drafted: _Drafted) -> bool:
    """Whether the answer hangs on the id."""
    answers = [_answered(verify, drafted, eos) for eos in (drafted.eos, None)]
    return answers[0].told != answers[1].told or answers[0].output != answers[1].output


def _answered(verify: Verification, drafted: _Drafted, eos: int | None) -> _Seen:
    try:
        answer = verify.answer(drafted.script, drafted.prompt, drafted.tree, eos=eos)
    except Raised as fault:
        return _Seen(fault.placed)
    except BadResult as fault:
        return _Seen(fault.message, fails=False)
    return _Seen(output=answer.output)


def _judged(verify: Verification, drafted: _Drafted) -> _Seen:
    """What is wrong with an answer, if anything is."""
    script, prompt, tree, eos = drafted.script, drafted.prompt, drafted.tree, drafted.eos
    try:
        answer = verify.answer(script, prompt, tree, eos=eos)
    except Raised as fault:
        return _Seen(fault.placed)
    except BadResult as fault:
        return _Seen(f"it {fault.message}", fails=False)
    output, text = answer.output, drafted.text
    gives = f"it gives {list(output)}"
    if eos in output and (behind := output[output.index(eos) + 1 :]):
        if set(behind) == {eos}:
            return _Seen(f"{gives}, EOS more than once", fails=False)
        return _Seen(f"{gives}, and goes on behind the accepted EOS, which is the last token of {list(text)}")
    if first_departure(script, prompt, output) is not None:
        return _Seen(f"{gives} in place of {list(text)}")
    case = Case(script, prompt, tree, answer, accepted(script.rows, prompt, tree))
    if answer.new is None and output != text and not case.new_fits:
        if output == text[:-1] and text[-1] == eos:
            return _Seen(f"{gives}, without the accepted EOS itself, of {list(text)}")
        return _Seen(f"{gives}, and ends there, in place of {list(text)}")
    if drafted.place == _REJECTED and len(output) < len(text):
        return _shorter(verify, drafted, output)
    return _Seen()


def _shorter(verify: Verification, drafted: _Drafted, output: Tokens) -> _Seen:
    """Whether a rejected EOS costs what is accepted of the same tree where no token is EOS."""
    try:
        usual = verify.answer(drafted.script, drafted.prompt, drafted.tree).output
    except Fault:
        return _Seen()
    if len(usual) <= len(output):
        return _Seen()
    return _Seen(f"it stops there, after {list(output)}, and without it after {list(usual)}", fails=False)


def _drafts(bench: Bench) -> Iterator[_Drafted]:
    for turn in range(_ROUNDS):
        rng, sizes = bench.rng("ends", turn), bench.sizes("ends", turn)
        vocab = sizes.between(16, 60)
        prompt = prompt_of(rng, vocab, sizes.between(2, 6))
        while True:
            script = decisive(rng, vocab, prompt, _LENGTH + 1)
            path = greedy(script.rows, prompt, _LENGTH + 1)[0]
            if len({*path, *prompt}) == len(path) + len(set(prompt)):
                break
        taken = {*path, *prompt}
        other, wrong, below, *_ = (
            int(t) for t in rng.permutation([t for t in range(vocab) if t not in taken])
        )
        whole = chain(path[:-1])
        inside = sizes.between(1, _LENGTH - 2)
        yield _Drafted("the first node of the path", script, prompt, whole, path[0])
        yield _Drafted("inside the path", script, prompt, whole, path[inside])
        yield _Drafted("the last node of the path", script, prompt, whole, path[-2])
        yield _Drafted("the bonus token", script, prompt, whole, path[-1])
        branched = Tree((path[0], wrong, path[1], below, path[2]), (-1, -1, 0, 1, 2))
        branched = branched.listed(ordered(rng, branched, ORDERS[turn]))
        yield _Drafted("inside the path, beside wrong branches", script, prompt, branched, path[1])
        yield _Drafted("the replacement", script, prompt, Tree((path[0], wrong), (-1, 0)), path[1])
        # EOS first among siblings, so that what stops at it has not gone past it yet
        siblings = Tree((other, path[0], wrong, other, path[1]), (-1, -1, 0, 1, 1))
        yield _Drafted(_REJECTED, script, prompt, siblings, other)
        yield _Drafted("nowhere in the tree", script, prompt, whole, other)
        yield _Drafted("in the prompt alone", script, prompt, whole, prompt[0])
