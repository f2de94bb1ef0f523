"""Beam search: what the analyses say, and what is measured."""

from __future__ import annotations

import re

import numpy as np

from tools.claims.claim import Finding, Section, whether
from tools.claims.figures import each, under
from tools.claims.finished_beams import MODELS, searched, searches
from tools.claims.programs import folder, program
from tools.claims.runs import Runs

__all__ = ["BEAM", "TASK"]

TASK = "beam_search"
ALL = ("glm5", "minimax-m2.7", "qwen36")
BEAM = Section("beam", "Beam search")


@BEAM.claim("C120", "all", "finished beams stay in the running", "eos_retention, experiment")
def _(runs: Runs) -> Finding:
    won = {m: runs.said(TASK, m, "eos_retention", r"wins (\d+ of \d+)") for m in ALL}
    lost = [100 * searched(K, alpha)[2] / MODELS for K, alpha in searches()]
    found = "the finished beam wins: " + each(won.items())
    return whether(
        runs.passes(TASK, ALL, "eos_retention"),
        f"{found}; dropping them changes the winner of {min(lost):.0f} … {max(lost):.0f} % of random models",
    )


@BEAM.claim(
    "C121", "MiniMax", "a side list merged at the end is as good as a pool", "eos_retention, experiment"
)
def _(runs: Runs) -> Finding:
    kept = {m: runs.evidence(TASK, m, "eos_retention", "finished beams are kept")[0].measured for m in ALL}
    differ = max(searched(K, alpha)[0] for K, alpha in searches())
    found = each((m, str(k)) for m, k in kept.items())
    return whether(
        differ == 0, f"{found}; the returned set differs for up to {differ} of {MODELS} random models"
    )


@BEAM.claim("C122", "GLM-5, Qwen3-6", "the EOS beam scores exactly −3.0", "eos_retention, own_tests")
def _(runs: Runs) -> Finding:
    worst = [f for m in ALL for f in runs.figures(TASK, m, "eos_retention", "score against the model's")]
    printed = [
        *runs.printed(TASK, "glm5", r"tokens \[0\], score (-\d\.\d+)"),
        *runs.printed(TASK, "qwen36", r"Beam\(\[0\], logprob=(-3\.\d+)"),
    ]
    found = f"printed {', '.join(printed)}; scores {under(worst)} off the model's"
    return whether(max(worst) < 1e-12 and set(printed) == {"-3.0000"}, found)


@BEAM.claim("C123", "Qwen3-6", "the beam that goes on scores −6.0", "own_tests")
def _(runs: Runs) -> Finding:
    printed = runs.printed(TASK, "qwen36", r"Beam\(\[1, 1, 1\], logprob=(-\d\.\d+)")
    return whether(printed == ["-6.0000"], f"printed {printed[0]}")


@BEAM.claim("C124", "MiniMax", "logits of 5 and 3 print a score of 0.0000", "own_tests, experiment")
def _(runs: Runs) -> Finding:
    printed = runs.printed(TASK, "minimax-m2.7", r"tokens=\[1\] score=(-?\d\.\d+)")[0]
    true = -np.log1p(np.exp(-2.0))
    gap = -np.log(np.expm1(0.00005))
    found = f"log-softmax of 5 against 3 is {true:.3f}, printed is {printed}; 0.0000 needs a gap of {gap:.1f}"
    return whether(abs(true) < 5e-5, found)


@BEAM.claim(
    "C125", "Qwen3-6", "the penalty lets −1.0 at length 2 beat −2.0 at length 1", "length_penalty, own_tests"
)
def _(runs: Runs) -> Finding:
    printed = runs.printed(TASK, "qwen36", r"logprob=-1\.0000, finished\)  score (-\d\.\d+)")[0]
    crossed = runs.said(TASK, "qwen36", "length_penalty", r"(\d+ of \d+) winners")
    found = f"score {printed}, but see X36; on both sides of real crossovers {crossed} are right"
    return whether(
        runs.passes(TASK, ["qwen36"], "length_penalty") and abs(float(printed) + 0.66) < 0.01, found
    )


@BEAM.claim("C126", "Qwen3-6", "the penalty never enters the accumulated log-probability", "length_penalty")
def _(runs: Runs) -> Finding:
    worst = runs.figures(TASK, "qwen36", "length_penalty", "accumulated log-probability")
    return whether(max(worst) < 1e-12, f"off the model's sum by {under(worst)}")


