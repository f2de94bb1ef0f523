"""compute-sanitizer's reports are read as events at the submission's lines, and it runs in the jail."""

from __future__ import annotations

import stat
from pathlib import Path

import numpy as np
import pytest

from judge_tui.checks.cuda import sanitizer
from judge_tui.checks.cuda.card import CardProgram
from judge_tui.checks.cuda.emulator import Case
from judge_tui.checks.cuda.sanitizer import Sanitizer, reported, trouble
from judge_tui.checks.sandbox.bubblewrap import find_bubblewrap

FILES = ("top.cu", "src/merge.cuh")
MEMCHECK = """========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at put(float *, int)+0x90 in /tmp/src/merge.cuh:12
=========     by thread (3,0,0) in block (2,0,0)
=========     Address 0x7cc43a800428 is out of bounds
=========     and is 41 bytes after the nearest allocation at 0x7cc43a800000 of size 1,024 bytes
=========         Device Frame: top_k(const float *)+0x30 in /tmp/top.cu:44
=========
========= Invalid __shared__ read of size 16 bytes
=========     at __cuda_sm70_warpsync+0x30 in /usr/local/cuda/include/sm_30_intrinsics.hpp:110
=========     by thread (1,2,0) in block (0,0,0)
=========     Address 0x9 is misaligned
=========         Device Frame: top_k(const float *)+0x30 in /tmp/top.cu:7
=========
========= ERROR SUMMARY: 2 errors
"""
RACECHECK = """========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at top_k(const float *)+0x90 in /tmp/top.cu:41
=========     and Read access at top_k(const float *)+0x100 in /tmp/src/merge.cuh:51 [508 hazards]
=========
========= Warning: Race reported between Read access at 0x1f20 in /tmp/top.cu:60:top_k(const float *)
=========     and Write access at 0x14b0 in /tmp/top.cu:62:top_k(const float *) [4 hazards]
=========
========= RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 warning)
"""
SYNCCHECK = """========= COMPUTE-SANITIZER
========= Barrier error detected. Divergent thread(s) in block.
=========     at top_k(const float *)+0xf0 in /tmp/top.cu:79
=========     by thread (37,0,0) in block (0,0,0)
=========
========= ERROR SUMMARY: 1 error
"""
STOPPED = """========= COMPUTE-SANITIZER
========= Error: Target application terminated before first instrumented API call
"""


def told(log: str) -> list[tuple[str, str, str, int]]:
    return [(each.kind, each.severity, each.file, each.line) for each in reported(log, FILES)]


def test_an_access_out_of_bounds_is_told_with_the_innermost_line_of_the_submission() -> None:
    assert told(MEMCHECK) == [
        ("out_of_bounds", "fault", "src/merge.cuh", 12),
        ("misaligned_access", "fault", "top.cu", 7),
    ]
    first, second = reported(MEMCHECK, FILES)
    assert (first.block, first.thread) == (2, 3)
    assert "41 bytes after" in first.text
    assert "thread (1,2,0)" in second.text


def test_a_race_is_told_with_both_places_and_a_warning_of_one_rests_on_luck() -> None:
    assert told(RACECHECK) == [("race", "fault", "top.cu", 41), ("race", "hazard", "top.cu", 60)]
    assert [(each.other_file, each.other_line) for each in reported(RACECHECK, FILES)] == [
        ("src/merge.cuh", 51),
        ("top.cu", 62),
    ]


def test_a_barrier_that_not_all_threads_reach_is_told() -> None:
    assert told(SYNCCHECK) == [("barrier_divergence", "fault", "top.cu", 79)]


@pytest.mark.parametrize(
    ("log", "why"),
    [
        (MEMCHECK, ""),
        (RACECHECK, ""),
        (STOPPED, "Target application terminated before first instrumented API call"),
        ("", "it wrote no report"),
        (
            "========= Internal Sanitizer Error: out of memory\n========= ERROR SUMMARY: 0 errors\n",
            "Internal Sanitizer Error: out of memory",
        ),
    ],
)
def test_a_report_without_its_end_is_none(log: str, why: str) -> None:
    assert trouble(log) == why


@pytest.mark.parametrize("junk", ["", "========= ", "=========     at x in :\n" * 3, "\x00========= Invalid"])
def test_rubbish_is_no_finding(junk: str) -> None:
    assert reported(junk, FILES) == []


def test_a_folder_without_what_starts_the_program_is_no_sanitizer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sanitizer, "find_nvcc", lambda: None)
    monkeypatch.setattr(sanitizer, "wheels", lambda: [str(tmp_path)])
    monkeypatch.setenv("PATH", "")
    made = stand_in(tmp_path / "cu13/compute-sanitizer", "")
    assert sanitizer.find_sanitizer() == made
    (made.root / "TreeLauncherSubreaper").unlink()
    assert sanitizer.find_sanitizer() is None


def stand_in(root: Path, script: str) -> Sanitizer:
    """A folder like the sanitizer's, with a script in its place."""
    root.mkdir(parents=True)
    (root / "TreeLauncherSubreaper").touch()
    path = root / "compute-sanitizer"
    path.write_text(f"#!/bin/sh\n{script}", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    return Sanitizer(path, root)


@pytest.mark.skipif(find_bubblewrap()[0] is None, reason="needs bubblewrap")
def test_in_the_jail_it_watches_the_program_on_buffers_without_bands(tmp_path: Path) -> None:
    # What it really does there: start the program, meet it at a pipe, ask whether it lives, write the log.
    script = f"""
mkfifo meet || exit 1
for last; do :; done
"$last" & kill -0 $! || exit 1
head -n 1 job > {sanitizer.LOG}
read said < meet
printf '%s\\n' "$said $2" >> {sanitizer.LOG}
cat >> {sanitizer.LOG} << 'END'
{MEMCHECK}END
"""
    by = stand_in(tmp_path / "sanitizer", script)
    program = CardProgram(b"#!/bin/sh\necho met > meet\n", FILES)
    case = Case(np.zeros((1, 8), np.float32), 1, 1)
    found = program.watched(by, "memcheck", [case], seconds=20)
    assert found.trouble == ""
    assert [(each.kind, each.line) for each in found.events] == [
        ("out_of_bounds", 12),
        ("misaligned_access", 7),
    ]
