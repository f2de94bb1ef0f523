"""What NVRTC says of a source counts where it can know: none is refused for what NVRTC is not shown."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from judge_tui.checks.cuda.compilers import Compiled, units
from judge_tui.checks.cuda.nvrtc import by_nvrtc
from judge_tui.checks.cuda.repairs import cuda_sources, repaired
from judge_tui.checks.cuda.standards import stated
from judge_tui.checks.cuda.toolchains import find_nvrtc
from judge_tui.checks.sources import is_side_program

NVRTC = find_nvrtc()
pytestmark = pytest.mark.skipif(NVRTC is None, reason="needs NVRTC")
ROOT = Path(__file__).parents[3]
RIGHT = [
    *sorted((ROOT / "tests/checks/tasks/fuse/twins").iterdir()),
    *sorted((ROOT / "submissions").glob("*/fuse")),
]
HEAD = "#include <cuda_runtime.h>\n"


def made(*lines: str, **files: str) -> Compiled:
    assert NVRTC is not None
    sources = {"a.cu": "\n".join(lines).encode(), **{k: v.encode() for k, v in files.items()}}
    return by_nvrtc(NVRTC, sources, "a.cu", seconds=120, arch=90)


@pytest.mark.parametrize(
    "path", RIGHT, ids=lambda path: path.parent.name if path.name == "fuse" else path.stem
)
def test_right_code_is_accepted_whatever_its_host_part_leans_on(path: Path) -> None:
    assert NVRTC is not None
    names = [each for each in path.rglob("*") if each.is_file()] if path.is_dir() else [path]
    files = {
        str(each.relative_to(path if path.is_dir() else path.parent)): each.read_bytes() for each in names
    }
    sources = repaired(files).files
    for unit in units(sources):
        if not is_side_program(unit):
            standard = stated(files.values())
            found = by_nvrtc(NVRTC, sources, unit, seconds=120, arch=90, standard=standard)
            assert found.ok, (unit, found.blind, found.output[:2000])
    assert cuda_sources(sources)


@pytest.mark.parametrize(
    "code",
    [
        "__global__ void k(float* x) { x[0] = -INFINITY + NAN; }",
        "#include <math_constants.h>\n__global__ void k(float* x) { x[0] = -CUDART_INF_F; }",
        "#include <climits>\n#include <cfloat>\n__global__ void k(float* x) { x[INT_MAX] = FLT_MAX; }",
        "#include <cstdint>\n__global__ void k(int64_t* x, std::uint8_t* y) { x[0] = INT32_MAX + y[0]; }",
        "#include <limits>\n__global__ void k(float* x) { *x = -std::numeric_limits<float>::infinity(); }",
        "#include <type_traits>\n__global__ void k(float* x) { *x = std::is_same<int, float>::value; }",
        "__global__ void k(cudaStream_t* x, dim3 y) { x[y.x] = nullptr; }",
    ],
)
def test_what_nvcc_knows_of_the_host_s_library_is_known(code: str) -> None:
    found = made(code)
    assert found.ok, found.output
    assert found.diagnostics == ()


@pytest.mark.parametrize(
    ("code", "why"),
    [
        (
            "constexpr int kRoom = sizeof(std::string);\n__global__ void k(int* x) { x[0] = kRoom; }",
            "'kRoom' is declared in host code",
        ),
        ("__global__ void k(int* x) { std::sort(x, x + 3); }", "no standard library of C++"),
        ("#include <cub/nothing.cuh>\n__global__ void k(int* x) {}", "<cub/nothing.cuh> is not to be had"),
    ],
)
def test_what_nvrtc_is_not_shown_is_no_fault_of_the_source(code: str, why: str) -> None:
    found = made(HEAD, code)
    assert not found.ok
    assert why in found.blind


@pytest.mark.parametrize(
    "code",
    [
        "__global__ void k(float* x) { x[0] = nothing; }",
        "__global__ void k(float* x) { x[0] = 1 }",
        '#include "missing.cuh"\n__global__ void k(float* x) {}',
        "int host() { return cudaGetLastError(); }\n__global__ void k(float* x) { x[0] = undeclared; }",
    ],
)
def test_what_is_wrong_in_device_code_is_a_refusal(code: str) -> None:
    found = made(HEAD, code)
    assert not found.ok
    assert found.blind == ""
    assert found.diagnostics[0].file == "a.cu"


@pytest.mark.parametrize(
    "code",
    [
        '#line 1 "/usr/include/math.h"\n__global__ void k(float* x) { x[0] = nothing; }',
        '  %: /* */ line 1 "math.h"\n__global__ void k(float* x) { x[0] = nothing; }',
        '#\\\n 1 "/usr/include/math.h" 3\n__global__ void k(float* x) { x[0] = nothing; }',
        '#include "/proc/self/cmdline"\n__global__ void k(float* x) {}',
    ],
)
def test_an_error_is_not_another_files_because_the_source_says_so(code: str) -> None:
    found = made(HEAD, code)
    assert not found.ok
    assert found.blind == ""


def test_without_headers_of_cuda_s_own_nothing_is_made_up() -> None:
    assert NVRTC is not None
    bare = replace(NVRTC, headers=(), libraries=())
    source = b"#include <cuda_fp16.h>\n__global__ void k(__half* x) { x[0] = __float2half(1.0f); }\n"
    found = by_nvrtc(bare, {"a.cu": source}, "a.cu", seconds=60, arch=90)
    assert found.blind == "<cuda_fp16.h> is not to be had here"
    plain = b"#include <cuda_runtime.h>\n__global__ void k(float* x, int64_t n) { x[n] = -INFINITY; }\n"
    assert by_nvrtc(bare, {"a.cu": plain}, "a.cu", seconds=60, arch=90).ok
