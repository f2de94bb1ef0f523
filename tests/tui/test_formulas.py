"""Formulas of a statement: readable where all of them is known, else as they were written."""

from __future__ import annotations

import time

import pytest

from judge_tui.tui.look.formulas import readable


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (r"$\frac{1}{N}\sum_{i=1}^{N} x_i^2$", "(1/N)∑ᵢ₌₁ᴺ xᵢ²"),
        (r"$y = \frac{a+b}{2}$", "y = (a+b)/2"),
        (r"$\frac{1}{2} r^2 + \log\frac 12$", "(1/2) r² + log(1/2)"),
        (r"\(1 \le n \leq 10^{5}\)", "1 ≤ n ≤ 10⁵"),
        (r"\[ \hat y \in \mathbb{R}^{n \times d} \]", "ŷ ∈ ℝ^(n × d)"),
        (r"$$\left| x \right| = \sqrt{x^2}, \sqrt[3]{a-1}$$", "| x | = √(x²), ³√(a-1)"),
        (r"$2\log x$, $\exp\log x$, $O(n \log n)$", "2 log x, exp log x, O(n log n)"),
        (r"$\tilde n \vec x \mathbf{W}^\top f'(x)$", "ñ vec(x) Wᵀ f′(x)"),
        (r"$\begin{cases} 1 & \text{if } x > 0 \\ 0 & \text{else} \end{cases}$", "{ 1, if x > 0; 0, else"),
        (r"$\begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix}$", "[1 2; 3 4]"),
        ("$a_{i,j}$ over\n$x_{t-1}$", "a_(i,j) over\nxₜ₋₁"),
    ],
)  # fmt: skip
def test_usual_formulas_are_readable(written: str, shown: str) -> None:
    assert readable(written) == shown


@pytest.mark.parametrize(
    "text",
    [
        r"$\underbrace{x}_{n}$",
        r"$x^$, ${$, $}$, $\frac{1}$, $\begin{cases} 1$",
        "$5 and $6, or $5-$6, or US$ 3 and US$ 4",
        "`$x^2$`",
        "```\n$x^2$\n```",
        "    price = $x^2$",
        r"\$x^2\$",
        "$a\0b$",
        "$" + "{" * 40 + "}" * 40 + "$",
        "$a\n\nb$",
    ],
)
def test_what_is_none_or_unusual_stays_as_it_is(text: str) -> None:
    assert readable(text) == text


@pytest.mark.parametrize("part", ["$", "$x", "\\(", "\\[ x", "\\\\(", "`", "```\n", "x\\(", "$x^{"])
def test_a_hostile_text_is_read_in_one_go(part: str) -> None:
    before = time.process_time()
    readable(part * 20_000)
    assert time.process_time() - before < 2.0
