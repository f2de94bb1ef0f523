"""Whether a node is judged by the logits at its parent.

A right node that is refused fails here although the text stays lossless: the claim is that what the target
drafts is accepted whole, and a wrong row of logits shows in nothing else where the vocabulary is large. One
that is refused because a refusal before it ended the cycle is ambiguous: the challenge's steps say so. No
tree of this check has siblings of one token, where taking either is right; ``golden`` has them, and holds the
text alone against greedy decoding.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.faults import Fault
from judge_tui.checks.sizes import Range
from judge_tui.checks.tasks.dflash_verify.drafting import ORDERS, chain, drawn, ordered, prompt_of
from judge_tui.checks.tasks.dflash_verify.own_draws import (
    LARGEST,
    Broken,
    Drafted,
    about,
    hold_broken,
    sizes_of,
    told_apart,
    verified,
)
from judge_tui.checks.tasks.dflash_verify.rules import RULES, STOPPING, explained, followed, taken_from
from judge_tui.checks.tasks.dflash_verify.scripts import decisive, stated
from judge_tui.checks.tasks.dflash_verify.trees import Tree, greedy, likeliest
from judge_tui.checks.tasks.dflash_verify.verifying import Case, Verification
from judge_tui.checks.verdict import Verdict

__all__ = ["parent_logits"]

#: Vocabulary and prompt's length of the chains; a wrong row that a large vocabulary hides, a tiny one shows.
_CHAINS: tuple[tuple[Range, Range], ...] = (
    ((2, 2), (2, 4)),
    ((2, 2), (1, 1)),
    ((3, 4), (2, 6)),
    ((4, 9), (1, 4)),
    ((9, 20), (1, 1)),
    ((40, 90), (3, 8)),
    ((300, 900), (1, 6)),
)
#: Vocabulary, prompt's length and length of chains of which one is large.
_LARGE: tuple[tuple[Range, Range, Range], ...] = (
    ((3000, 6000), (1, 6), (1, 6)),
    ((33_000, 60_000), (1, 3), (1, 4)),
    ((4, 30), (50, 120), (1, 6)),
    ((4, 30), (1, 6), (40, 90)),
)
_LENGTHS = (1, 2, 5, 17)
#: Vocabularies of more tokens than 16 bits tell apart; how large a chain's tokens are, small ones among them.
_VAST: Range = (66_000, 70_000)
_TOKENS: tuple[Range, ...] = ((0, 32_000), (33_000, 65_000), (65_536, 65_999), (65_536, 65_999), (0, 32_000))
#: Integers that an id may be kept in, by how many there are.
_KEPT = {1 << 15: "16 bits with a sign", 1 << 16: "16 bits"}
#: Tokens beside those of many siblings, and those of a vocabulary in which many nodes find room.
_ROOMY = 40
#: Sizes of the source that a sentence names.
_NAMED = 2
#: Chains about sizes of the source.
_MOST_OWN = 9
#: Vocabulary, right nodes, and wrong siblings of each of them.
_WIDE: tuple[Range, Range, Range] = ((70, 110), (2, 4), (12, 40))
#: The same, and wrong roots before them all: past 256, up to which Python has one object for an integer.
_LATE: tuple[Range, Range, Range] = ((300, 400), (3, 5), (257, 275))
#: Every length up to 17 once: a mask that is right for some of them alone shows what a node does not see.
_BETWEEN = ((6, 10), (7, 11), (3, 12), (4, 13), (8, 14), (9, 15), (16, 20))
#: So many different tokens of the target show that one is given whatever it says; and a temperature so near
#: 0 that all of its draws are greedy.
_MANY, _WARM = 5, 1e-4
#: Vocabulary, nodes, nodes of the right path.
_BRANCHES: tuple[tuple[Range, Range, Range], ...] = (
    ((3, 4), (5, 8), (1, 2)),
    ((5, 6), (7, 11), (2, 3)),
    ((7, 11), (9, 14), (3, 5)),
    ((9, 30), (8, 14), (4, 6)),
    ((40, 90), (6, 12), (1, 4)),
    ((300, 900), (9, 14), (2, 5)),
)


@check(
    "parent_logits",
    "judged at the parent",
    establishes="A node is judged by the logits at its parent: what the target drafts is accepted whole.",
    roles=("verify",),
    version=13,
)
def parent_logits(bench: Bench, found: Findings) -> str:
    """Verify chains that the target drafted, and right paths among decoys in every order of listing."""
    verify = Verification(bench)
    broken: list[Broken] = []
    chains = verified(verify, found, itertools.chain(_chains(bench), _large_tokens(bench)), broken)
    draws = (_branches, _seconds, _wide, _late, _baits)
    branches = verified(verify, found, (drafted for draw in draws for drafted in draw(bench)), broken)
    cases = [*chains, *branches]
    raised = hold_broken(found, broken, cases)
    if blind := _blind(found, verify, cases):
        return blind
    name = followed(cases) or followed(chains)
    how, of = _explained(name, cases, chains)
    rule = f"what was accepted is in all {of} as by {how}" if how else ""
    otherwise = Verdict.AMBIGUOUS if name in STOPPING else Verdict.FAIL
    told = [
        _claim(
            found, verify, "chains that the target drafted, accepted whole", chains, rule, otherwise, cases
        ),
        _claim(
            found,
            verify,
            "right paths among decoys, accepted whole and nothing else",
            branches,
            rule,
            otherwise,
            cases,
        ),
    ]
    new = [case for case in cases if not case.new_fits]
    found.claim(
        "new token is the target's own after what was accepted", not new,
        measured=f"{len(cases) - len(new)} of {len(cases)}", limit=f"{len(cases)} of {len(cases)}",
        note=str(new[0]) if new else "", **verify.where,
    )  # fmt: skip
    bonus = any(case.answer.new is not None for case in chains)
    found.note(
        "new token after a chain accepted whole", "the bonus token" if bonus else "none", **verify.where
    )
    found.note("how the answer is written", verify.form.told)
    if raised:
        return f"{raised}; {rule}" if rule else raised
    if clause := next((text for text in told if text), ""):
        if otherwise is Verdict.AMBIGUOUS and not new:
            return f"{clause}; nothing wrong is accepted, and {rule}, as the challenge's steps can be read"
        return f"{clause}; {rule}" if rule else clause
    if new:
        often = f"new token is not the target's own in {len(new)} of {len(cases)} cases"
        source = f", but{source}" if (source := taken_from(cases)) else ""
        return f"{often}{source}: {new[0]}"
    return f"{len(chains)} chains and {len(branches)} right paths among decoys accepted whole"


def _blind(found: Findings, verify: Verification, cases: Sequence[Case]) -> str:
    """That nothing is accepted, and one token comes whatever the target says, or all is right above 0."""
    tokens, wanted = {case.answer.new for case in cases}, {case.wanted for case in cases}
    if any(case.answer.tokens for case in cases):
        return ""
    one = len(tokens) == 1 and None not in tokens and len(wanted) >= _MANY
    told = "nothing is ever accepted"
    told += f", and token {tokens.pop()} comes whatever the target says" if one else ""
    warm = _right_above(verify, cases)
    if not one and not warm:
        return ""
    alone = f"; at temperature {_WARM:g} all is right: temperature 0 itself is not taken for greedy"
    found.claim(
        "what is accepted at temperature 0", False, measured=told, note=str(cases[0]), **verify.where
    )  # fmt: skip
    return f"{told}, in all {len(cases)} cases{alone if warm else ''}"


def _right_above(verify: Verification, cases: Sequence[Case]) -> bool:
    """Whether the first of them are right at a temperature that is hardly one."""
    if not verify.binding.takes("temperature"):
        return False
    try:
        for case in cases[:_MANY]:
            answer = verify.answer(case.script, case.prompt, case.tree, temperature=_WARM)
            if answer.tokens != case.right:
                return False
    except Fault:
        return False
    return True


def _explained(name: str, cases: Sequence[Case], chains: Sequence[Case]) -> tuple[str, str]:
    """What explains all that was accepted, or all of chains, and of how many it is that."""
    if name in STOPPING:
        return RULES[name], f"{len(cases)} cases" if followed(cases) == name else f"{len(chains)} chains"
    whole, some = explained(cases), explained(chains)
    return (whole, f"{len(cases)} cases") if whole else (some, f"{len(chains)} chains")


def _chains(bench: Bench) -> Iterator[Drafted]:
    few = [bench.sizes("chain", number).shape(*axes) for number, axes in enumerate(_CHAINS)]
    plain = [(*axes, length) for axes in few for length in _LENGTHS]
    own = about(bench, "chains", len(plain), "depth", "V", "prompt", most=_MOST_OWN)
    others = [(*axes, length) for axes, lengths in zip(few, _BETWEEN, strict=True) for length in lengths]
    others += [bench.sizes("large", number).shape(*axes) for number, axes in enumerate(_LARGE)]
    for number, sizes in enumerate([*plain, *others]):
        rng, one = bench.rng("chain", number), own.get(number)
        axes = dict(zip(("V", "prompt", "depth"), sizes, strict=True)) | dict(one.at if one else {})
        prompt = prompt_of(rng, axes["V"], axes["prompt"])
        script = decisive(rng, axes["V"], prompt, axes["depth"] + 1)
        yield script, prompt, chain(greedy(script.rows, prompt, axes["depth"])[0]), str(one or "")


def _large_tokens(bench: Bench) -> Iterator[Drafted]:
    """Chains of two tokens each, of which some have ids that 16 bits do not hold."""
    for number, ids in enumerate(_TOKENS):
        rng = bench.rng("large tokens", number)
        vocab = bench.sizes("large tokens", number).between(*_VAST)
        prompt = prompt_of(rng, _TOKENS[0][1], 2)
        first, second, new = (int(rng.integers(*ids)) for _ in range(3))
        script = stated(rng, vocab, {prompt: first, (*prompt, first): second}, new)
        yield script, prompt, chain((first, second)), ""


def _branches(bench: Bench) -> Iterator[Drafted]:
    draws = list(itertools.product(_BRANCHES, ORDERS))
    own = about(bench, "branches", len(draws), "nodes", "V", "prompt")
    for number, (ranges, order) in enumerate(draws):
        vocab, size, right = bench.sizes("branch", number).shape(*ranges)
        rng, one = bench.rng("branch", number), own.get(number)
        axes = {"V": vocab, "nodes": size, "prompt": int(rng.integers(1, 6))}
        if one:
            # so many nodes find tokens that none of their siblings is
            axes |= {"V": max(vocab, _ROOMY), **one.at}
        prompt = prompt_of(rng, axes["V"], axes["prompt"])
        script = decisive(rng, axes["V"], prompt, right + 1)
        tree = drawn(rng, script.rows, prompt, axes["nodes"], right, order=order, bait=False)
        yield script, prompt, tree, str(one or "")


def _seconds(bench: Bench) -> Iterator[Drafted]:
    """Beside each right node, and behind the last, one with the second likeliest token."""
    for number, vocabs in enumerate(((3, 4), (5, 12), (40, 90))):
        rng, vocab = bench.rng("second", number), bench.sizes("second", number).between(*vocabs)
        prompt = prompt_of(rng, vocab, 3)
        script = decisive(rng, vocab, prompt, 3)
        right = greedy(script.rows, prompt, 2)[0]
        tokens: list[int] = []
        parents: list[int] = []
        above = -1
        for depth in range(len(right) + 1):
            second = int(np.argsort(script.rows.row((*prompt, *right[:depth])))[-2])
            tokens, parents = [*tokens, second, *right[depth : depth + 1]], [*parents, above]
            if depth < len(right):
                parents.append(above)
                above = len(tokens) - 1
        yield script, prompt, Tree(tuple(tokens), tuple(parents)), ""


def _wide(bench: Bench) -> Iterator[Drafted]:
    """Each right node among many wrong siblings, at any place."""
    own = about(bench, "wide", len(ORDERS), "siblings")
    for number, order in enumerate(ORDERS):
        vocab, right, wrong = bench.sizes("wide", number).shape(*_WIDE)
        rng, one = bench.rng("wide", number), own.get(number)
        if one:
            wrong = one.at["siblings"] - 1
            vocab = max(vocab, wrong + _ROOMY)
        prompt = prompt_of(rng, vocab, int(rng.integers(1, 6)))
        script = decisive(rng, vocab, prompt, right + 1)
        tokens: list[int] = []
        parents: list[int] = []
        above = -1
        for token in greedy(script.rows, prompt, right)[0]:
            others = [int(t) for t in rng.permutation(vocab) if t != token][:wrong]
            place = len(tokens) + int(rng.integers(wrong + 1))
            tokens += others
            tokens.insert(place, token)
            parents += [above] * (wrong + 1)
            above = place
        tree = Tree(tuple(tokens), tuple(parents))
        yield script, prompt, tree.listed(ordered(rng, tree, order)), str(one or "")


def _late(bench: Bench) -> Iterator[Drafted]:
    """A chain of right nodes behind so many wrong roots that their numbers are large."""
    vocab, right, wrong = bench.sizes("late").shape(*_LATE)
    rng = bench.rng("late")
    prompt = prompt_of(rng, vocab, 3)
    script = decisive(rng, vocab, prompt, right + 1)
    tokens = greedy(script.rows, prompt, right)[0]
    others = [int(t) for t in rng.permutation(vocab) if t != tokens[0]][:wrong]
    tree = Tree((*others, *tokens), (*[-1] * (wrong + 1), *range(wrong, wrong + right - 1)))
    yield script, prompt, tree, ""


def _baits(bench: Bench) -> Iterator[Drafted]:
    """Before each right node a wrong sibling, and another one with what the target gives after that."""
    for number, vocabs in enumerate(((4, 6), (7, 20), (30, 90))):
        rng, vocab = bench.rng("bait", number), bench.sizes("bait", number).between(*vocabs)
        prompt = prompt_of(rng, vocab, 2)
        script = decisive(rng, vocab, prompt, 3)
        tokens: list[int] = []
        parents: list[int] = []
        above, text = -1, prompt
        for token in greedy(script.rows, prompt, 2)[0]:
            for wrong in rng.permutation(vocab).tolist():
                bait = likeliest(script.rows, (*text, wrong))
                if len({token, wrong, bait}) == 3:
                    tokens, parents = [*tokens, wrong, bait], [*parents, above, above]
                    break
            tokens, parents = [*tokens, token], [*parents, above]
            above, text = len(tokens) - 1, (*text, token)
        yield script, prompt, Tree(tuple(tokens), tuple(parents)), ""


def _claim(
    found: Findings,
    verify: Verification,
    quantity: str,
    cases: Sequence[Case],
    rule: str,
    otherwise: Verdict,
    all_: Sequence[Case],
) -> str:
    """Hold what was accepted against the right paths; what is wrong in words."""
    wrong = [case for case in cases if case.too_little]
    rows = [
        (str(case.script.vocab_size), str(len(case.tree)), str(len(case.right)), _told(case))
        for case in cases
    ]
    note = f"{wrong[0]}. {rule}".strip(". ") if wrong else ""
    found.claim(
        quantity, not wrong, measured=f"{len(cases) - len(wrong)} of {len(cases)}",
        limit=f"{len(cases)} of {len(cases)}", note=note, otherwise=otherwise,
        table=(("V", "nodes", "right", "accepted"), *rows), **verify.where,
    )  # fmt: skip
    if not wrong:
        return ""
    own = list(dict.fromkeys(case.why for case in wrong))
    why = f"; the others: {' or '.join(own[:_NAMED])}" if all(own) else ""
    if not why and not rule:
        sizes = {id(case): sizes_of(case.script, case.prompt, case.tree) for case in all_}
        fine = [sizes[id(case)] for case in all_ if not case.too_little]
        off = [sizes[id(case)] for case in all_ if case.too_little]
        why = f"; wrong are{apart[1:]}" if fine and (apart := told_apart(off, fine)) else ""
        why += _bits(off, fine) if why.endswith("or more") else ""
    return f"{quantity}: {len(cases) - len(wrong)} of {len(cases)}{why}"


def _bits(off: Sequence[Mapping[str, int]], fine: Sequence[Mapping[str, int]]) -> str:
    """What ids may be kept in where large ones alone are wrong, as a clause."""
    least, most = (edge(of[LARGEST] for of in some) for edge, some in ((min, off), (max, fine)))
    kept = next((words for count, words in _KEPT.items() if most < count <= least), "")
    return f", as where ids are kept in {kept}" if kept else ""


def _told(case: Case) -> str:
    count = str(len(case.answer.tokens))
    if not case.too_little:
        return count
    return f"{count}, wrong ones among them" if case.too_much else count
