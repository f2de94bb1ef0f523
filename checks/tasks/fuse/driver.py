"""The driver: a small C++ text that includes a submission and launches it in the one way that checks know.

It defines ``extern "C" int judge_launch(logits, indices, probabilities, rows, V, K)`` on device pointers. K
carries, in its upper bits, which of several launchers is meant, so that one build serves all variants, and
whether every row is to be a sequence of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from judge_tui.checks.tasks.fuse.launcher import Launcher

__all__ = ["NOT_INSTANTIATED", "UNKNOWN", "UNSAID", "VARIANT_BITS", "driver", "encoded", "included"]

#: What ``judge_launch`` gives besides the launcher's own error codes.
NOT_INSTANTIATED, UNKNOWN = -1, -2
#: What is added to the error of a launch of which a launcher says that it went well.
UNSAID = 1 << 20
#: K has these bits; the launcher's number stands above them, and above that whether B is the number of rows.
VARIANT_BITS, _SEQUENCES_BIT = 20, 30

_HEAD = """#include <cuda_runtime.h>
{includes}
namespace judge {{
struct Job {{
    const float* logits; void* indices; void* probabilities;
    long long rows, B, T, V, stride; int K; cudaStream_t stream;
}};
// what a launcher says; where it says that all went well, and an error of a launch was left unread, that
inline int said(int code) {{
    const int left = (int)cudaPeekAtLastError();
    return code || !left ? code : {unsaid} + left;
}}
// room for what a launcher gives beside the answer, one number per row
inline void* per_row(long long rows) {{
    static void* room = nullptr;
    static long long held = 0;
    if (rows > held) {{
        cudaFree(room);
        cudaMalloc(&room, (held = rows) * sizeof(double));
    }}
    return room;
}}
// room that a launcher asks its caller for
inline void* scratch(size_t bytes) {{
    static void* room = nullptr;
    static size_t held = 0;
    if (room == nullptr || bytes != held) {{
        cudaFree(room);
        room = nullptr;
        // what asks for nothing is called with room all the same, or it would only ask again
        if (cudaMalloc(&room, bytes ? bytes : 1) == cudaSuccess) held = bytes;
        else room = nullptr;
    }}
    return room;
}}
// what is handed over as whatever its parameter is: a value, a reference or a pointer
template <class P> struct Whole {{
    P* at;
    operator P&() const {{ return *at; }}
    operator P*() const {{ return at; }}
}};
"""
_TAIL = """
}}  // namespace judge
extern "C" int judge_launch(
    const float* logits, void* indices, void* probabilities, long long rows, long long V, int coded) {{
    judge::Job job;
    job.logits = logits; job.indices = indices; job.probabilities = probabilities;
    job.rows = rows; job.V = V; job.K = coded & {mask}; job.stream = 0;
    // two sequences where the rows allow it, so that B and T are told apart
    job.B = coded >> {sequences} ? rows : rows % 2 == 0 && rows > 2 ? 2 : 1;
    job.T = rows / job.B;
    int status = {unknown};
    switch ((coded & {below}) >> {bits}) {{
{cases}
    }}
#ifdef JUDGE_CARD
    // who launches on a card waits itself, and may time what is not waited for
    return status;
#else
    const int late = (int)cudaDeviceSynchronize();
    return status ? status : late;
#endif
}}
"""


def encoded(K: int, variant: int, *, sequences: bool = False) -> int:
    """K with a launcher's number above it, and whether every row is a sequence of its own."""
    return K | variant << VARIANT_BITS | int(sequences) << _SEQUENCES_BIT


def included(launchers: Sequence[Launcher]) -> tuple[str, ...]:
    """The submission's files that a driver includes, in order, before anything of its own.

    Args:
        launchers: That it offers.
    """
    return tuple(dict.fromkeys(launcher.file for launcher in launchers))


def driver(launchers: Sequence[Launcher], strides: Mapping[int, str] | None = None) -> str:
    """The text of a driver.

    Args:
        launchers: That it offers, by their number.
        strides: Number → C++ expression over ``job.K`` for arguments that want the output's stride.
    """
    files = included(launchers)
    # a program of the submission's own must not be this one's
    includes = "#define main judge_submitted_main\n"
    includes += "\n".join(f'#include "{file}"' for file in files) + "\n#undef main"
    parts = [_HEAD.format(includes=includes, unsaid=UNSAID)]
    parts += [_function(number, launcher) for number, launcher in enumerate(launchers)]
    cases = "\n".join(
        f"    case {number}: status = judge::launch_{number}(job); break;" for number in range(len(launchers))
    )
    masks = {"mask": (1 << VARIANT_BITS) - 1, "below": (1 << _SEQUENCES_BIT) - 1}
    bits = {"bits": VARIANT_BITS, "sequences": _SEQUENCES_BIT}
    parts.append(_TAIL.format(unknown=UNKNOWN, cases=cases, **masks, **bits))
    return "".join(parts)


