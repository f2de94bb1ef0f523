"""How far back a decoder's step sees: all that came, or the newest tokens alone, as where a window slides."""

from __future__ import annotations

import ast
import re
from contextlib import suppress
from typing import Any

import numpy.typing as npt

from judge_tui.checks.check import Findings
from judge_tui.checks.faults import Fault
from judge_tui.checks.sources import parsed
from judge_tui.checks.submission import ADAPTER
from judge_tui.checks.tasks.kv.faces.maker import Maker
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.sentences import Sentences
from judge_tui.checks.tolerance import same_bits
from judge_tui.checks.verdict import Verdict

__all__ = ["judge_reach"]

Array = npt.NDArray[Any]
#: Tokens of a prompt before a step: where the newest alone are seen, they are as many after each.
_PROMPTS = (9, 12)
_WORDS = re.compile(
    r"(?i)window|sliding|rolling|circular|\blocal\b|_local|local_|ring_?buffer|"
    r"\b(?:newest|latest|last|most recent) \w+ tokens"
)


def judge_reach(subject: Subject, found: Findings, said: Sentences, make: Maker, words: str) -> None:
    """A decoder whose last step a changed first token does not change: its step may see a window.

    The same number of newest tokens after prompts of two lengths is one. A source that says so is right; one
    that says nothing warns. Whatever else is seen, or nothing, fails.

    Args:
        subject: The submission's decoder.
        found: Gathers the evidence.
        said: What is wrong is added.
        make: Makes it.
        words: What it is, for the evidence.
    """
    quantity = f"{words}: a changed first token changes the last step"
    window = 0
    with suppress(Fault):
        window = _window(subject, make)
    if not window:
        found.claim(quantity, False, measured="changes nothing", limit="changes", **subject.where("decode"))
        said.append("decode steps do not depend on the first token" if words == "decoder" else
                    f"{words}: steps do not depend on the first token")  # fmt: skip
        return
    told = _says_so(subject)
    seen = f"the newest {window} tokens before it are seen, after any prompt"
    if told:
        found.note(
            quantity, "changes nothing", limit="changes", note=f"{seen}; “{told}” stands in its source"
        )
        return
    found.claim(
        quantity, False, measured="changes nothing", limit="changes", note=seen, otherwise=Verdict.WARN,
        **subject.where("decode"),
    )  # fmt: skip
    said.append(f"{words}: a step sees the newest {window} tokens before it, and nothing says so")


def _window(subject: Subject, make: Maker) -> int:
    """How many of the newest tokens a step sees beside its own; 0 where that is not what it sees."""
    seen = [_seen(subject, make, prompt) for prompt in _PROMPTS]
    newest = len(seen[0])
    alike = all(moved == list(range(prompt - newest, prompt))
                for moved, prompt in zip(seen, _PROMPTS, strict=True))  # fmt: skip
    return newest if alike and newest < _PROMPTS[0] else 0


def _seen(subject: Subject, make: Maker, prompt: int) -> list[int]:
    """The tokens of a prompt that change the step after it."""
    one = make(1)
    given = one.draw(subject.bench.rng("reach", prompt), prompt + 1)

    def stepped(tokens: Array) -> Array:
        decoder = make(1)
        decoder.prefill(tokens[:, :prompt])
        return decoder.decode(tokens[:, prompt])

    truth, moved = stepped(given), []
    for token in range(prompt):
        other = given.copy()
        ids = given.dtype.kind == "i"
        other[:, token] = (given[:, token] + 1) % one.sizes.vocab if ids else given[:, token] + 1.0
        if not same_bits(stepped(other), truth):
            moved.append(token)
    return moved


def _says_so(subject: Subject) -> str:
    """What in a decoder's file, comments aside, speaks of the newest tokens; empty when nothing does."""
    binding = subject.main("decode", "prefill")
    if binding.file == ADAPTER:
        return ""
    with suppress(SyntaxError):
        code = ast.unparse(parsed(subject.bench.submission.read_bytes(binding.file)))
        return told.group() if (told := _WORDS.search(code)) else ""
    return ""
