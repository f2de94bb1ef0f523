"""Running a submission's verification on scripted models, and what is held against its answers."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from judge_tui.checks.answers import Answer as Asked
from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.faults import BadResult
from judge_tui.checks.tasks.dflash_verify.contract import CONTRACT, PROMPT_LEN, TREE_SIZE, VOCAB, probed
from judge_tui.checks.tasks.dflash_verify.handing import ends, given
from judge_tui.checks.tasks.dflash_verify.reading import Answer, Form, Key, read
from judge_tui.checks.tasks.dflash_verify.scripts import Script, constant
from judge_tui.checks.tasks.dflash_verify.trees import Tokens, Tree, accepted, likeliest, shown

__all__ = ["Case", "Verification", "first_departure"]


@dataclass(frozen=True, slots=True)
class Case:
    """One verification at temperature 0: what was asked and what came.

    Attributes:
        script: The target model.
        prompt: Token ids.
        tree: What was drafted.
        answer: What came.
        right: Tokens of the longest right path.
        why: What its sizes are about, where that is the submission's own source.
    """

    script: Script
    prompt: Tokens
    tree: Tree
    answer: Answer
    right: Tokens
    why: str = ""

    @property
    def lossless(self) -> bool:
        """Whether the accepted tokens and the new one are what greedy decoding gives."""
        return first_departure(self.script, self.prompt, self.answer.output) is None

    @property
    def drafted(self) -> bool:
        """Whether what was accepted is a path of the tree."""
        nodes = self.answer.nodes
        return self.tree.is_path(nodes) if nodes else self.tree.drafted(self.answer.tokens)

    @property
    def too_much(self) -> bool:
        """Whether something was accepted beyond the right path."""
        return not self.drafted or self.answer.tokens != self.right[: len(self.answer.tokens)]

    @property
    def too_little(self) -> bool:
        """Whether a right node was refused."""
        return self.answer.tokens != self.right

    @property
    def wanted(self) -> int:
        """The target's own token after what was accepted."""
        return likeliest(self.script.rows, (*self.prompt, *self.answer.tokens))

    @property
    def new_fits(self) -> bool:
        """Whether the new token is the target's own; none may come where all of a path was accepted."""
        if self.answer.new is None:
            return bool(self.answer.tokens) and not self.rejected
        return self.answer.new == self.wanted

    @property
    def rejected(self) -> bool:
        """Whether what was accepted has children in the tree, all of them refused."""
        level = {-1}
        for token in self.answer.tokens:
            level = {c for node in level for c in self.tree.children(node) if self.tree.tokens[c] == token}
        return any(self.tree.children(node) for node in level)

    def __str__(self) -> str:
        told = f"accepted {shown(self.answer.tokens)}, then {self.answer.new}"
        wanted = f"{shown(self.right)}, then {likeliest(self.script.rows, (*self.prompt, *self.right))}"
        own = f"{self.why}: " if self.why else ""
        where = f"{own}V = {self.script.vocab_size}, prompt {shown(self.prompt)}, {self.tree}"
        return f"{where}: {told} instead of {wanted}"


def first_departure(script: Script, prompt: Sequence[int], output: Sequence[int]) -> int | None:
    """Index of the first token that greedy decoding would not have given; ``None`` when there is none."""
    text = list(prompt)
    for index, token in enumerate(output):
        if token != likeliest(script.rows, text):
            return index
        text.append(token)
    return None


class Verification:
    """The submission's verification.

    Args:
        bench: Where it runs.

    Attributes:
        forwards: Calls of the target model per verification, as the worker counted them; untrusted.
        written: Answers of the target model that were written into, as the worker saw; untrusted.

    Raises:
        Fault: Unbound, or it cannot even answer a chain that any rule accepts.
    """

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.binding = bench.binding("verify")
        returns = self.binding.returns
        self._places: dict[str, Key] = {
            name: returns[name].steps[-1][1] for name in ("accepted", "new_token") if name in returns
        }
        self.forwards: list[int] = []
        self.written = 0
        self.form = self._settled()

    @property
    def where(self) -> dict[str, Any]:
        """File and line, for evidence."""
        return {"file": self.binding.file, "line": self.binding.line or None}

    def _settled(self) -> Form:
        """The form of its answers: from a chain of one token that the model predicts everywhere."""
        rng = self.bench.rng("form")
        low = PROMPT_LEN + TREE_SIZE
        prompt, token = tuple(int(t) for t in rng.permutation(range(low, VOCAB - 1))[:PROMPT_LEN]), VOCAB - 1
        tree = Tree((token,) * 3, (-1, 0, 1))
        inputs = self._inputs(constant(rng, VOCAB, token), prompt, tree)
        form, answer = probed(self._value(inputs), inputs, token, self._places)
        if answer.tokens:
            # a chain that is accepted whole, and no token more than it has
            whole = form.closing and form.new is None and len(answer.output) == len(tree)
            return replace(form, bonus=not whole)
        sample = dict(CONTRACT.sample(rng).inputs)
        other, seen = probed(self._value(sample), sample, -1, self._places)
        return other if seen.tokens else form

    def _inputs(
        self, script: Script, prompt: Tokens, tree: Tree, temperature: float = 0.0, seed: int = 0,
        eos: int | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        return {
            **given(prompt, tree), **ends(eos), "target_model": script.model(prompt),
            "temperature": temperature, "vocab_size": script.vocab_size, "seed": seed,
        }  # fmt: skip

    def _value(
        self, inputs: dict[str, Any], worker: Worker | None = None, budget: float | None = None
    ) -> Any:
        returned = self.bench.call("verify", inputs, worker=worker, budget=budget)
        self.forwards.append(int(returned.result.counters.get("model_calls", 0)))
        self.written += int(returned.result.counters.get("model_answers_changed", 0))
        return returned.value("outcome")

    def answer(
        self,
        script: Script,
        prompt: Sequence[int],
        tree: Tree,
        *,
        temperature: float = 0.0,
        seed: int = 0,
        eos: int | None = None,
        worker: Worker | None = None,
        budget: float | None = None,
    ) -> Answer:
        """Verify a tree.

        Args:
            script: The target model.
            prompt: Token ids.
            tree: What was drafted.
            temperature: 0 for greedy.
            seed: For what takes one.
            eos: The EOS id, for what takes one; one that never comes when left out.
            worker: Another process than the shared one.
            budget: Seconds, at most what the check has left.

        Raises:
            Fault: It raised, hung, died, or gave no accepted nodes and new token of the vocabulary.
        """
        inputs = self._inputs(script, tuple(prompt), tree, temperature, seed, eos)
        answer = read(self.form, self._value(inputs, worker, budget), prompt, tree)
        if outside := [t for t in answer.output if not 0 <= t < script.vocab_size]:
            raise BadResult(f"gave token {outside[0]}, outside the vocabulary of {script.vocab_size}")
        return answer

    def __call__(
        self,
        script: Script,
        prompt: Sequence[int],
        tree: Tree,
        *,
        worker: Worker | None = None,
        why: str = "",
    ) -> Case:
        """Verify a tree at temperature 0, and say beside it what was right, and why it is of its sizes."""
        right = accepted(script.rows, prompt, tree)
        with contextlib.nullcontext(Asked()) if worker else self.bench.answers.one() as asked:
            answer = self.answer(script, prompt, tree, worker=worker)
            case = Case(script, tuple(prompt), tree, answer, right, why)
            asked.fine = case.lossless
        return case
