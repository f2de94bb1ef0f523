"""The CUDA reconstructions on the emulator, for experiments that no check makes.

Each program is a reconstruction's file, some words of it replaced by counting ones, and a call of its
launcher; it is compiled and run as the checks do it, in their sandbox.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from judge_tui.checks.cuda.compilers import Compiled, by_nvcc
from judge_tui.checks.cuda.emulator import UNWRITTEN_INDEX, Answer, Case, Failure, Program, build
from judge_tui.checks.cuda.nvrtc import by_nvrtc
from judge_tui.checks.cuda.reading import Reading, read
from judge_tui.checks.cuda.toolchains import find_nvcc, find_nvrtc
from tools.claims.programs import folder

__all__ = [
    "KERNELS", "Kernel", "RowsTold", "calls_of", "compiled", "counted", "in_order", "launched", "normal",
    "reading", "refused_by_the_compiler", "text", "told",
]  # fmt: skip

TASK = "fuse"
_ARGS = "logits, (int*)indices, probabilities"
_COUNTERS = """
__device__ unsigned long long judge_count;
template <class T> __device__ T judge_read(const T* from, long long at) {
    atomicAdd(&judge_count, sizeof(T) / sizeof(float));
    return from[at];
}
__device__ inline void judge_step() { atomicAdd(&judge_count, 1ull); }
"""
_DRIVER = """
{counters}
#include "{file}"
extern "C" int judge_launch(
    const float* logits, void* indices, float* probabilities, long long rows, long long V, int K) {{
    const int B = 1, T = (int)rows;
    const int status = (int)({call});
    if (status != 0 || {plain}) return status;
    unsigned long long count = 0;
    cudaMemcpyFromSymbol(&count, judge_count, sizeof count);
    return (int)count;
}}
"""


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel of a reconstruction.

    Attributes:
        model: Folder of the submission.
        file: Its file.
        call: Of its launcher; K is handed on.
        loads: How it reads a logit, as written → the counting form.
    """

    model: str
    file: str
    call: str
    loads: tuple[tuple[str, str], ...]


def _glm5(warps: int) -> str:
    return f"fused::launch_fused_softmax_topk<10, {warps}>({_ARGS}, (int)rows, (int)V)"


KERNELS = {
    "GLM-5": Kernel(
        "glm5", "fused_softmax_topk.cuh",
        f"K == 10 ? {_glm5(1)} : K == 102 ? {_glm5(2)} : K == 104 ? {_glm5(4)} : {_glm5(8)}",
        (("row_logits[j]", "judge_read(row_logits, j)"),),
    ),
    "Qwen3-6 v1": Kernel(
        "qwen36", "fused_softmax_topk.cu", f"fused_softmax_topk({_ARGS}, B, T, (int)V, K, 0)",
        (("x[i]", "judge_read(x, i)"),),
    ),
    "Qwen3-6 v2": Kernel(
        "qwen36", "fused_softmax_topk_v2.cu", f"fused_softmax_topk_v2({_ARGS}, B, T, (int)V, K, 0)",
        (("x4[i]", "judge_read(x4, i)"), (" x[i]", " judge_read(x, i)"), ("(x[i]", "(judge_read(x, i)")),
    ),
    "MiniMax": Kernel(
        "minimax-m2.7", "fused_softmax_topk.cu", f"launch_fused_softmax_topk({_ARGS}, B, T, (int)V, K, 0)",
        (("row[v]", "judge_read(row, v)"),),
    ),
}  # fmt: skip


def text(name: str) -> str:
    """The source of a kernel, as it stands."""
    kernel = KERNELS[name]
    return (folder(kernel.model, TASK) / kernel.file).read_text()


def _mended(name: str) -> str:
    """The source with MiniMax's one undeclared name put right."""
    return text(name).replace("topp_prob", "topk_prob")


@cache
def _program(name: str, replaced: tuple[tuple[str, str], ...] = ()) -> Program:
    kernel, source = KERNELS[name], _mended(name)
    for old, new in replaced:
        if old not in source:
            raise LookupError(f"{kernel.file} of {kernel.model} has no {old!r}")
        source = source.replace(old, new)
    driver = _DRIVER.format(
        counters=_COUNTERS, file=kernel.file, call=kernel.call, plain=str(not replaced).lower()
    )
    made = build(driver, {kernel.file: source.encode()})
    if isinstance(made, Failure):
        raise RuntimeError(f"{name}: {made.reason}")
    return made


def launched(name: str, logits: npt.NDArray[np.float32], K: int, stride: int = 0) -> Answer:
    """Launch a kernel once.

    Args:
        name: A key of :data:`KERNELS`.
        logits: (rows, V).
        K: What the launcher is asked for; GLM-5 takes 10 for one warp per block, 102, 104 and 108 for more.
        stride: Entries between rows of the output; K where left out.

    Raises:
        RuntimeError: The source does not compile.
    """
    stride = stride or (10 if name == "GLM-5" else K)
    return _program(name).run([Case(logits, K, stride)], budget_s=120)[0]


