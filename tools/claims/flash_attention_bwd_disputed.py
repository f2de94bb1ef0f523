"""Flash attention, backward: where the analyses contradict themselves."""

from __future__ import annotations

import numpy as np

from tools.claims.claim import Finding, Section, settled
from tools.claims.error_metrics import by_element, by_maximum_norm
from tools.claims.figures import each, rounded, span, under
from tools.claims.flash_attention_bwd import (
    ALL,
    DESCENDING,
    OTHER_QUERIES,
    TASK,
    both,
    divides_alike,
    inputs,
    program_of,
    variant,
)
from tools.claims.flash_attention_bwd_own_tests import (
    MATRIX_MB,
    PUBLISHED_DQ,
    PUBLISHED_DV,
    noise,
    peaks,
    printed_errors,
    subtests,
)
from tools.claims.runs import Runs

__all__ = ["CONTRADICTIONS"]

CONTRADICTIONS = Section("flash-bwd-x", "Flash attention, backward: contradictions", "Settled")


@CONTRADICTIONS.claim("X40", "Qwen3-6", "7.2e-7 is the highest dV error, 100 times below 1e-5", "own_tests")
def _(runs: Runs) -> Finding:
    printed = printed_errors(runs, "dV")
    highest = max(PUBLISHED_DV, key=PUBLISHED_DV.__getitem__)
    found = (
        f"published: 1e-5 is {1e-5 / PUBLISHED_DV['qwen36']:.1f} times 7.2e-7, and 8.5e-6 is higher; "
        "printed here: " + each((m, rounded(f)) for m, f in printed.items())
    )
    return settled(
        highest == "glm5.1" == max(printed, key=printed.__getitem__), found, "GLM-5.1's is, 14 times, not 100"
    )


@CONTRADICTIONS.claim("X41", "GLM-5.1", "2.7e-5 is 1000 times Kimi's 1.7e-11")
def _(runs: Runs) -> Finding:
    ratio = PUBLISHED_DQ["glm5.1"] / PUBLISHED_DQ["kimi-k2.6"]
    return settled(
        ratio > 1e6, f"the ratio of the two is {rounded(ratio)}", "1.6 million times; and two metrics, X43"
    )


@CONTRADICTIONS.claim(
    "X42", "all", "Kimi's difference errors are lower, so its precision is best", "experiment, gradients"
)
def _(runs: Runs) -> Finding:
    rows = {step: noise(step) for step in (1e-4, 1e-5, 1e-6)}
    ours = {
        m: max(
            runs.figures(
                TASK, m, "gradients", "dV, relative error per row against the analytic gradient, float64"
            )
        )
        for m in ALL
    }
    found = "one right dV: " + "; ".join(
        f"step {step:.0e} {rounded(a, 1)} (outputs subtracted) or {rounded(b, 1)} (losses)"
        for step, (a, b) in rows.items()
    )
    return settled(
        rows[1e-6][1] > 100 * rows[1e-4][0] and max(ours.values()) < 1e-12,
        found + "; against the analytic gradient all four are " + under(ours.values()),
        "step and summation make the published spread; all four are exact",
    )


@CONTRADICTIONS.claim("X43", "GLM-5.1", "dQ 2.7e-5 off the full backward is a numerical issue")
def _(runs: Runs) -> Finding:
    module = program_of("glm5.1")
    rows = []
    for seed in range(3):
        Q, K, V, dO = inputs((1, 2, 256, 64), seed)
        _, kept = module.flash_attention_fwd(Q, K, V, 64, causal=True)
        dQ = module.flash_attention_bwd(dO, kept, 64, causal=True)[0]
        ref = module.naive_backward(dO, Q, K, V, causal=True)[0]
        below = by_element(dQ[:, :, 1:], ref[:, :, 1:], 1e-10)
        rows.append((by_maximum_norm(dQ, ref), by_element(dQ, ref, 1e-10), below))
    norm, element_, without = (list(column) for column in zip(*rows, strict=True))
    found = (
        f"the same dQ by maximum norm: {under(norm)}; element by element with a floor of 1e-10: "
        f"{span(element_)}, and {under(without)} without row 0, where dQ is exactly 0"
    )
    return settled(max(norm) < 1e-13 and max(without) < min(element_), found, "it is the metric")


@CONTRADICTIONS.claim(
    "X44", "all", "log 0 makes (−inf) + (−inf) = NaN in the forward", "experiment, masked_rows"
)
def _(runs: Runs) -> Finding:
    with np.errstate(all="ignore"):
        low = np.float64(-np.inf)
        forward, backward, finite = low + np.log(np.float64(0.0)), np.exp(low - low), np.exp(low - -1e30)
    verdicts = {runs.verdict(TASK, m, "masked_rows") for m in ALL}
    found = f"−inf + log 0 = {forward}; exp(−inf − (−inf)) = {backward}; with a finite stand-in {finite}"
    return settled(
        np.isneginf(forward) and np.isnan(backward) and finite == 0 and verdicts == {"fail"},
        found + "; the check fails all four",
        "the NaN comes in the backward, guarded or not (C149)",
    )


@CONTRADICTIONS.claim(
    "X45", "GLM-5.1", "break is a bug, and right, and would break with another order of queries"
)
def _(runs: Runs) -> Finding:
    case = ((1, 2, 64, 8), 16)
    plain, other, down = (
        both(m, *case)
        for m in (program_of("glm5.1"), variant("glm5.1", OTHER_QUERIES), variant("glm5.1", DESCENDING))
    )
    same = plain[0].tobytes() == other[0].tobytes()
    wrong = not np.allclose(plain[0], down[0])
    found = (
        f"queries in reverse: {'same' if same else 'other'} bits; "
        f"keys in reverse: {'wrong' if wrong else 'right'}"
    )
    return settled(same and wrong, found, "right; only the order of keys matters")


@CONTRADICTIONS.claim("X46", "Qwen3-6", "dividing late is less stable")
def _(runs: Runs) -> Finding:
    same = divides_alike()
    return settled(same, "bit for bit the same" if same else "other bits", "it is the same division")


@CONTRADICTIONS.claim(
    "X47", "Qwen3-6, GLM-5", "Qwen3-6 alone goes beyond three tests; GLM-5 has one more", "own_tests"
)
def _(runs: Runs) -> Finding:
    beyond = {m: n - 3 for m, n in subtests(runs).items()}
    return settled(
        beyond["glm5"] > 0 < beyond["qwen36"], each((m, str(n)) for m, n in beyond.items()), "both do"
    )


@CONTRADICTIONS.claim("X48", "Kimi K2.6", "checks all elements of dV, and only a sample", "own_tests")
def _(runs: Runs) -> Finding:
    whole = runs.printed(TASK, "kimi-k2.6", r"(dV \(all \d+ elements\))")
    part = runs.printed(TASK, "kimi-k2.6", r"(d[QK] \(\d+ random elements\))")
    return settled(bool(whole and part), ", ".join(whole + part), "all of dV, a sample of dQ and dK")


@CONTRADICTIONS.claim("X49", "Kimi K2.6", "13.4 MB is below 20 % of one matrix", "own_tests")
def _(runs: Runs) -> Finding:
    published = 13.4 / MATRIX_MB
    here = peaks(runs)["kimi-k2.6"] / MATRIX_MB
    found = f"{100 * published:.2f} % of {MATRIX_MB:.1f} MB as published, {100 * here:.1f} % here"
    return settled(published < 0.2, found, "by 0.03 points, if the base is a float32 matrix")


CONTRADICTIONS.listed("X55", "GLM-5, GLM-5.1", "the identity is the paper's equation 12", "external")
