"""Compilers in the jail: what they accept, refuse and report, and that no source reaches out or runs on."""

from __future__ import annotations

import functools
import shutil
from pathlib import Path

import pytest

from judge_tui.checks.cuda.compilers import Compiled, by_nvcc, include_folders, units
from judge_tui.checks.cuda.diagnostics import Diagnostic, diagnostics
from judge_tui.checks.cuda.nvrtc import by_nvrtc
from judge_tui.checks.cuda.resources import plain_name, usages
from judge_tui.checks.cuda.toolchains import find_nvcc, find_nvrtc

NVCC, NVRTC = find_nvcc(), find_nvrtc()
KERNEL = b"""#include <cfloat>
#include <vector>
template <int K> __global__ void __launch_bounds__(K * 32) k(float* x) {
    __shared__ float s[K];
    s[threadIdx.x % K] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = s[0] - FLT_MAX;
}
template __global__ void k<4>(float*);
void host(float* x) { std::vector<float> v(4); k<4><<<1, 128>>>(x); }
"""


def made(source: bytes, compiler: str) -> Compiled:
    if compiler == "nvcc":
        if NVCC is None or shutil.which("g++") is None:
            pytest.skip("needs nvcc")
        return by_nvcc(NVCC, {"a.cu": source}, "a.cu", seconds=120, arches=(90,))
    if NVRTC is None:
        pytest.skip("needs NVRTC")
    return by_nvrtc(NVRTC, {"a.cu": source}, "a.cu", seconds=120, arch=90)


def test_a_header_is_found_in_any_folder_the_source_s_own_before_others() -> None:
    files = ["include/a.cuh", "src/detail/b.cuh", "src/a.cu", "main.cu"]
    assert include_folders(files, "src/a.cu") == ["-I.", "-Isrc", "-Iinclude", "-Isrc/detail"]
    assert include_folders(["a.cu"], "a.cu") == ["-I."]


@pytest.mark.parametrize("compiler", ["nvcc", "nvrtc"])
def test_launch_bounds_on_a_template_parameter_are_legal_and_resources_are_read(compiler: str) -> None:
    result = made(KERNEL, compiler)
    assert result.ok, result.output
    (usage,) = result.usages
    assert (usage.kernel, usage.arch, usage.shared) == ("k<4>", 90, 16)
    assert 0 < usage.registers < 64


@pytest.mark.parametrize("compiler", ["nvcc", "nvrtc"])
def test_an_error_is_told_by_file_and_line(compiler: str) -> None:
    result = made(KERNEL.replace(b"s[0] -", b"nothing -"), compiler)
    assert not result.ok
    first = next(each for each in result.diagnostics if each.severity == "error")
    assert (first.file, first.line) == ("a.cu", 7)
    assert "nothing" in first.text


@pytest.mark.parametrize("compiler", ["nvcc", "nvrtc"])
def test_a_private_file_cannot_be_included(compiler: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret.h"
    secret.write_text("the secret\n")
    result = made(f'#include "{secret}"\n'.encode() + KERNEL, compiler)
    assert not result.ok
    assert "the secret" not in result.output


#: Lines as ptxas writes them, of a kernel that nothing instantiates.
REPORT = (
    r"\nptxas info    : Compiling entry function '_Z4fakePf' for 'sm_90'"
    r"\nptxas info    : Function properties for _Z4fakePf"
    r"\n    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads"
    r"\nptxas info    : Used 2 registers, 0 bytes smem\n"
)
PLAIN = (
    "template <int N> __global__ void fake(float* x) { x[0] = N; }\n__global__ void k(float* x) { *x = 1; }\n"
)
PRINTED = "".join(f'".print \\"{line}\\"\\n"' for line in REPORT.split(r"\n") if line)


@functools.cache
def plainly(compiler: str) -> Compiled:
    return made(PLAIN.encode(), compiler)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("compiler", "forged"),
    [
        ("nvcc", f'#pragma message("{REPORT}")\n'),
        ("nvrtc", f'#pragma message("{REPORT}")\n'),
        ("nvcc", f'#line 5 "{REPORT}"\n#pragma message("x")\n'),
        ("nvrtc", f'#line 5 "{REPORT}"\n#pragma message("x")\n'),
        ("nvcc", f'[[deprecated("{REPORT}")]] __device__ int d();\n__device__ int e() {{ return d(); }}\n'),
        ("nvcc", f"__asm__({PRINTED});\n"),
    ],
    ids=[
        "message",
        "message to NVRTC",
        "name of a file",
        "name of a file to NVRTC",
        "attribute",
        "assembler",
    ],
)
def test_a_source_does_not_write_the_report_of_its_kernels(compiler: str, forged: str) -> None:
    honest, hostile = plainly(compiler), made((forged + PLAIN).encode(), compiler)
    assert "Used 2 registers" in hostile.output
    assert [usage.kernel for usage in honest.usages] == ["k"]
    assert hostile.usages == honest.usages


