"""The program for a card from end to end, on a runtime that is none: answers, bands, errors, memory, time.

``card.cu`` is built with the host's compiler against ``fake_cuda``, whose device is the host's memory;
kernels are host functions. Nothing here says anything of a card: what is tried is what comes of its answers.
"""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from judge_tui.checks.cuda import card
from judge_tui.checks.cuda.emulator import UNWRITTEN_INDEX, Answer, Case
from judge_tui.checks.errors import EngineError

HERE = Path(__file__).parent
CARD = Path(card.__file__).with_name("card.cu")
WRAPPED = [f"-Wl,--wrap={name}" for name in card._COUNTED]
pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
#: K says what a launch does besides its work, so that one program serves all tests.
SUBMISSION = """
#include <cuda_runtime.h>
#include <stdexcept>

static float* kept = nullptr;

extern "C" int judge_launch(const float* x, void* at, void* p, long long rows, long long V, int K) {
    int* index = (int*)at;
    float* share = (float*)p;
    for (long long row = 0; row < rows; ++row) {
        index[row] = 0;
        for (int v = 1; v < V; ++v) if (x[row * V + v] > x[row * V + index[row]]) index[row] = v;
        share[row] = x[row * V + index[row]];
    }
    void *one = nullptr, *two = nullptr;
    size_t pitch = 0;
    switch (K) {
    case 2: index[rows] = 7; share[-1] = 0; return 0;
    case 3: ((float*)x)[1] += 1; return 0;
    case 4: fake_spoil(cudaErrorIllegalAddress); return (int)cudaGetLastError();
    case 5: fake_spoil(cudaErrorMisalignedAddress); return 0;
    case 6: return cudaErrorInvalidValue;
    case 7: fake_not_launched(cudaErrorInvalidConfiguration); return 0;
    case 8: throw std::invalid_argument("K is \\"odd\\"\\n");
    case 9: for (volatile int forever = 1; forever;) {} return 0;
    case 10:
        for (int turn = 0; turn < 5; ++turn) { cudaMalloc(&one, 1000); cudaFree(one); }
        cudaMallocAsync(&one, 3000, nullptr); cudaMallocPitch(&two, &pitch, 100, 2);
        cudaFreeAsync(one, nullptr); cudaFree(two);
        cudaMallocManaged(&one, 2000); cudaFree(one);
        return 0;
    case 11: cudaMalloc(&kept, 30 << 20); return 0;
    case 12: fake_work(2.5 * 4e-6 * rows * V / 1.048576); return 0;
    case 13: std::abort();
    }
    return 0;
}
"""


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> card.CardProgram:
    folder = tmp_path_factory.mktemp("card")
    (folder / "submission.cpp").write_text(SUBMISSION)
    fake = HERE / "fake_cuda"
    argv = ["g++", "-std=c++17", "-O1", "-w", f"-I{fake}", "-include", "cstdlib", *WRAPPED]
    sources = ["-x", "c++", str(CARD), str(folder / "submission.cpp"), str(fake / "fake_cuda.cpp")]
    subprocess.run([*argv, *sources, "-o", str(folder / "program"), "-pthread"], check=True, timeout=120)
    return card.CardProgram((folder / "program").read_bytes())


@pytest.fixture
def ask(program: card.CardProgram) -> Callable[..., list[Answer]]:
    def asked(
        *numbers: int, rows: int = 3, V: int = 50, schedule: int = 0, seconds: float = 20
    ) -> list[Answer]:
        logits = np.random.default_rng(1).normal(size=(rows, V)).astype(np.float32)
        cases = [Case(logits, K, 1, schedule=schedule) for K in numbers]
        answers = program.run(cases, budget_s=seconds)
        for answer in answers:
            if answer.status == "done":
                assert answer.indices is not None
                assert answer.probabilities is not None
                assert answer.indices[:, 0].tolist() == logits.argmax(axis=1).tolist()
                assert (answer.probabilities[:, 0] == logits.max(axis=1)).all()
        return answers

    return asked


def told(answer: Answer) -> list[tuple[str, str]]:
    return [(event.kind, event.text) for event in answer.events]


