"""The CPU emulator: CUDA sources without a GPU, slowly and exactly.

:func:`build` compiles a driver and the submission that it includes with the host's C++ compiler,
against headers of ours (``include``) and a runtime of ours (``runtime``), in the jail.
:meth:`Program.run` runs it there: a stack per thread, blocks one after another, every access checked.
docs/emulator.md tells what is emulated and what is not.
"""

from judge_tui.checks.cuda.emulator.build import Failure, build
from judge_tui.checks.cuda.emulator.cases import UNWRITTEN_INDEX, UNWRITTEN_PROBABILITY, Answer, Case, Event
from judge_tui.checks.cuda.emulator.compiler import available
from judge_tui.checks.cuda.emulator.program import Program

__all__ = [
    "UNWRITTEN_INDEX",
    "UNWRITTEN_PROBABILITY",
    "Answer",
    "Case",
    "Event",
    "Failure",
    "Program",
    "available",
    "build",
]
