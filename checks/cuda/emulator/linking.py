"""The submission's assembly, so closed that nothing in it stands for the runtime's or the system's functions.

Of its symbols one is seen from outside, ``judge_launch``. So a submission may define ``write`` or
``emu_launch``, for itself. What would take down the walls that the runtime keeps round device memory
(``mprotect``, ``dlsym``, signal handlers) becomes a function of the runtime that asks first, or refuses.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

__all__ = ["closed", "refused"]

ENTRY = "judge_launch"
#: Zero bytes between shared variables, so that what runs over the end of one meets no other.
_GUARD = 128
#: A variable of thread-local storage in GCC's assembly, up to its zeros.
_SHARED = re.compile(
    r"^(\t\.section\t\.t(?:bss|data)[^\n]*\n(?:\t\.[^\n]*\n)*[^\s][^\n]*:\n\t\.zero\t\d+\n)", re.M
)
_LABEL = re.compile(r"^([^\s:#.][^\s:]*):|^\t\.(?:set|comm)\t([^\s,]+),", re.M)
_SEEN = re.compile(r"^\t\.(?:globl|weak)\t(\S+)\n", re.M)
_COMMON = re.compile(r"^\t\.comm\t([^\s,]+)", re.M)
_GROUP = re.compile(r'^(\t\.section\t[^\n,]+,"[^"\n]*)G([^"\n]*",[@%]\w+(?:,\d+)?),[^\n]*,comdat$', re.M)
_UNIQUE = re.compile(r"^(\t\.type\t\S+, ?[@%])gnu_unique_object$", re.M)
_NAMED = re.compile(r"^(?:DENIED|GUARDED)\((\w+)\)$", re.M)


@functools.cache
def refused() -> tuple[str, ...]:
    """The C library's functions that stand for one of the runtime's in a submission."""
    return tuple(_NAMED.findall((Path(__file__).parent / "runtime" / "denied.h").read_text("ascii")))


def closed(assembly: str) -> str:
    """GCC's assembly of a submission, guard bands between its shared variables, its symbols for itself.

    Args:
        assembly: What ``g++ -S`` made of the rewritten text.
    """
    own = {name for pair in _LABEL.findall(assembly) for name in pair if name} - {ENTRY}
    text = _SEEN.sub(lambda match: "" if match[1] in own else match[0], assembly)
    text = _COMMON.sub(r"\t.local\t\1\n\t.comm\t\1", text)
    text = _UNIQUE.sub(r"\1object", _GROUP.sub(r"\1\2", text))
    text = _SHARED.sub(rf"\1\t.zero\t{_GUARD}\n", text)
    stand_ins = (f"\t.set\t{name}, emu_denied_{name}\n" for name in refused() if name not in own)
    return "".join([*stand_ins, text])
