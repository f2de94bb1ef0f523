"""A template that a host picks by V or K is its own business; one that something else picks is offered."""

from __future__ import annotations

import pytest

from judge_tui.checks.cuda.definitions import Function, Parameter
from judge_tui.checks.tasks.fuse.dispatch import picked_by_sizes
from judge_tui.checks.tasks.fuse.launcher import Launcher


@pytest.mark.parametrize(
    ("body", "picked"),
    [
        ("{ if (V <= 32) f<1>(x); else f<2>(x); }", True),
        ("{ const int slots = (V + 31) / 32; if (slots <= 1) { f<1>(x); } else { f<2>(x); } }", True),
        ("{ switch (K) { case 1: f<1>(x); break; case 2: f<2>(x); } }", True),
        ("{ if (warps == 1) f<1>(x); else f<4>(x); }", False),
        ("{ if (K <= 32) { if (warps == 1) { f<1>(x); } else { f<4>(x); } } }", False),
        ("{ if (V < 1) return; switch (warps) { case 1: f<1>(x); break; case 4: f<4>(x); } }", False),
        ("{ if (V <= 32) f<1>(x); }", False),
    ],
)
def test_what_decides_between_templates(body: str, picked: bool) -> None:
    parameters = tuple(Parameter("int", name) for name in ("x", "V", "K", "warps"))
    host = Function("host", "host", parameters, body=body)
    launcher = Launcher("a.cu", "host", ("logits", "V", "K", "=4"))
    assert picked_by_sizes(host, launcher, "f") is picked
