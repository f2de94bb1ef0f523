"""Fused softmax and top-k: CUDA kernels, compiled here and run on a GPU or through the emulator."""

from judge_tui.checks.generic import with_generic
from judge_tui.checks.task import Task
from judge_tui.checks.tasks.fuse.compiling import compiles, resources
from judge_tui.checks.tasks.fuse.contract import CONTRACT
from judge_tui.checks.tasks.fuse.correct import rows_independent, topk_correct
from judge_tui.checks.tasks.fuse.files import loads, own_tests, purity, throughput
from judge_tui.checks.tasks.fuse.memory import global_passes, no_materialize
from judge_tui.checks.tasks.fuse.numerics import numerics
from judge_tui.checks.tasks.fuse.offsets import offsets
from judge_tui.checks.tasks.fuse.ranges import k_range
from judge_tui.checks.tasks.fuse.safety import memory_safety

__all__ = ["TASK"]

TASK = Task(
    "fuse",
    "Fused softmax + top-k",
    CONTRACT,
    with_generic(
        compiles,
        resources,
        topk_correct,
        rows_independent,
        k_range,
        numerics,
        offsets,
        no_materialize,
        memory_safety,
        global_passes,
        instead=(loads, own_tests, purity, throughput),
    ),
    # the card's path has never run on one: it is taken where it is asked for
    backends=("emulator", "gpu", "cpu"),
    answers={"kernel": ("topk_correct", "rows_independent", "k_range", "numerics")},
)
