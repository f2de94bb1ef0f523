"""CUDA submissions on a card: verdicts against the emulator's, and what the reconstructions are known for."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from judge_tui.checks.backends import Place, find
from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import Task, load_task
from judge_tui.checks.verdict import Evidence, Outcome

__all__ = ["fuse"]

Outcomes = Mapping[str, Outcome]
#: By how much a card's clock may differ from the emulator's count: caches serve some, arithmetic takes time.
_NEAR = 0.5
_ENDLESS_SECONDS = 30.0
_RIGHT = """#include <cuda_runtime.h>
__global__ void top_k(const float* logits, int* indices, float* probs, int V, int K) {
    const float* x = logits + (long long)blockIdx.x * V;
    if (threadIdx.x) return;
    float top = x[0];
    for (int v = 1; v < V; ++v) top = fmaxf(top, x[v]);
    float sum = 0;
    for (int v = 0; v < V; ++v) sum += expf(x[v] - top);
    int last = -1;
    for (int k = 0; k < K; ++k) {
        int best = -1;
        for (int v = 0; v < V; ++v) {
            const bool left = last < 0 || x[v] < x[last] || (x[v] == x[last] && v > last);
            if (left && (best < 0 || x[v] > x[best])) best = v;
        }
        last = best;
        indices[(long long)blockIdx.x * K + k] = best;
        probs[(long long)blockIdx.x * K + k] = expf(x[best] - top) / sum;
    }
    BODY
}
extern "C" int softmax_topk(const float* logits, int* indices, float* probs, int rows, int V, int K) {
    top_k<<<rows, 32>>>(logits, indices, probs, V, K);
    return (int)cudaGetLastError();
}
"""
_ENDLESS = _RIGHT.replace("BODY", "volatile float* p = probs; while (p[0] < 2.0f) {}")


def fuse(gpu: Place, submissions: Sequence[Submission]) -> Iterator[str]:
    """Lines of the report; ``FAILS`` stands in one that does not hold."""
    task, emulator = load_task("fuse"), find("emulator").places
    passes: dict[str, float] = {}
    for submission in submissions:
        checks = [
            check.id for check in task.checks if check.id not in ("size", "loads", "throughput", "own_tests")
        ]
        began = time.monotonic()
        there = judge(task, submission, seed=1, checks=checks, place=gpu)
        yield f"- {submission.model}: {time.monotonic() - began:.1f} s"
        here = judge(task, submission, seed=1, checks=checks, place=emulator[0]) if emulator else {}
        yield from _compared(here, there)
        yield from _variants(there)
        yield from _passes(here, there, passes)
    if gpu.gpu:
        yield from _designs(passes)
    yield from _endless(task, gpu)


def _compared(here: Outcomes, there: Outcomes) -> Iterator[str]:
    """Each verdict beside the emulator's; only a card can tell some."""
    for id, outcome in there.items():
        other = here.get(id)
        alone = other is None or other.verdict == "skip"
        if alone or other.verdict == outcome.verdict:
            yield f"  - {id}: {outcome.verdict}, {outcome.summary}"
        else:
            yield (
                f"  - {id}: FAILS to agree: {outcome.verdict} on the card, {outcome.summary}; "
                f"{other.verdict} by the emulator, {other.summary}"
            )


def _variants(there: Outcomes) -> Iterator[str]:
    """Rows that warps of one block share are mixed up exactly where a block has more than one of them."""
    told = [e for e in there["rows_independent"].evidence if e.quantity.startswith("WARPS_PER_BLOCK")]
    for warps, alone in ((1, True), (8, False)):
        ours = [e for e in told if e.quantity.partition(":")[0].split(",")[0].endswith(f"= {warps}")]
        if ours:
            right = all(each.ok for each in ours)
            word = "holds" if right == alone else "FAILS"
            yield f"  - rows with {warps} warps per block are {'apart' if right else 'mixed up'}: {word}"


def _passes(here: Outcomes, there: Outcomes, passes: dict[str, float]) -> Iterator[str]:
    """Effective reads of V by the clock, beside the loads that the emulator counts, by launcher."""
    measured = _numbers(there.get("global_passes"), "effective reads of V")
    counted = _numbers(here.get("global_passes"), "loads per logit of ")
    names = list(counted)
    for name, value in measured.items():
        launcher = name or (names[0] if names else "")
        passes[launcher] = value
        if launcher in counted:
            word = "holds" if abs(value - counted[launcher]) <= _NEAR else "FAILS"
            told = f"{value:.2f} by the clock, {counted[launcher]:.3g} counted"
            yield f"  - passes of {launcher}: {told}: {word}"


def _numbers(outcome: Outcome | None, quantity: str) -> dict[str, float]:
    """Launcher → figure, of the evidence whose quantity begins so; an empty name is the bound one."""
    found: dict[str, float] = {}
    for each in outcome.evidence if outcome else ():
        if each.quantity.startswith(quantity):
            found[_named(each, quantity)] = float(each.measured)  # type: ignore[arg-type]
    return found


def _named(evidence: Evidence, quantity: str) -> str:
    return evidence.quantity.removeprefix(quantity).partition(", counted")[0].lstrip(", ")


def _designs(passes: Mapping[str, float]) -> Iterator[str]:
    """That one pass, two and three are told apart."""
    for wanted in (1, 2, 3):
        near = [name for name, value in passes.items() if abs(value - wanted) <= _NEAR]
        word = f"holds: {', '.join(near)}" if near else "FAILS: none"
        yield f"- a design of {wanted} pass{'es' if wanted > 1 else ''}: {word}"


def _endless(task: Task, gpu: Place) -> Iterator[str]:
    """A kernel that never ends is killed within its budget and fails; the next is judged on a clean card."""
    short = replace(task, checks=tuple(replace(each, budget=_ENDLESS_SECONDS) for each in task.checks))
    with tempfile.TemporaryDirectory() as folder:
        for name, text, wanted in (
            ("endless", _ENDLESS, "fail"),
            ("right", _RIGHT.replace("BODY", ""), "pass"),
        ):
            where = Path(folder, name, "fuse")
            where.mkdir(parents=True)
            (where / "top_k.cu").write_text(text)
            began = time.monotonic()
            outcome = judge(short, Submission.at(where), seed=1, checks=["topk_correct"], place=gpu)[
                "topk_correct"
            ]
            took = time.monotonic() - began
            kept = outcome.verdict == wanted and took < 2 * _ENDLESS_SECONDS
            told = f"{outcome.verdict} after {took:.1f} s, {outcome.summary}"
            yield f"- a kernel that is {name}: {'holds' if kept else 'FAILS'}, {told}"
