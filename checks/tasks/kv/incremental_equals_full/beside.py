"""A step of the submission's own, wrong beside parts that are right when they are put together."""

from __future__ import annotations

import re

from judge_tui.checks.check import Findings
from judge_tui.checks.tasks.kv.finding.trials import EQUALS
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words.sentences import Sentences
from judge_tui.checks.verdict import Verdict

__all__ = ["judge_beside"]

_STEP = re.compile(r"decode|step|cached|with_?cache", re.I)
_TRIED = re.compile(rf"(?P<named>\S+\.py:\S+): runs, error \S+: {EQUALS} (?P<mistake>.+)$")


def judge_beside(subject: Subject, found: Findings, said: Sentences) -> None:
    """Tell of a call named after a decode step that ran in trials, and whose every answer is a usual mistake.

    It warns: the cache and the attention that are bound are right together, and that the call takes
    single tokens is read off its name alone.
    """
    if subject.mode in ("", "fused"):
        return
    for line in subject.bench.bindings.rejected.get("step", ()):
        match = _TRIED.search(line)
        if match is None or not _STEP.search(match["named"].rpartition(":")[2]):
            continue
        file, _, name = match["named"].rpartition(":")
        targets = {binding.target for binding in subject.bound.values()}
        if match["named"] in targets:
            continue
        found.claim(
            f"{name}, called for one token after another, equals full attention", False,
            measured=f"{EQUALS} {match['mistake']}", limit="full causal attention", otherwise=Verdict.WARN,
            note="the cache and the attention beside it are right when they are put together", file=file,
        )  # fmt: skip
        said.append(f"{name} answers as if {match['mistake']}")
        return
