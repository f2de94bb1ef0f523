"""What intrinsics give: against their definitions here, and bit for bit against a card where there is one."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from judge_tui.checks.cuda.emulator import UNWRITTEN_INDEX, Case

FILE = "semantics.cu"
ROWS = 400
THREADS = 64
#: Results that are close and not exact, in units of the last place of the larger; a card's documented errors.
CLOSE = 1e-5
ON_THE_CARD = """
import ctypes, sys
import numpy as np
library, logits, rows, runtime, results = sys.argv[1:]
library, runtime, logits, rows = ctypes.CDLL(library), ctypes.CDLL(runtime), np.load(logits), int(rows)
def copied(to, source, size, kind):
    assert runtime.cudaMemcpy(to, source, ctypes.c_size_t(size), kind) == 0
def host(array):
    return array.ctypes.data_as(ctypes.c_void_p)
def device(array):
    place = ctypes.c_void_p()
    assert runtime.cudaMalloc(ctypes.byref(place), ctypes.c_size_t(array.nbytes)) == 0
    copied(place, host(array), array.nbytes, 1)
    return place
exact = np.full((rows, 64), 0x7f7f7f7f7f7f7f7f, np.int64)
close = np.full((rows, 64), np.nan, np.float32)
places = [device(array) for array in (logits, exact, close)]
assert library.judge_launch(*places, ctypes.c_longlong(1), ctypes.c_longlong(64), rows) == 0
for array, place in zip((exact, close), places[1:]):
    copied(host(array), place, array.nbytes, 2)
np.savez(results, exact=exact, close=close)
"""


@pytest.fixture
def logits() -> np.ndarray:
    return np.random.default_rng(3).normal(size=(1, THREADS)).astype(np.float32)


@pytest.fixture
def emulated(built, logits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows of exact and of close results, those that the file has."""
    (answer,) = built(FILE).run([Case(logits, ROWS, ROWS * THREADS, "int64")], budget_s=60)
    assert answer.status == "done", answer
    assert [event for event in answer.events if event.severity == "fault"] == []
    assert answer.indices is not None
    assert answer.probabilities is not None
    exact = answer.indices.reshape(ROWS, THREADS)
    written = int((exact[:, 0] != UNWRITTEN_INDEX["int64"]).nonzero()[0][-1])
    close = answer.probabilities.reshape(ROWS, THREADS)
    return exact[: written + 1], close[~np.isnan(close).all(1)]


def test_the_file_runs_to_its_end(emulated: tuple[np.ndarray, np.ndarray]) -> None:
    exact, close = emulated
    assert (exact[-1] == len(exact) - 1).all()
    assert len(close) == 24


def shuffled(kind: str, lane: int, d: int, width: int) -> int:
    """The lane that a shuffle reads.

    Source: CUDA C++ Programming Guide, Warp Shuffle Functions.
    """
    start = lane // width * width
    if kind == "index":
        return start + d % width
    if kind == "up":
        return lane - d if lane - d >= start else lane
    if kind == "down":
        return lane + d if lane + d < start + width else lane
    return lane ^ d if (lane ^ d) < start + width else lane


def test_shuffles_read_the_lanes_that_they_should(
    emulated: tuple[np.ndarray, np.ndarray], logits: np.ndarray
) -> None:
    exact = iter(emulated[0])
    threads = np.arange(THREADS)
    values = {
        "index": logits[0].view(np.uint32).astype(np.int64),
        "up": threads,
        "down": threads.astype(np.int64) << 33,
        "xor": threads,
    }
    for width in (1, 2, 4, 8, 16, 32):
        for d in (0, 1, 3, 7, 15, 31):
            for kind, value in values.items():
                source = [t // 32 * 32 + shuffled(kind, t % 32, d, width) for t in range(THREADS)]
                assert (next(exact) == value[source]).all(), (kind, width, d)


def test_sixteen_bit_floats_are_rounded_as_numpy_rounds(
    emulated: tuple[np.ndarray, np.ndarray], logits: np.ndarray
) -> None:
    scaled = np.ldexp(logits[0], np.arange(THREADS) % 32 * 2 - 40).astype(np.float32)
    with np.errstate(over="ignore", under="ignore"):
        half = scaled.astype(np.float16).view(np.uint16)
    assert any((row == half).all() for row in emulated[0])
    raw = (logits[0] * np.float32(1.001)).view(np.uint32).astype(np.uint64)
    bfloat = (raw + 0x7FFF + ((raw >> 16) & 1)) >> 16
    assert any((row == bfloat.astype(np.int64)).all() for row in emulated[0])


def test_fast_intrinsics_err_no_more_than_a_cards(
    emulated: tuple[np.ndarray, np.ndarray], logits: np.ndarray
) -> None:
    x = logits[0].astype(np.float64)
    p = np.abs(logits[0]).astype(np.float64) + 1e-3
    exact = {0: np.exp(x * 10), 1: np.exp(x * 30 - 50), 4: np.log(p), 10: p**-0.5, 12: 1 / p, 13: x / p}
    for row, wanted in exact.items():
        # log near 1 is close absolutely
        assert np.allclose(emulated[1][row], wanted, rtol=2e-5, atol=1e-6 if row == 4 else 1e-44), row


def on_the_card(folder: Path, logits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same file through nvcc and a card, in a process of its own."""
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("needs nvcc")
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        pytest.skip("needs an NVIDIA GPU")
    library, values, results = folder / "semantics.so", folder / "logits.npy", folder / "results.npz"
    source = Path(__file__).parent / "kernels" / FILE
    flags = ["-std=c++17", "-arch=native", "-Xcompiler", "-fPIC", "-shared", "-cudart", "shared"]
    subprocess.run([nvcc, *flags, "-o", library, source], check=True, timeout=300)
    np.save(values, logits)
    runtime = subprocess.run(["ldd", library], check=True, capture_output=True, text=True, timeout=60).stdout
    cudart = next(line.split("=>")[1].split()[0] for line in runtime.splitlines() if "libcudart" in line)
    arguments = [str(library), str(values), str(ROWS), cudart, str(results)]
    subprocess.run([sys.executable, "-c", ON_THE_CARD, *arguments], check=True, timeout=300)
    with np.load(results) as found:
        return found["exact"], found["close"]


@pytest.mark.gpu
def test_the_emulator_gives_what_a_card_gives(
    emulated: tuple[np.ndarray, np.ndarray], logits: np.ndarray, tmp_path: Path
) -> None:
    exact, close = on_the_card(tmp_path, logits)
    differing = [
        row for row, (ours, card) in enumerate(zip(emulated[0], exact, strict=False)) if (ours != card).any()
    ]
    assert differing == []
    assert np.allclose(emulated[1], close[: len(emulated[1])], rtol=CLOSE, atol=1e-6)