def _function(number: int, launcher: Launcher) -> str:
    head = f"static int launch_{number}(const Job& job) {{\n    (void)job;\n"
    if "K" not in launcher.template:
        return f"{head}    {_call(launcher, 'job.K')}\n}}\n"
    body = "".join(
        f"    case {K}: {{ {_call(launcher, str(K))} }}\n" for K in dict.fromkeys(launcher.instances)
    )
    return f"{head}    switch (job.K) {{\n{body}    default: return {NOT_INSTANTIATED};\n    }}\n}}\n"


def _call(launcher: Launcher, K: str) -> str:
    template = [K if each == "K" else each for each in launcher.template]
    name = f"::{launcher.name}" + (f"<{', '.join(template)}>" if template else "")
    types = [*launcher.types, *[""] * len(launcher.args)]
    values = [_argument(arg, kind, K) for arg, kind in zip(launcher.args, types, strict=False)]
    made = "".join(_structs(launcher, values))
    args = ", ".join(launcher.folded(values, lambda at, _held: _whole(launcher, at)))
    if "scratch" in launcher.args:
        asked = f"{{ {made}{_asked(launcher, name, args)} }}"
        failed = "if (!(room = scratch(bytes))) return (int)cudaErrorMemoryAllocation; "
        made = f"void* room = nullptr; size_t bytes = 0; {asked} {failed}{made}"
    if launcher.kernel:
        known = "const long long rows = job.rows, B = job.B, T = job.T, V = job.V; const int K = job.K;"
        unused = "(void)rows; (void)B; (void)T; (void)V; (void)K;"
        launch = f"{name}<<<{launcher.grid}, {launcher.block}, {launcher.shared}, job.stream>>>({args});"
        return f"{known} {unused} {made}{launch} return (int)cudaGetLastError();"
    if launcher.returns == "nothing":
        return f"{made}{name}({args}); return (int)cudaGetLastError();"
    if launcher.returns == "bool":
        return f"{made}return said({name}({args}) ? 0 : 1);"
    if launcher.returns == "count":
        given = f"const int given = (int){name}({args});"
        return f"{made}{given} return said(given > 0 ? 0 : given ? given : 1);"
    return f"{made}return said((int){name}({args}));"


def _asked(launcher: Launcher, name: str, args: str) -> str:
    """The call that asks for the size of the scratch memory; it gives up where that fails."""
    failed = {"nothing": "cudaGetLastError()", "bool": f"!{name}({args})", "count": f"{name}({args}) < 0"}
    call = f"{name}({args}); " if launcher.returns == "nothing" else ""
    told = failed.get(launcher.returns, f"{name}({args})")
    return f"{call}if (const int refused = (int)({told})) return refused;"


def _structs(launcher: Launcher, values: Sequence[str]) -> Iterator[str]:
    """Declarations of the structs that a function takes."""
    for number, struct in enumerate(launcher.structs):
        members = range(struct.start, min(struct.start + struct.count, len(values)))
        # braces narrow nothing
        held = ", ".join(
            values[at] if launcher.types[at].endswith("*") else f"({launcher.types[at]})({values[at]})"
            for at in members
        )
        yield f"::{struct.name} given_{number}{{{held}}}; "


def _whole(launcher: Launcher, number: int) -> str:
    name = f"given_{number}"
    return name if launcher.kernel else f"Whole<::{launcher.structs[number].name}>{{&{name}}}"


def _argument(arg: str, kind: str, K: str) -> str:
    if arg.startswith("="):
        return arg[1:]
    if arg == "logits":
        return "const_cast<float*>(job.logits)" if kind == "float*" else _pointer("(void*)job.logits", kind)
    if arg in ("indices", "probabilities"):
        return _pointer(f"job.{arg}", kind)
    if arg == "per_row":
        return f"({kind})per_row(job.rows)"
    if arg == "scratch":
        return "room"
    if arg == "scratch_bytes":
        return "Whole<size_t>{&bytes}"
    if arg == "stream" and kind == "void*":
        return "(void*)job.stream"
    return {"K": K, "stream": "job.stream", "stride": "job.K"}.get(arg, f"job.{arg}")


def _pointer(value: str, kind: str) -> str:
    """A pointer as a parameter's type; a template's own parameter is told by what it is used with."""
    base = kind.removesuffix("*")
    plain = base and (base.islower() or base[0].islower() or "::" in base)
    return f"({kind}){value}" if plain and kind.endswith("*") else f"(float*){value}"
