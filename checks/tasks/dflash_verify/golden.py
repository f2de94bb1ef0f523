"""Whether decoding with drafted trees gives the tokens of greedy decoding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.check import Findings, check
from judge_tui.checks.faults import Fault
from judge_tui.checks.sizes import Range
from judge_tui.checks.tasks.dflash_verify.close import hold_close
from judge_tui.checks.tasks.dflash_verify.drafting import ORDERS, chain, drawn, ordered, prompt_of
from judge_tui.checks.tasks.dflash_verify.ends import hold_ends
from judge_tui.checks.tasks.dflash_verify.invalidation import KINDS, baited
from judge_tui.checks.tasks.dflash_verify.own_draws import Drafted, about, verified
from judge_tui.checks.tasks.dflash_verify.own_model import hold_own_model
from judge_tui.checks.tasks.dflash_verify.rules import because
from judge_tui.checks.tasks.dflash_verify.sampling import hold_certain
from judge_tui.checks.tasks.dflash_verify.scripts import Script, decisive, stated
from judge_tui.checks.tasks.dflash_verify.ties import hold_ties
from judge_tui.checks.tasks.dflash_verify.trees import Tokens, Tree, greedy, likeliest
from judge_tui.checks.tasks.dflash_verify.verifying import Case, Verification
from judge_tui.checks.verdict import Verdict

__all__ = ["golden"]

#: Vocabulary, nodes per cycle (none: always another), whether right nodes get twins; each once large.
_RUNS: tuple[tuple[Range, Range | None, bool], ...] = (
    ((2, 2), (2, 4), False),
    ((2, 2), None, True),
    ((3, 4), (4, 8), False),
    ((3, 4), None, True),
    ((5, 12), (5, 9), False),
    ((5, 12), None, True),
    ((9, 40), (6, 10), True),
    ((30, 90), (8, 14), False),
    ((9, 40), (50, 90), True),
    ((400, 4000), None, True),
)
_TOKENS = (16, 24)
#: From this run on they are large: half as long where other draws are about sizes of the source.
_LARGE = 8
_MOST_RIGHT = 4
_PAIRS = 8
_TWINS = 12
#: Tokens of a vocabulary in which many nodes find room.
_ROOMY = 40
#: Children of every node of a complete tree, and its depth.
_COMPLETE = ((2, 3), (3, 2))


@check(
    "golden",
    "equals greedy decoding",
    establishes="At temperature 0 the text equals greedy decoding token for token, whatever is drafted, and "
    "ends with an EOS where one is handed in; above 0 it is the target's where that leaves no choice.",
    roles=("verify",),
    version=13,
)
def golden(bench: Bench, found: Findings) -> str:
    """Decode with random trees over many cycles; then pairs of trees of one size, and duplicate siblings."""
    verify = Verification(bench)
    runs = [_run(bench, verify, number) for number in range(len(_RUNS) - 1)]
    with bench.fresh() as worker:
        runs.append(_run(bench, verify, len(_RUNS) - 1, worker))
    told = [_claim_runs(found, verify, runs)]
    pairs = verified(verify, found, _pairs(bench))
    told.append(_claim(found, verify, "two trees of one size below one prompt, one after the other", pairs))
    tempting = (drafted for kind in KINDS for drafted in islice(baited(bench, kind), 0, None, 3))
    baits = verified(verify, found, tempting)
    told.append(_claim(found, verify, "trees whose wrong nodes have subtrees that look right", baits))
    again = verified(verify, found, _again(bench))
    told.append(_claim(found, verify, "the same tokens again, with other parents or another model", again))
    told.append(_claim(found, verify, "complete trees that the target leaves for a token beyond theirs",
                       [verify(*drafted) for drafted in _left(bench)]))  # fmt: skip
    twins = [verify(*drafted) for drafted in _twins(bench)]
    told.append(_claim(found, verify, "trees with siblings of the same token", twins))
    told += [hold_close(bench, found, verify), hold_ties(bench, found, verify)]
    taken = sum(run.taken for run in runs)
    offered = sum(run.offered for run in runs)
    found.claim(
        "right tokens in the trees that were accepted", taken > 0, measured=f"{taken} of {offered}",
        limit="more than 0", otherwise=Verdict.WARN, **verify.where,
    )  # fmt: skip
    found.note("target forwards per verification, mean, as the worker counted them", _mean(verify.forwards))
    empty = _empty(bench, found, verify)
    hot = hold_certain(bench, found, verify)
    ended = hold_ends(bench, found, verify)
    own = ""
    if not any(told) and not empty and not hot and not ended:
        own = hold_own_model(bench, found, verify)
    if clause := next((text for text in told if text), ""):
        return because(clause, [*(case for run in runs for case in run.cases), *pairs, *baits, *again])
    cycles = sum(run.cycles for run in runs)
    lossless = f"greedy decoding token for token in {len(runs)} runs, {cycles} cycles"
    if not taken:
        return f"{lossless}, but nothing of any tree was accepted"
    if hot:
        return f"{lossless}; but {hot}"
    if ended:
        return f"{lossless}; but {ended}"
    if empty:
        return f"{lossless}; but an empty tree: {empty}"
    if own:
        return f"{lossless}; but {own}"
    return f"{lossless}, {taken} of {offered} right drafted tokens accepted"


@dataclass(slots=True)
class _Run:
    """Decoding one text.

    Attributes:
        vocab: V.
        text: What was decoded, without the prompt.
        cases: Its cycles.
        taken: Accepted tokens.
        offered: Right tokens that stood in the trees.
        wrong: The case that departed, in words; ``stalled`` when a cycle gave no token.
    """

    vocab: int
    text: list[int] = field(default_factory=list)
    cases: list[Case] = field(default_factory=list)
    taken: int = 0
    offered: int = 0
    wrong: str = ""

    @property
    def cycles(self) -> int:
        """How many there were."""
        return len(self.cases)

    def add(self, case: Case) -> None:
        """Take a cycle in."""
        self.cases.append(case)
        self.taken += len(case.answer.tokens)
        self.offered += len(case.right)
        if not case.lossless:
            self.wrong = f"cycle {self.cycles}: {case}"
        elif not case.drafted:
            self.wrong = f"cycle {self.cycles}, accepted tokens that are no path of the tree: {case}"
        elif not case.answer.output:
            self.wrong = f"cycle {self.cycles} gave no token: {case}"
        self.text += case.answer.output


def _run(bench: Bench, verify: Verification, number: int, worker: Worker | None = None) -> _Run:
    vocabs, nodes_of, twins = _RUNS[number]
    rng, sizes = bench.rng("run", number), bench.sizes("run", number)
    vocab, tokens = sizes.shape(vocabs, _TOKENS)
    if number >= _LARGE and bench.integers:
        tokens //= 2
    size = sizes.between(*nodes_of) if nodes_of else 0
    prompt = prompt_of(rng, vocab, int(rng.integers(1, 7)))
    script = decisive(rng, vocab, prompt, tokens + _MOST_RIGHT + 1)
    run = _Run(vocab)
    while len(run.text) < tokens and not run.wrong:
        nodes = size or int(rng.integers(1, 12))
        right = int(rng.integers(0, min(_MOST_RIGHT, nodes) + 1))
        order = ORDERS[int(rng.integers(len(ORDERS)))]
        prefix = (*prompt, *run.text)
        tree = drawn(rng, script.rows, prefix, nodes, right, order=order, twins=twins and rng.random() < 0.5)
        run.add(verify(script, prefix, tree, worker=worker))
    return run


def _claim_runs(found: Findings, verify: Verification, runs: Sequence[_Run]) -> str:
    wrong = [run for run in runs if run.wrong]
    rows = [
        (str(run.vocab), str(len(run.text)), str(run.cycles), f"{run.taken} of {run.offered}",
         "departs" if run.wrong else "equal")
        for run in runs
    ]  # fmt: skip
    found.claim(
        "texts equal to greedy decoding", not wrong, measured=f"{len(runs) - len(wrong)} of {len(runs)}",
        limit=f"{len(runs)} of {len(runs)}", note=wrong[0].wrong if wrong else "",
        table=(("V", "tokens", "cycles", "accepted of right", "text"), *rows), **verify.where,
    )  # fmt: skip
    return f"{len(wrong)} of {len(runs)} texts depart from greedy decoding; {wrong[0].wrong}" if wrong else ""


def _claim(found: Findings, verify: Verification, quantity: str, cases: Sequence[Case]) -> str:
    wrong = [case for case in cases if not (case.lossless and case.drafted and case.answer.output)]
    found.claim(
        f"{quantity}: tokens of greedy decoding", not wrong,
        measured=f"{len(cases) - len(wrong)} of {len(cases)}", limit=f"{len(cases)} of {len(cases)}",
        note=str(wrong[0]) if wrong else "", **verify.where,
    )  # fmt: skip
    return (
        f"{quantity}: {len(wrong)} of {len(cases)} depart from greedy decoding: {wrong[0]}" if wrong else ""
    )


def _pairs(bench: Bench) -> Iterator[Drafted]:
    """The same prompt and number of nodes, another tree: what is kept by size is the wrong thing for it."""
    own = about(bench, "pairs", _PAIRS, "nodes", "V", "prompt")
    for number in range(_PAIRS):
        rng = bench.rng("pair", number)
        axes = {"V": (3, 5, 7, 29)[number % 4], "nodes": int(rng.integers(4, 10))}
        axes["prompt"] = int(rng.integers(1, 6))
        if one := own.get(number):
            # so many nodes find tokens that none of their siblings is
            axes |= {"V": _ROOMY, **one.at}
        prompt = prompt_of(rng, axes["V"], axes["prompt"])
        script = decisive(rng, axes["V"], prompt, _MOST_RIGHT + 1)
        for right in (0, 3):
            order = ORDERS[int(rng.integers(len(ORDERS)))]
            tree = drawn(rng, script.rows, prompt, axes["nodes"], right, order=order)
            yield script, prompt, tree, str(one or "")


def _again(bench: Bench) -> Iterator[Drafted]:
    """Prompt and tokens of one tree as another tree, and the same tree under another model."""
    own = about(bench, "again", _PAIRS, "depth", "V", "prompt")
    for number in range(_PAIRS):
        rng = bench.rng("again", number)
        axes = {"V": (3, 5, 7, 29)[number % 4], "depth": int(rng.integers(3, 6))}
        axes["prompt"] = int(rng.integers(1, 6))
        one = own.get(number)
        axes |= one.at if one else {}
        vocab, length, why = axes["V"], axes["depth"], str(one or "")
        prompt = prompt_of(rng, vocab, axes["prompt"])
        script = decisive(rng, vocab, prompt, length + 1)
        tokens = greedy(script.rows, prompt, length)[0]
        yield script, prompt, Tree(tokens, (-1,) * length), why
        yield script, prompt, chain(tokens), why
        yield decisive(rng, vocab, prompt, length + 1), prompt, chain(tokens), why


def _left(bench: Bench) -> Iterator[tuple[Script, Tokens, Tree]]:
    """Every node has the same children, and the target goes on with a token that none of them is.

    Where parent and token are packed into one number, it stands for another node's child.
    """
    for children, depth in _COMPLETE:
        tree = _complete(children, depth)
        for beyond in range(children, 4 * children):
            rng = bench.rng("left", children, beyond)
            prompt = prompt_of(rng, 4 * children, int(rng.integers(1, 5)))
            way = [int(token) for token in rng.integers(children, size=beyond % depth)]
            choices = {(*prompt, *way[:step]): token for step, token in enumerate(way)}
            script = stated(rng, 4 * children, choices, beyond)
            order = ORDERS[0] if beyond < 3 * children else ORDERS[2]
            yield script, prompt, tree.listed(ordered(rng, tree, order))


def _complete(children: int, depth: int) -> Tree:
    """Tokens 0, 1, … below every node down to a depth."""
    tokens: list[int] = []
    parents: list[int] = []
    above = [-1]
    for _level in range(depth):
        for parent in above:
            tokens += range(children)
            parents += [parent] * children
        above = list(range(len(tokens) - children * len(above), len(tokens)))
    return Tree(tuple(tokens), tuple(parents))


def _twins(bench: Bench) -> Iterator[tuple[Script, Tokens, Tree]]:
    """The right token twice among siblings, what follows it below the first, the second, or both."""
    for number in range(_TWINS):
        rng = bench.rng("twins", number)
        vocab = (3, 5, 17, 61)[number % 4]
        prompt = prompt_of(rng, vocab, int(rng.integers(1, 5)))
        script = decisive(rng, vocab, prompt, 4)
        first = likeliest(script.rows, prompt)
        second = likeliest(script.rows, (*prompt, first))
        third = likeliest(script.rows, (*prompt, first, second))
        other = int(rng.choice([t for t in range(vocab) if t != second]))
        below = ((second, other), (other, second), (second, second))[number % 3]
        tree = Tree((first, first, *below, third, third), (-1, -1, 0, 1, 2, 3))
        yield script, prompt, tree.listed(ordered(rng, tree, ORDERS[number % 3]))


def _mean(counts: Sequence[int]) -> float:
    return round(sum(counts) / len(counts), 2)


def _empty(bench: Bench, found: Findings, verify: Verification) -> str:
    """A tree without nodes: what is wrong about it in words; it warns."""
    rng = bench.rng("empty")
    prompt = prompt_of(rng, 11, 3)
    script, told = decisive(rng, 11, prompt, 1), ""
    try:
        answer: Any = verify.answer(script, prompt, Tree((), ()), budget=10.0)
        if answer.tokens or answer.new != likeliest(script.rows, prompt):
            told = f"gave {list(answer.tokens)}, then {answer.new} instead of [], then the target's token"
    except Fault as fault:
        told = fault.placed
    found.claim(
        "verification of an empty tree", not told, measured=told or "the target's token",
        limit="the target's token", otherwise=Verdict.WARN, **verify.where,
    )  # fmt: skip
    return told
