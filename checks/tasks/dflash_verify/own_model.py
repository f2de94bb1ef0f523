"""The submission's own target model: whether trees change what it decodes. They warn where they do.

The judge's own models cannot show that: a model that numbers the nodes of a tree by their place in the list,
and not by their depth, gives other logits for them than for the same text without a tree. Its greedy decoding
is read from verifications of empty trees, so that nothing needs to be known of its interface.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.calls import invoke
from judge_tui.checks.calling.remote import Handle, Target
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult, Fault
from judge_tui.checks.tasks.dflash_verify.drafting import ORDERS, ordered
from judge_tui.checks.tasks.dflash_verify.handing import given
from judge_tui.checks.tasks.dflash_verify.reading import Answer, read
from judge_tui.checks.tasks.dflash_verify.trees import Tokens, Tree
from judge_tui.checks.tasks.dflash_verify.verifying import Verification
from judge_tui.checks.verdict import Verdict

__all__ = ["VOCAB", "asked", "hold_own_model", "models"]

_QUANTITY = "its own target model: cycles with trees that give the tokens of its decoding without"
#: Of the submission's own model, where it is told.
VOCAB = 16
_PROMPT = (3, 1, 2)
_TOKENS = 14
#: Trees with other wrong tokens that have to change nothing where it is the places that do.
_EXCHANGED = 4
_ANSWERS = re.compile(r"^(forward|__call__|(get_|compute_)?(next_token_)?(logits|log_?probs)|predict)$")
_BUDGET = 10.0


def hold_own_model(bench: Bench, found: Findings, verify: Verification) -> str:
    """Decode with the submission's own model, without trees and with them.

    Returns:
        What differs, as a clause; empty where both agree, or nothing could be driven.
    """
    said = "no class was found that looks like a model"
    for name, model in models(bench, verify):
        if isinstance(model, Fault):
            said = f"{name} was not made: {model.message}"[:200]
            continue
        try:
            equal, cycles, first, why = _compared(bench, verify, model)
        except Fault as fault:
            said = f"{name} was not driven: {fault.message}"[:200]
            continue
        found.claim(
            _QUANTITY, equal == cycles, measured=f"{equal} of {cycles}", limit=f"{cycles} of {cycles}",
            otherwise=Verdict.WARN, note=f"{name}. {first}".strip(". "), **verify.where,
        )  # fmt: skip
        told = f"its own target, {name}, decodes otherwise with trees than without"
        return "" if equal == cycles else f"{told} in {cycles - equal} of {cycles} cycles{why}"
    found.note(_QUANTITY, said)
    return ""


def models(bench: Bench, verify: Verification) -> Iterator[tuple[str, Handle | Fault | None]]:
    """Instances of classes that answer like a model; ``None`` for the model that it uses by itself."""
    if verify.binding.patch:
        yield "the model that it uses by itself", None
        return
    for file, inventory in dict(bench.worker.loaded).items():
        for cls in inventory.get("classes", ()):
            if cls["name"] == verify.binding.name.rpartition(".")[0]:
                continue
            if any(_ANSWERS.search(method["name"]) for method in cls["methods"]):
                try:
                    made = bench.worker.call(Target(file, cls["name"]), (), _sizes(cls), budget=_BUDGET)
                except Fault as fault:
                    yield cls["name"], fault
                else:
                    yield cls["name"], made.handle


def _sizes(cls: Mapping[str, Any]) -> dict[str, int]:
    """Values for the parameters of a constructor that have no default: sizes, in all likelihood."""
    open_ = [p["name"] for p in cls["params"] or () if "default" not in p and p["kind"] != "VAR_KEYWORD"]
    return {
        name: VOCAB if re.search(r"voc|^v$|token", name.lower()) else 8 for name in open_ if name != "args"
    }


def _compared(bench: Bench, verify: Verification, model: Handle | None) -> tuple[int, int, str, str]:
    """Cycles that agree, of how many, the first that does not, and why none of those does."""
    text = _decoded(bench, verify, model)
    if _decoded(bench, verify, model) != text:
        raise BadResult("decodes one prompt in two ways")
    rng, cycles, first = bench.rng("own model"), list[_Cycle](), ""
    for start in range(_TOKENS - 2):
        follows = tuple(text[start : start + 3])
        cycle = _Cycle((*_PROMPT, *text[:start]), follows, ORDERS[start % len(ORDERS)])
        tree = cycle.tree(rng, cycle.strangers()[:3])
        answer = asked(bench, verify, model, cycle.prompt, tree)
        cycles.append(replace(cycle, came=cycle.departed(answer), drafted=tree))
        if not cycles[-1].right:
            first = first or f"{tree}: {list(answer.output)} instead of {list(follows)}"
    equal = sum(cycle.right for cycle in cycles)
    why = _why(bench, verify, model, cycles) if equal < len(cycles) else ""
    return equal, len(cycles), first, why


@dataclass(frozen=True, slots=True)
class _Cycle:
    """A verification with its own model.

    Attributes:
        prompt: Token ids.
        follows: Its decoding behind them, without trees.
        order: In which nodes are listed.
        came: What was emitted, up to the first token that is another.
        drafted: The tree.
    """

    prompt: Tokens
    follows: Tokens
    order: str
    came: Tokens = ()
    drafted: Tree = field(default_factory=lambda: Tree((), ()))

    def strangers(self) -> list[int]:
        """Tokens that are no part of the right path."""
        return [token for token in range(VOCAB // 2) if token not in self.follows]

    def tree(self, rng: np.random.Generator, wrong: list[int]) -> Tree:
        """The two right tokens, and beside each of them a wrong one with something below it."""
        tree = self.first(wrong).listed((2, 0, 3, 4, 1))
        return tree.listed(ordered(rng, tree, self.order))

    def first(self, wrong: list[int]) -> Tree:
        """The same tree, its right path listed before all other nodes."""
        return Tree((*self.follows[:2], wrong[0], wrong[1], wrong[2]), (-1, 0, -1, 2, 0))

    def exchanged(self, wrong: list[int]) -> Tree:
        """The tree that was drafted, with other tokens in the place of the wrong ones."""
        others = iter(wrong)
        tokens = (token if token in self.follows[:2] else next(others) for token in self.drafted.tokens)
        return Tree(tuple(tokens), self.drafted.parents)

    def departed(self, answer: Answer) -> Tokens:
        """What was emitted, up to the first token that is not of its own decoding."""
        pairs = enumerate(zip(answer.output, self.follows, strict=False), 1)
        return tuple(answer.output)[: next((at for at, (a, b) in pairs if a != b), len(self.follows))]

    @property
    def right(self) -> bool:
        """Whether its own decoding is what came."""
        return bool(self.came) and self.came == self.follows[: len(self.came)]


def _why(bench: Bench, verify: Verification, model: Handle | None, cycles: list[_Cycle]) -> str:
    """What it is in the trees that changes its answers, as a clause; empty where neither alone does."""

    def came(cycle: _Cycle, tree: Tree) -> Tokens:
        return cycle.departed(asked(bench, verify, model, cycle.prompt, tree))

    if any(not replace(c, came=came(c, c.first(c.strangers()))).right for c in cycles):
        return ""
    told = ", though not where the right path is listed before all other nodes"
    for cycle in cycles:
        for number in range(_EXCHANGED):
            others = bench.rng("exchanged", number).permutation(cycle.strangers()).tolist()
            if came(cycle, cycle.exchanged(others)) != cycle.came:
                return f"{told}, and otherwise with other tokens in them: it sees nodes that the mask hides"
    return (
        f"{told}, and whatever tokens those have, as where a node's position is its place in the list and "
        "not its depth below the prompt"
    )


def _decoded(bench: Bench, verify: Verification, model: Handle | None) -> list[int]:
    """Its greedy decoding without trees."""
    text: list[int] = []
    for _step in range(_TOKENS):
        answer = asked(bench, verify, model, (*_PROMPT, *text), Tree((), ()))
        if answer.new is None or answer.tokens:
            raise BadResult("gives no token after an empty tree")
        text.append(answer.new)
    return text


def asked(
    bench: Bench,
    verify: Verification,
    model: Handle | None,
    prompt: Tokens,
    tree: Tree,
    temperature: float = 0.0,
    seed: int = 0,
) -> Answer:
    """Verify a tree with the submission's own model.

    Args:
        bench: Where it runs.
        verify: The submission's.
        model: An instance of its own; ``None`` for the one that it uses by itself.
        prompt: Token ids.
        tree: What was drafted.
        temperature: 0 for greedy.
        seed: For what takes one.

    Raises:
        Fault: It raised, hung, died, or gave nothing that can be read.
    """
    inputs: dict[str, Any] = {
        **given(prompt, tree), "target_model": model, "temperature": temperature, "vocab_size": VOCAB,
        "seed": seed,
    }  # fmt: skip
    binding = replace(verify.binding, patch={})
    returned = invoke(bench.worker, binding, inputs, budget=min(_BUDGET, bench.left))
    return read(verify.form, returned.value("outcome"), prompt, tree)
