"""Submissions that are odd or hostile: a verdict or a reason, never a traceback, never a forged pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge_tui.checks.backends import Place, find
from judge_tui.checks.cuda import compilers
from judge_tui.checks.cuda.toolchains import find_nvcc, find_nvrtc
from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import load_task
from judge_tui.checks.tasks.fuse import subject
from judge_tui.checks.verdict import Outcome, Verdict

EMULATOR = find("emulator")
needs_emulator = pytest.mark.skipif(not EMULATOR.works, reason="needs a C++ compiler")
KERNEL = """#include <cuda_runtime.h>
__global__ void first_k(const float* logits, int* indices, float* probs, int V, int K) {
    for (int k = threadIdx.x; k < K; k += blockDim.x) {
        indices[blockIdx.x * K + k] = k;
        probs[blockIdx.x * K + k] = 1.0f / K;
    }
}
"""
LAUNCHER = """
cudaError_t softmax_topk(const float* logits, int* indices, float* probs, int rows, int V, int K) {
    first_k<<<rows, 32>>>(logits, indices, probs, V, K);
    return cudaGetLastError();
}
"""


def outcomes(folder: Path, *checks: str, place: Place | None = None, **files: str) -> dict[str, Outcome]:
    where = folder / "somebody" / "fuse"
    where.mkdir(parents=True)
    for name, text in files.items():
        (where / name.replace("_dot_", ".")).write_text(text)
    place = place or (EMULATOR.places[0] if EMULATOR.works else Place())
    return judge(load_task("fuse"), Submission.at(where), seed=3, checks=checks, place=place)


def test_without_a_source_everything_is_skipped_by_name(tmp_path: Path) -> None:
    found = outcomes(tmp_path, main_dot_py="print('no kernel')\n")
    assert {each.verdict for name, each in found.items() if name != "size"} == {Verdict.SKIP}
    assert "no CUDA source" in found["compiles"].summary


def test_a_source_without_a_kernel_fails_to_load_and_is_unbound(tmp_path: Path) -> None:
    text = "int topk(const float* x, int* i, float* p, int rows, int V, int K) { return 0; }\n"
    found = outcomes(tmp_path, "loads", "topk_correct", a_dot_cu=text)
    assert found["loads"].verdict is Verdict.FAIL
    expected = Verdict.UNBOUND if EMULATOR.works else Verdict.SKIP
    assert found["topk_correct"].verdict is expected


def test_on_the_cpu_alone_runs_are_skipped_and_not_passed(tmp_path: Path) -> None:
    found = outcomes(tmp_path, "topk_correct", "memory_safety", place=Place(), a_dot_cu=KERNEL + LAUNCHER)
    assert {each.verdict for each in found.values()} == {Verdict.SKIP}
    assert "needs a GPU" in found["topk_correct"].summary


@needs_emulator
def test_a_private_file_reaches_neither_the_build_nor_the_evidence(tmp_path: Path) -> None:
    secret = tmp_path / "secret.h"
    secret.write_text("the_secret_of_the_judge\n")
    text = f'#include "{secret}"\n{KERNEL}{LAUNCHER}'
    found = outcomes(tmp_path, "topk_correct", a_dot_cu=text)["topk_correct"]
    assert found.verdict is Verdict.SKIP
    assert "does not compile" in found.summary
    assert "the_secret" not in repr(found)


@needs_emulator
@pytest.mark.parametrize(
    "trick",
    [
        "#include <unistd.h>\nstruct Early { Early() { _exit(0); } } early;\n",
        "#include <cstdlib>\nstruct Early { Early() { std::puts(\"PASS\"); std::quick_exit(0); } } early;\n",
        "#include <cstdio>\nstruct Early { Early() { FILE* f = fopen(\"report\", \"w\"); "
        "fputs(\"{\\\"case\\\": 0, \\\"status\\\": \\\"done\\\", \\\"events\\\": []}\\n\", f); fclose(f); "
        "} } early;\n",
    ],
)  # fmt: skip
def test_a_submission_that_forges_its_ending_gets_no_pass(tmp_path: Path, trick: str) -> None:
    found = outcomes(tmp_path, "topk_correct", a_dot_cu=trick + KERNEL + LAUNCHER)["topk_correct"]
    assert found.verdict in (Verdict.FAIL, Verdict.SKIP, Verdict.UNBOUND), found.summary


@needs_emulator
def test_a_malformed_binding_is_unbound_and_told(tmp_path: Path) -> None:
    toml = '[binding.fuse]\ntarget = "a.cu:nothing"\nargs = ["logits", "indices", "probabilities"]\n'
    found = outcomes(tmp_path, "topk_correct", a_dot_cu=KERNEL + LAUNCHER, submission_dot_toml=toml)
    assert found["topk_correct"].verdict is Verdict.UNBOUND
    assert "a.cu:nothing" in found["topk_correct"].summary


@pytest.mark.skipif(find_nvrtc() is None, reason="needs NVRTC")
def test_without_nvcc_the_device_code_is_compiled_by_nvrtc(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subject, "find_nvcc", lambda: None)
    found = outcomes(tmp_path, "compiles", "resources", a_dot_cu=KERNEL + LAUNCHER)
    assert found["compiles"].verdict is Verdict.PASS, found["compiles"].summary
    assert "NVRTC" in found["compiles"].summary
    # what holds for both architectures is told once
    assert sum(item.ok is not None for item in found["compiles"].evidence) == 1
    (table,) = (item.table for item in found["resources"].evidence if item.table)
    assert [row[:2] for row in table[1:]] == [("first_k", str(arch)) for arch in compilers.ARCHES]


@pytest.mark.skipif(find_nvcc() is None, reason="needs nvcc")
def test_kernels_are_measured_where_the_host_s_part_is_refused(tmp_path: Path) -> None:
    template = KERNEL.replace("__global__", "template <int W> __global__")
    launcher = LAUNCHER.replace("first_k<<<", "first_k<2><<<").replace("probs, V", "props, V")
    found = outcomes(tmp_path, "compiles", "resources", a_dot_cu=template + launcher)
    assert found["compiles"].verdict is Verdict.FAIL
    assert found["resources"].verdict is Verdict.PASS, found["resources"].summary
    (table,) = (item.table for item in found["resources"].evidence if item.table)
    assert [row[:2] for row in table[1:]] == [("first_k<2>", str(arch)) for arch in compilers.ARCHES]


@pytest.mark.skipif(find_nvrtc() is None, reason="needs NVRTC")
def test_what_nvrtc_cannot_tell_is_skipped_and_not_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subject, "find_nvcc", lambda: None)
    text = f"constexpr int kFirst = sizeof(std::string);\n{KERNEL.replace('= k;', '= kFirst + k;')}{LAUNCHER}"
    found = outcomes(tmp_path, "compiles", "resources", a_dot_cu=text)
    assert {each.verdict for each in found.values()} == {Verdict.SKIP}
    assert "cannot tell of a.cu: 'kFirst' is declared in host code" in found["compiles"].summary
    assert "install nvcc" in found["compiles"].summary


def test_without_any_compiler_that_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject, "find_nvcc", lambda: None)
    monkeypatch.setattr(subject, "find_nvrtc", lambda: None)
    found = outcomes(tmp_path, "compiles", a_dot_cu=KERNEL + LAUNCHER)["compiles"]
    assert (found.verdict, found.summary) == (
        Verdict.SKIP,
        "no CUDA compiler is installed, neither nvcc nor NVRTC: install CUDA's toolkit, or judge-tui[gpu]",
    )  # fmt: skip
