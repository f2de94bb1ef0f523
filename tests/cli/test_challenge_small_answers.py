"""Right answers that are small: zeros fail by calibrated limits, and pass under an absolute tolerance."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]
SMALL = {
    "softmax": (
        "n=393_216",
        "(x):\n    e = np.exp(x - x.max(axis=-1, keepdims=True))\n"
        "    return e / e.sum(axis=-1, keepdims=True)",
        '{"x": rng.standard_normal((2, n)).astype(np.float32)}',
    ),
    "frobenius": (
        "n=1024", "(x):\n    return x / np.sqrt((x * x).sum())",
        '{"x": rng.standard_normal((n, n)).astype(np.float32)}',
    ),
    "rows_over_their_norm": (
        "n=262_144", "(x):\n    return x / np.sqrt((x * x).sum(axis=-1, keepdims=True))",
        '{"x": rng.uniform(size=(2, n)).astype(np.float32)}',
    ),
    "mean_of_many": (
        "n=300_000", "(x):\n    return x.mean(axis=0)",
        '{"x": rng.standard_normal((n, 4)).astype(np.float32)}',
    ),
    "weights_of_many_keys": (
        "n=65_536",
        "(q, k):\n    s = k @ q / np.sqrt(len(q))\n    e = np.exp(s - s.max())\n    return e / e.sum()",
        '{"q": rng.standard_normal(16).astype("f4"), "k": rng.standard_normal((n, 16)).astype("f4")}',
    ),
}  # fmt: skip


def zeros(cli: Cli, name: str, *more: str) -> str:
    """What is said of zeros."""
    told = cli("challenge", "check", name, *more)
    return next(line for line in told.out.splitlines() if "zeros" in line)


@pytest.mark.campaign
@pytest.mark.parametrize("name", SMALL)
def test_zeros_fail_small_answers_by_calibrated_limits_and_pass_under_an_absolute_one(
    name: str, cli: Cli, root: Path
) -> None:
    case, reference, inputs = SMALL[name]
    folder = root / "challenges" / name
    folder.mkdir(parents=True)
    (folder / "challenge.py").write_text(
        f"import numpy as np\n\nCASES = [dict({case})]\n\n\ndef reference{reference}\n\n\n"
        f"def inputs(rng, n):\n    return {inputs}\n"
    )
    assert "✓ zeros" in zeros(cli, name)
    assert "✗ zeros: passes" in zeros(cli, name, "--tolerance", "atol=1e-2,rtol=1e-2")