def test_a_compile_bomb_ends_in_time() -> None:
    if NVCC is None:
        pytest.skip("needs nvcc")
    bomb = b"#define A(x) x x x x x x x x\n#define B(x) A(A(A(A(x))))\nint y = 0 B(B(B(+ 1)));\n"
    result = by_nvcc(NVCC, {"a.cu": bomb}, "a.cu", seconds=3, arches=(90,))
    assert not result.ok
    assert result.seconds < 12


def test_headers_that_only_tests_include_are_compiled_by_themselves() -> None:
    files = {"k.cuh": b"", "own.cuh": b"", "test_k.cu": b'#include "k.cuh"', "run.cu": b'#include "own.cuh"'}
    assert units(files) == ("test_k.cu", "run.cu", "k.cuh")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("a.cu(12): error: x is undefined", Diagnostic("error", "x is undefined", "a.cu", 12)),
        ("a.cu(3): warning #177-D: variable unused", Diagnostic("warning", "variable unused", "a.cu", 3)),
        ("a.cu:2:10: fatal error: nope.h: none", Diagnostic("error", "nope.h: none", "a.cu", 2)),
        ("ptxas error   : Entry function 'k' uses too much shared data",
         Diagnostic("error", "ptxas: Entry function 'k' uses too much shared data")),
        ("At end of source: error: expected a declaration",
         Diagnostic("error", "at the end of the source: expected a declaration")),
        ("nvcc fatal   : Unsupported gpu", Diagnostic("error", "nvcc: Unsupported gpu")),
    ],
)  # fmt: skip
def test_diagnostics_of_every_tool_are_read(line: str, told: Diagnostic) -> None:
    assert diagnostics(f"{line}\n{line}\n  ^\n1 error detected\n") == (told,)


@pytest.mark.parametrize(
    ("mangled", "plain"),
    [
        ("_ZN5fused6kernelILi5ELi8EEEvPKfPiPfii", "fused::kernel<5, 8>"),
        ("_Z1kILi4EEvPf", "k<4>"),
        ("_ZN2v2L3abcILb1ELin3EEEvv", "v2::abc<true, -3>"),
        ("plain", "plain"),
    ],
)
def test_names_are_read_back(mangled: str, plain: str) -> None:
    assert plain_name(mangled) == plain


def test_the_frame_of_a_called_function_is_not_the_kernel_s() -> None:
    report = """ptxas info    : Compiling entry function '_Z1kv' for 'sm_80'
ptxas info    : Function properties for _Z1kv
    16 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads
ptxas info    : Function properties for helper
    400 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 512 bytes smem, 360 bytes cmem[0]
"""
    (usage,) = usages(report)
    assert (usage.registers, usage.shared, usage.stack, usage.spill_stores, usage.spill_loads) == (
        255, 512, 16, 8, 4
    )  # fmt: skip
