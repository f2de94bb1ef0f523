"""What stands for the host's library where NVRTC compiles: it has none, and nvcc includes some unasked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from judge_tui.checks.cuda.compilers import INCLUDE
from judge_tui.checks.cuda.toolchains import Nvrtc

__all__ = ["prelude", "stubs"]

_FLOATS = """
#define FLT_MAX 3.402823466e+38f
#define FLT_MIN 1.175494351e-38f
#define FLT_EPSILON 1.192092896e-07f
#define DBL_MAX 1.7976931348623157e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-16
#define FLT_DIG 6
#define FLT_MANT_DIG 24
"""
_LIMITS = """
#define CHAR_BIT 8
#define SHRT_MAX 32767
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 4294967295u
#define LONG_MAX 9223372036854775807L
#define LONG_MIN (-9223372036854775807L - 1)
#define ULONG_MAX 18446744073709551615UL
#define LLONG_MAX 9223372036854775807LL
#define LLONG_MIN (-9223372036854775807LL - 1)
#define ULLONG_MAX 18446744073709551615ULL
"""
#: What nvcc's own inclusion of <cmath> gives.
_MATH = """
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
#ifndef HUGE_VALF
#define HUGE_VALF INFINITY
#define HUGE_VAL __longlong_as_double(0x7ff0000000000000ll)
#endif
"""
_INTEGERS = """
typedef signed char int8_t; typedef short int16_t; typedef int int32_t; typedef long long int64_t;
typedef unsigned char uint8_t; typedef unsigned short uint16_t; typedef unsigned int uint32_t;
typedef unsigned long long uint64_t; typedef unsigned long uintptr_t; typedef long intptr_t;
#define INT8_MAX 127
#define INT16_MAX 32767
#define INT32_MAX 2147483647
#define INT32_MIN (-2147483647 - 1)
#define INT64_MAX 9223372036854775807LL
#define INT64_MIN (-9223372036854775807LL - 1)
#define UINT8_MAX 255
#define UINT16_MAX 65535
#define UINT32_MAX 4294967295u
#define UINT64_MAX 18446744073709551615ULL
"""
_CONSTANTS = """
#define CUDART_INF_F __int_as_float(0x7f800000)
#define CUDART_NAN_F __int_as_float(0x7fffffff)
#define CUDART_INF __longlong_as_double(0x7ff0000000000000ll)
#define CUDART_NAN __longlong_as_double(0xfff8000000000000ull)
#define CUDART_LOG2E_F 1.442695041f
#define CUDART_L2E_F 1.442695041f
#define CUDART_LN2_F 0.693147181f
#define CUDART_PI_F 3.141592654f
"""
#: What is written in place of headers of the host's library; all others of it are empty.
_HOST = {
    "cfloat": _FLOATS, "float.h": _FLOATS, "climits": _LIMITS, "limits.h": _LIMITS,
    "math_constants.h": _CONSTANTS,
}  # fmt: skip
#: Parts of the standard library that CUDA's own has for device code; std:: has some of it unasked.
_STANDARD = (
    "array", "bit", "cmath", "complex", "concepts", "cstddef", "cstdint", "functional", "initializer_list",
    "iterator", "limits", "numeric", "optional", "ratio", "span", "tuple", "type_traits", "utility",
    "variant",
)  # fmt: skip
_UNASKED = ("cstddef", "cstdint", "limits")
#: Those that define macros, under both of their names.
_MACROS = {"cfloat": "cfloat", "float.h": "cfloat", "climits": "climits", "limits.h": "climits"}
#: Headers of CUDA's own that device code reads; those of its host libraries are set aside with the host code.
_FOR_DEVICES = (
    "cuda_runtime.h", "cuda_fp", "cuda_bf16", "cuda_tf32", "cuda_pipeline", "cuda_awbarrier", "cuComplex.h",
    "curand_kernel.h", "mma.h", "math_constants.h", "vector_types.h", "vector_functions.h", "sm_",
    "cooperative_groups", "cub/", "cuda/", "nv/", "thrust/",
)  # fmt: skip


def prelude(nvrtc: Nvrtc, *, standard: bool) -> str:
    """What a source has without asking for it, as with nvcc.

    Args:
        nvrtc: The compiler.
        standard: Whether it names anything of ``std``.
    """
    text = "#include <cuda_runtime.h>\n" if _has(nvrtc.headers, "cuda_runtime.h") else ""
    text += _MATH
    if nvrtc.libraries:
        # its integers are those of its own library, whatever is included later
        text += "#include <cuda/std/cstdint>\n"
        if standard:
            text += "".join(f"#include <cuda/std/{name}>\n" for name in _UNASKED)
            return text + "namespace std { using namespace ::cuda::std; }\n"
    else:
        text += _INTEGERS
    return text + "namespace std {}\n"


def stubs(nvrtc: Nvrtc, device: Mapping[str, bytes], *, standard: bool) -> dict[str, str]:
    """Header → text, for what is included and not there; a file of its own that is missing stays missing.

    Args:
        nvrtc: The compiler.
        device: Relative name → device code of the submission's files.
        standard: Whether it names anything of ``std``.
    """
    found = (INCLUDE.findall(data.decode("utf-8", "replace")) for data in device.values())
    wanted = {name for pairs in found for mark, name in pairs if mark == "<" or name.startswith("cuda")}
    own = {PurePosixPath(name).name for name in device}
    made = {}
    for name in sorted(wanted):
        if PurePosixPath(name).name in own:
            continue
        if name == "cub/cub.cuh" and nvrtc.libraries:
            made[name] = _cub(nvrtc.libraries)
        elif name.startswith(_FOR_DEVICES):
            # what only a toolkit has is not made up
            if name in _HOST and not _has(nvrtc.headers, name):
                made[name] = _HOST[name]
            elif name == "cuda_runtime.h" and not nvrtc.headers:
                made[name] = ""
        elif (part := _MACROS.get(name)) and _has(nvrtc.libraries, f"cuda/std/{part}"):
            # which of them it defines where NVRTC compiles is a matter of its release
            made[name] = f"#include <cuda/std/{part}>\n{_unless_defined(_HOST[part])}"
        elif standard and name in _STANDARD and _has(nvrtc.libraries, f"cuda/std/{name}"):
            made[name] = f"#include <cuda/std/{name}>\n"
        else:
            made[name] = _HOST.get(name, "")
    return made


def _unless_defined(text: str) -> str:
    """Macros that stand where nothing else has defined them."""
    lines = text.strip().splitlines()
    return "".join(f"#ifndef {line.split()[1]}\n{line}\n#endif\n" for line in lines)


def _has(folders: tuple[Path, ...], name: str) -> bool:
    return any((folder / name).is_file() for folder in folders)


def _cub(folders: tuple[Path, ...]) -> str:
    """The algorithms of blocks and warps: those of whole devices are host code, which NVRTC refuses."""
    names = {
        f"cub/{part}/{path.name}"
        for folder in folders
        for part in ("block", "warp")
        for path in folder.glob(f"cub/{part}/{part}_*.cuh")
    }
    return "".join(f"#include <{name}>\n" for name in sorted(names))