def test_answers_come_back_case_by_case(ask: Callable[..., list[Answer]]) -> None:
    assert [(a.status, a.code, a.events, a.peak_bytes) for a in ask(1, 1)] == [("done", 0, (), 0)] * 2


def test_what_is_written_beside_a_buffer_or_into_the_input_is_told(ask: Callable[..., list[Answer]]) -> None:
    beside, into, clean = ask(2, 3, 1)
    assert told(beside) == [
        ("out_of_bounds", "4 bytes beside the indices were written"),
        ("out_of_bounds", "4 bytes beside the probabilities were written"),
    ]
    assert told(into) == [("input_written", "the logits were changed")]
    assert told(clean) == []


def test_an_error_that_stays_ends_the_process_and_the_next_case_is_clean(
    ask: Callable[..., list[Answer]],
) -> None:
    illegal, clean, misaligned, again = ask(4, 1, 5, 1)
    assert (illegal.status, illegal.device_error) == ("failed", 700)
    assert told(illegal) == [("illegal_address", "cudaErrorIllegalAddress")]
    assert illegal.indices is not None
    assert (illegal.indices == UNWRITTEN_INDEX["int32"]).all()
    assert (misaligned.status, misaligned.device_error) == ("failed", 716)
    assert [event.kind for event in misaligned.events] == ["misaligned_access"]
    assert (clean.status, again.status) == ("done", "done")


def test_a_code_an_unread_error_and_an_exception_refuse_and_the_next_case_knows_nothing_of_it(
    ask: Callable[..., list[Answer]],
) -> None:
    code, _, unread, after, threw, last = ask(6, 1, 7, 1, 8, 1)
    assert [(a.status, a.code) for a in (code, unread, threw)] == [
        ("refused", 1),
        ("refused", 9),
        ("refused", -1),
    ]
    assert told(threw) == [("exception", "the launcher threw: K is 'odd'?")]
    assert (after.status, last.status) == ("done", "done")


def test_a_crash_costs_its_own_case(ask: Callable[..., list[Answer]]) -> None:
    before, crashed, after = ask(1, 13, 1)
    assert (before.status, crashed.status, after.status) == ("done", "crashed", "done")
    assert "signal 6" in crashed.ended


def test_the_peak_is_what_a_launch_holds_at_once(ask: Callable[..., list[Answer]]) -> None:
    (answer,) = ask(10)
    assert answer.peak_bytes == 3000 + 2 * 512


def test_what_launches_keep_is_theirs_and_a_full_card_is_not(
    ask: Callable[..., list[Answer]], program: card.CardProgram
) -> None:
    first, second, third, after = ask(11, 11, 11, 1)
    assert [a.peak_bytes for a in (first, second)] == [30 << 20, 30 << 20]
    # the third is not served, and says nothing of it
    assert (third.status, third.code, after.status) == ("refused", 2, "done")
    with pytest.raises(EngineError, match="no memory on the card: out of memory"):
        ask(1, rows=1000, V=20_000)
    cases = [Case(np.zeros((rows, 90_000), np.float32), K, 1) for rows, K in ((1, 11), (100, 1))]
    full, held = program.run(cases, budget_s=20)
    assert (full.status, held.status) == ("done", "crashed")
    assert "no room beside the 31457280 bytes that launches hold" in held.output


def test_a_launch_is_timed_against_a_copy(ask: Callable[..., list[Answer]]) -> None:
    (answer,) = ask(12, schedule=-1, rows=4, V=1000)
    (event,) = answer.events
    launch, copy = map(float, event.text.split())
    assert event.kind == "timing"
    # the fake device copies a MiB a second, and the launch takes two and a half times as long
    assert copy == pytest.approx(16_000 / (1 << 20), rel=1e-3)
    assert launch / copy == pytest.approx(2.5, rel=1e-2)


def test_a_launch_that_never_ends_is_killed_in_time_and_convicts(ask: Callable[..., list[Answer]]) -> None:
    began = time.monotonic()
    fine, endless, rest = ask(1, 9, 1, seconds=6)
    assert time.monotonic() - began < 9
    assert (fine.status, endless.status, rest.status) == ("done", "timed_out", "not_run")
    # the time is the device's: nothing else on the machine took it
    assert endless.cpu_seconds > 5