@BEAM.claim("C127", "all", "K = 1 and alpha = 0 is greedy decoding", "greedy_equivalence")
def _(runs: Runs) -> Finding:
    found = each((m, runs.said(TASK, m, "greedy_equivalence", r"in (\d+ of \d+)")) for m in ALL)
    return whether(runs.passes(TASK, ALL, "greedy_equivalence"), found + " searches")


@BEAM.claim("C128", "all", "prompts of a batch do not mix", "batch_independence")
def _(runs: Runs) -> Finding:
    found = each((m, runs.said(TASK, m, "batch_independence", r"in (\d+ of \d+)")) for m in ALL)
    return whether(runs.passes(TASK, ALL, "batch_independence"), found + " comparisons the same to the bit")


def _line(model: str, pattern: str) -> tuple[str, int]:
    """Where a model's search has a pattern: its file and line, or line 0."""
    for path in sorted(folder(model, TASK).glob("*.py")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if re.search(pattern, line.split("#")[0]):
                return path.name, number
    return "", 0


@BEAM.claim("C129", "all", "2K candidates per beam")
def _(runs: Runs) -> Finding:
    places = {m: _line(m, r"\b2 \* (K|beam_width)\b") for m in ALL}
    return whether(
        all(line for _, line in places.values()),
        "read: " + each((m, f"{file}:{line}") for m, (file, line) in places.items()),
    )


@BEAM.claim("C130", "GLM-5", "its mock's log-softmax is exact, with the rest spread evenly")
def _(runs: Runs) -> Finding:
    module = program("glm5", TASK, "beam_search")
    told = module._log_softmax(module._make_logits(1000, {0: -3.0, 1: -4.0}))
    off = [abs(told[0] + 3), abs(told[1] + 4)]
    found = f"{under(off)} off; the other tokens stand at {told[2:].max():.1f} each, below both"
    return whether(max(off) < 1e-12 and told[2:].max() < -4, found)


@BEAM.claim("C131", "GLM-5, Qwen3-6", "'batched' means a loop over prompts", "batch_independence")
def _(runs: Runs) -> Finding:
    told = {m: str(runs.evidence(TASK, m, "batch_independence", "model calls")[0].measured) for m in ALL}
    # of the first batch: calls, then how many prompts it has, K, and steps
    calls = {m: text.split(";")[0].split(" for ")[0] for m, text in told.items()}
    batch = next(iter(told.values())).split(";")[0].split(" for ")[1]
    steps = int(batch.rpartition(", ")[2].removesuffix(" steps"))
    found = f"model calls for {batch}: " + each(calls.items())
    return whether(int(calls["minimax-m2.7"]) == steps < min(int(calls["glm5"]), int(calls["qwen36"])), found)


@BEAM.claim(
    "C132", "MiniMax", "padding without a mask changes a shorter prompt", "experiment, batch_independence"
)
def _(runs: Runs) -> Finding:
    module = program("minimax-m2.7", TASK, "beam_search")
    model = module.MinimalLanguageModel()
    alone = model.forward(np.array([[5, 6, 7]]))[0, 2]
    beside = model.forward(np.array([[5, 6, 7, 0, 0], [1, 2, 3, 4, 5]]))[0, 2]
    found = f"logits alone and beside a longer prompt: {under([float(np.max(np.abs(alone - beside)))])} apart"
    same = np.allclose(alone, beside, atol=1e-12)
    return whether(not same, found + "; its attention is causal, so that padding behind is never seen")


@BEAM.claim("C133", "all", "3, 3 and 4 tests; 1, 1 and 3 files (GLM-5, MiniMax, Qwen3-6)", "own_tests, size")
def _(runs: Runs) -> Finding:
    tests = [runs.own_tests(TASK, m) for m in ALL]
    files = [len(list(folder(m, TASK).glob("*.py"))) for m in ALL]
    found = f"{', '.join(map(str, tests))} tests; {', '.join(map(str, files))} files"
    return whether((tests, files) == ([3, 3, 4], [1, 1, 3]), found)


@BEAM.claim("C134", "Qwen3-6", "the beam has slots")
def _(runs: Runs) -> Finding:
    beam = program("qwen36", TASK, "beam_search").Beam([])
    slots = getattr(type(beam), "__slots__", ())
    return whether(bool(slots) and not hasattr(beam, "__dict__"), f"{', '.join(slots)}; no dict on a beam")
