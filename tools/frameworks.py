"""Answers in JAX, PyTorch, Triton, C++ and Rust judged for real: ``make frameworks``, by hand, aside.

Prints a table, and ends with 1 where a verdict is another than it must be. What is not installed is a skip.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from judge_tui.checks.challenges.challenge import Challenge, Settings
from judge_tui.checks.challenges.task import made
from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission

__all__ = ["main"]

_NUMBERS = '''"""RMS normalisation with its gradient by x."""
import numpy as np
GRADIENTS = ["x"]
def reference(x, gain, eps=1e-3):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * gain
def inputs(rng, rows, width):
    return {"x": rng.standard_normal((rows, width)), "gain": rng.uniform(1.2, 3.0, width)}
CASES = [dict(rows=6, width=5), dict(rows=3, width=40)]
'''
_TORCH = """import torch

def forward(x: torch.Tensor, gain: torch.Tensor):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-3) * gain

def backward(dout, x, gain):
    x = x.clone().requires_grad_(True)
    forward(x, gain).backward(dout)
    return x.grad
"""
_JAX = """import jax
import jax.numpy as jnp
jax.config.update("jax_enable_x64", True)

@jax.jit
def forward(x, gain):
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-3) * gain

def backward(dout, x, gain):
    return jax.vjp(lambda x: forward(x, gain), x)[1](dout)[0]
"""
_TRITON = """import torch
import triton
import triton.language as tl

@triton.jit
def norm(x, gain, out, width, eps, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    there = at < width
    v = tl.load(x + row * width + at, mask=there, other=0.0)
    g = tl.load(gain + at, mask=there, other=0.0)
    r = 1.0 / tl.sqrt(tl.sum(v * v) / width + eps)
    tl.store(out + row * width + at, v * r * g, mask=there)

def forward(x: torch.Tensor, gain: torch.Tensor):
    out, width = torch.empty_like(x), x.shape[1]
    norm[(x.shape[0],)](x.contiguous(), gain, out, width, 1e-3, BLOCK=triton.next_power_of_2(width))
    return out
"""
_MODEL = """import torch
from torch import nn

class ModelNew(nn.Module):
    def __init__(self, eps=1e-3):
        super().__init__()
        self.eps = eps

    def forward(self, x, gain):
        return x / torch.sqrt((x * x).mean(-1, keepdim=True) + self.eps) * gain
"""
_NUMPY = """import numpy as np

def forward(x, gain):
    r = 1 / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-3)
    return x * r * gain, (x * r, r, gain)

def backward(dout, cache):
    unit, r, gain = cache
    g = dout * gain
    return r * (g - unit * (g * unit).mean(-1, keepdims=True))
"""
_CPP = """#include <cmath>
#include <iostream>
int main() {
    int n; std::cin >> n;
    double s = 0, q = 0, v;
    for (int i = 0; i < n; i++) { std::cin >> v; s += v; q += v * v; }
    std::cout.precision(12);
    std::cout << s / n << " " << std::sqrt(q / n - s / n * s / n) << "\\n";
}
"""
_RUST = """use std::io::Read;
fn main() {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).unwrap();
    let v: Vec<f64> = text.split_whitespace().skip(1).map(|w| w.parse().unwrap()).collect();
    let m = v.iter().sum::<f64>() / v.len() as f64;
    let s = (v.iter().map(|x| (x - m) * (x - m)).sum::<f64>() / v.len() as f64).sqrt();
    println!("{} {}", m, s);
}
"""
_READS = "values = np.array(open(0).read().split()[1:], float)\nprint(values.mean(), values.std())\n"
_READS_BY_JAX = """import jax
import jax.numpy as jnp
jax.config.update("jax_enable_x64", True)
values = jnp.asarray([float(word) for word in open(0).read().split()[1:]])
print(values.mean(), values.std())
"""
_WRONG = {
    "torch-wrong": ("a.py", _TORCH.replace("1e-3", "1e-4")),
    "jax-wrong": ("a.py", _JAX.replace("1e-3", "1e-4")),
    "triton-wrong": ("a.py", _TRITON.replace("1e-3", "1e-4")),
}

_ANSWERS: Mapping[str, tuple[str, str]] = {
    "numpy": ("a.py", _NUMPY), "torch": ("a.py", _TORCH), "jax": ("a.py", _JAX),
    "model-new": ("a.py", _MODEL), "triton": ("a.py", _TRITON),
    **_WRONG,
}  # fmt: skip
_PROGRAMS: Mapping[str, tuple[str, str]] = {
    "numpy": ("a.py", f"import numpy as np\n{_READS}"),
    "jax": ("a.py", _READS_BY_JAX),
    "c++": ("a.cpp", _CPP),
    "rust": ("a.rs", _RUST),
}  # fmt: skip


def main() -> int:
    """Judge all, print what came out, and say whether it is what it must be."""
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        bad = _numbers(root / "rms") + _programs(root / "spread")
    return 1 if bad else 0


def _numbers(root: Path) -> int:
    folder = root / "challenge"
    _write(folder, "challenge.py", _NUMBERS)
    return _table(Challenge("rms", str(folder)), root, _ANSWERS, ("loads", "accuracy", "gradients", "purity"))


def _programs(root: Path) -> int:
    folder = root / "challenge"
    _write(folder / "cases" / "sample", "1.in", "3\n1 2 3\n")
    _write(folder / "cases" / "sample", "1.ans", "2.0 0.816496580928\n")
    return _table(
        Challenge("spread", str(folder), Settings(compare="float 1e-5")), root, _PROGRAMS, ("loads", "sample")
    )


def _table(
    challenge: Challenge, root: Path, answers: Mapping[str, tuple[str, str]], checks: tuple[str, ...]
) -> int:
    task, bad = made(challenge), 0
    for name, (file, text) in answers.items():
        _write(root / name, file, text)
        found = judge(task, Submission(name, challenge.id, root / name), seed=1, checks=checks)
        must = {"fail", "skip"} if name.endswith("-wrong") else {"pass", "skip", "warn", "unbound"}
        verdict = str(found[checks[1]].verdict)
        bad += verdict not in must
        for check, outcome in found.items():
            print(
                f"{challenge.id:8}{name:12}{check:12}{outcome.verdict:8}{outcome.summary[:100]}", flush=True
            )
    return bad


def _write(folder: Path, file: str, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / file).write_text(text)


if __name__ == "__main__":
    sys.exit(main())