@cache
def counted(name: str, replaced: tuple[tuple[str, str], ...] = (), V: int = 1000, K: int = 0) -> float:
    """Logits that a kernel reads per logit of the row, or how often what was replaced came about, per row.

    Args:
        name: A key of :data:`KERNELS`.
        replaced: Words of the source → counting ones (``judge_step()``); its loads when left out.
        V: Of the two rows that are launched.
        K: 10, or 16 where that has no instance, when left out.

    Raises:
        LookupError: The source has no such words.
        RuntimeError: The source does not compile, or nothing was counted.
    """
    logits = normal(2, V, seed=3)
    K = K or (16 if "Qwen" in name else 10)
    answer = _program(name, replaced or KERNELS[name].loads).run([Case(logits, K, K)], budget_s=120)[0]
    if answer.status != "refused" or answer.device_error:
        raise RuntimeError(f"{name} counts nothing: {answer.status}, {answer.ended}")
    return answer.code / (2 if replaced else 2 * V)


def refused_by_the_compiler(name: str) -> Failure:
    """What a compiler says of a source as it stands.

    Raises:
        LookupError: It says nothing: the source compiles.
    """
    kernel = KERNELS[name]
    driver = _DRIVER.format(counters=_COUNTERS, file=kernel.file, call=kernel.call, plain="true")
    made = build(driver, {kernel.file: text(name).encode()})
    if not isinstance(made, Failure):
        raise LookupError(f"{name} compiles")
    return made


@cache
def compiled(name: str) -> Compiled:
    """A mended source, compiled by nvcc, or its device code by NVRTC where there is no nvcc.

    Raises:
        RuntimeError: Neither of them is here.
    """
    files = {KERNELS[name].file: _mended(name).encode()}
    nvcc, nvrtc = find_nvcc(), find_nvrtc()
    if nvcc is not None:
        return by_nvcc(nvcc, files, KERNELS[name].file, seconds=400, arches=(90,))
    if nvrtc is None:
        raise RuntimeError("neither nvcc nor NVRTC is here: install the extra gpu")
    return by_nvrtc(nvrtc, files, KERNELS[name].file, seconds=400, arch=90)


@cache
def reading(name: str) -> Reading:
    """What a source defines, comments aside."""
    return read({KERNELS[name].file: text(name).encode()})


def normal(rows: int, V: int, *, seed: int, scale: float = 1.0) -> npt.NDArray[np.float32]:
    """Normal logits (rows, V), ``scale`` their standard deviation."""
    return np.random.default_rng(seed).normal(scale=scale, size=(rows, V)).astype(np.float32)


@dataclass(frozen=True, slots=True)
class RowsTold:
    """How rows of an answer stand to the truth.

    Attributes:
        right: Rows whose indices and probabilities are right.
        written: Rows of which anything was written.
        mass: Mean of probability found over probability due, over the rows that were written.
        places: Per place of the answer, whether every row has the right logit there.
    """

    right: int
    written: int
    mass: float
    places: tuple[bool, ...]


def told(answer: Answer, logits: npt.NDArray[np.float32], K: int) -> RowsTold:
    """Hold an answer against a softmax and a sort in float64.

    Args:
        answer: Of a launch.
        logits: (rows, V), what was launched on.
        K: Places of every row that are looked at.
    """
    if answer.indices is None or answer.probabilities is None:
        return RowsTold(0, 0, float("nan"), ())
    right, masses, places = 0, list[float](), np.ones(K, bool)
    for x, found, p in zip(logits, answer.indices[:, :K], answer.probabilities[:, :K], strict=True):
        if (found == UNWRITTEN_INDEX[str(found.dtype)]).all():
            continue
        z = x.astype(np.float64)
        due = np.exp(z - z.max()) / np.exp(z - z.max()).sum()
        top = np.sort(x)[::-1][:K]
        inside = (found >= 0) & (found < len(x))
        same = inside & (x[np.where(inside, found, 0)] == top)
        places &= same
        exact = np.exp(top.astype(np.float64) - z.max()) / np.exp(z - z.max()).sum()
        right += bool(same.all()) and bool(np.allclose(p, exact, rtol=1e-5, atol=1e-37))
        masses.append(float(p.sum() / np.sort(due)[::-1][:K].sum()))
    return RowsTold(right, len(masses), float(np.mean(masses)) if masses else float("nan"), tuple(places))


def in_order(hits: Sequence[int]) -> str:
    """Numbers as the page lists them: ``"100, 268, 1,632"``."""
    return ", ".join(f"{hit:,}" for hit in hits)


def calls_of(name: str, functions: Sequence[str]) -> Mapping[str, int]:
    """How often functions are called in a kernel's source, comments and definitions aside."""
    source = re.sub(r"/\*.*?\*/|//[^\n]*", "", text(name), flags=re.S)
    return {
        each: len(re.findall(rf"\b{each}\s*(?:<[^<>;]*>)?\s*\(", source))
        - sum(function.short == each for function in reading(name).functions)
        for each in functions
    }
