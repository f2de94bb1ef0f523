"""Layer normalisation: where the analyses contradict themselves."""

from __future__ import annotations

from tools.claims.claim import Finding, Section, settled
from tools.claims.figures import each, rounded, span
from tools.claims.layer_norm import ALL, TASK, entries, variances
from tools.claims.layer_norm_differences import noise
from tools.claims.runs import Runs

__all__ = ["CONTRADICTIONS"]

CONTRADICTIONS = Section("backwards-x", "Layer normalisation: contradictions", "Settled")


@CONTRADICTIONS.claim("X15", "all", "three, four or twelve entries are the best cache", "cache_minimality")
def _(runs: Runs) -> Finding:
    sizes = {model: len(entries(runs, model)) for model in ALL}
    verdicts = {model: runs.verdict(TASK, model, "cache_minimality") for model in ALL}
    return settled(
        list(verdicts.values()) == ["pass", "warn", "fail"],
        each((m, f"{sizes[m]} ({verdicts[m]})") for m in ALL),
        "three is the least; D is a shape; nine of twelve are never used",
    )


@CONTRADICTIONS.claim("X16", "GLM-5", "the third entry is called after the model", "cache_minimality")
def _(runs: Runs) -> Finding:
    names = [row[0] for row in entries(runs, "glm5")]
    return settled(
        "gamma" in names, ", ".join(names), "it is gamma; a renaming of the folder went through the text"
    )


@CONTRADICTIONS.claim("X17", "Qwen3-6", "naive variance breaks at offset 1e8, or at 1e10")
def _(runs: Runs) -> Finding:
    offsets = (1e8, 1e9, 1e10, 1e12)
    naive = {offset: variances(offset)[0] for offset in offsets}
    cells = (f"{o:.0e}: {', '.join(f'{v:.3g}' for v in naive[o])}" for o in offsets)
    return settled(
        naive[1e8] == [2.0, 2.0, 0.0] and naive[1e10] == [0.0, 0.0, 0.0] and any(naive[1e12]),
        "naive variance of 0…4, 1…5, −2…2 at " + "; ".join(cells),
        "both, on different data; and 0 is not where it stays",
    )


@CONTRADICTIONS.claim("X18", "Qwen3-6", "seven edge cases, or five", "own_tests")
def _(runs: Runs) -> Finding:
    tests = runs.own_tests(TASK, "qwen36")
    return settled(tests == 7, f"{tests} tests", "five inputs at an edge, and two tests of another kind")


@CONTRADICTIONS.claim("X19", "all", "difference errors rank the models: two times, five times better")
def _(runs: Runs) -> Finding:
    seeds = [noise(1e-5, seed) for seed in range(20)]
    steps = {step: noise(step, 0) for step in (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)}
    found = f"one exact gradient: {span(seeds)} over 20 seeds; " + "; ".join(
        f"step {step:.0e} {rounded(error, 1)}" for step, error in steps.items()
    )
    return settled(
        max(seeds) / min(seeds) > 2 and max(steps.values()) / min(steps.values()) > 100,
        found,
        "noise of step and seed; all three gradients are exact (C001)",
    )


@CONTRADICTIONS.claim("X51", "GLM-5", "its tests cover edge cases", "own_tests, size")
def _(runs: Runs) -> Finding:
    said = runs.outcomes(TASK, "glm5", "size")[0].summary
    return settled(said.endswith(" 0 tests"), said, "there are none")
