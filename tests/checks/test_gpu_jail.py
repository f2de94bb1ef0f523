"""What a jail with a GPU lets through: all that CUDA's driver and CuPy need to start, and no more.

No GPU is needed: what the driver asks of the kernel is asked here, and CuPy's compiler needs no device.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from judge_tui.checks.backends import Device, Place
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.sandbox import Limits, Mode
from judge_tui.checks.sandbox.programs import run_program
from judge_tui.checks.submission import Submission

Submit = Callable[..., Submission]
#: A jail that shows a GPU; arrays stay NumPy's, so that none is needed.
GPU = Place("gpu", Device("0", "none"))
#: What strace shows of cuInit, refusals of which it answers with error 304: a thread is named, a file in
#: memory made, and a socket of its own listened on.
DRIVER = """
import os, socket, threading

def named():
    with open(f"/proc/self/task/{threading.get_native_id()}/comm", "r+") as name:
        name.write("cuda-EvtHandlr")

def start():
    failed = []
    thread = threading.Thread(target=lambda: failed.extend(tried(named)))
    thread.start()
    thread.join()
    return [*failed, *tried(lambda: os.memfd_create("shared")), *tried(listen)]

def listen():
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as own:
        own.bind(f"\\0cuda-uvmfd-{os.getpid()}")
        own.listen(1)

def tried(step):
    try:
        step()
    except OSError as error:
        return [f"{step.__name__}: {error}"]
    return []
"""
MODES = ("auto", "plain")


@pytest.mark.parametrize("mode", MODES)
def test_a_worker_may_do_what_cuda_s_driver_does_at_its_start(mode: Mode, submitted: Submit) -> None:
    source = DRIVER + "\nfailed = start()\nassert not failed, failed\n"
    with Worker(submitted(source), mode=mode, place=GPU) as worker:
        worker.load("code.py")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("processes", [False, True])
def test_a_program_may_do_the_same_and_without_a_gpu_none_of_it(mode: Mode, processes: bool) -> None:
    python = [os.path.realpath(sys.executable), "-I", "-S", "-c", DRIVER + "\nprint(len(start()), 'failed')"]
    limits = Limits(address_space=None)
    for gpu, failed in ((True, "0 failed"), (False, "3 failed")):
        ran = run_program(python, seconds=60, mode=mode, gpu=gpu, limits=limits, processes=processes)
        assert ran.output.strip() == failed


def test_what_a_program_on_a_gpu_starts_may_name_its_threads_too() -> None:
    """As a checker of memory starts what it checks."""
    child = "import os, sys; os.fork() or os.execv(sys.argv[1], sys.argv[1:]); print(os.wait()[1])"
    python = [os.path.realpath(sys.executable), "-I", "-S", "-c"]
    code = DRIVER + "\nprint(start())"
    ran = run_program(
        [*python, child, *python, code], seconds=60, gpu=True, limits=Limits(address_space=None),
        processes=True,
    )  # fmt: skip
    assert ran.output.split("\n")[:2] == ["[]", "0"]


ESCAPES = """
import os, socket

def refused(step):
    try:
        step()
    except OSError:
        return
    raise AssertionError(step)

own = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
refused(lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
refused(lambda: socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
refused(lambda: socket.socket(socket.AF_INET, socket.SOCK_SEQPACKET))
refused(lambda: own.connect("\\0cuda-uvmfd-1"))
refused(lambda: own.sendto(b"x", "\\0cuda-uvmfd-1"))
refused(lambda: own.bind(os.path.join(os.environ["HOME"], "socket")))
own.bind("\\0mine")
own.listen(1)
refused(own.accept)
refused(lambda: open("/proc/1/comm" if os.getpid() != 1 else "/proc/sys/vm/swappiness", "r+"))
refused(lambda: open("/proc/self/made", "w"))
"""


@pytest.mark.parametrize("mode", MODES)
def test_what_is_let_through_for_cuda_reaches_nobody(mode: Mode, submitted: Submit) -> None:
    with Worker(submitted(ESCAPES), mode=mode, place=GPU) as worker:
        worker.load("code.py")


COMPILES = r"""
from cupy._core import core
from cupy.cuda import compiler

source = r'''
#include <cuda_fp16.h>
#include <cupy/complex.cuh>
#include <cub/block/block_reduce.cuh>
extern "C" __global__ void run(__half* x) { x[0] = __float2half(1.0f); }
'''
program = compiler._NVRTCProgram(source, "run.cu", method="cubin")
code, _ = program.compile(("--gpu-architecture=sm_90", *core.assemble_cupy_compiler_options(())))
assert len(code) > 1000, code
"""


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "code",
    [COMPILES, "from cupy_backends.cuda.libs import cublas, curand, cusolver, cusparse\n"],
    ids=["compiler", "libraries"],
)
def test_cupy_finds_cuda_in_there(mode: Mode, code: str, submitted: Submit) -> None:
    """From packages of NVIDIA's, as the extras install it; the sites of a jail are no usual ones."""
    pytest.importorskip("cupy")
    with Worker(submitted(code), mode=mode, place=GPU) as worker:
        worker.load("code.py", budget=120)


def test_a_toolkit_is_named_and_shown_where_it_lies(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, submitted: Submit
) -> None:
    (tmp_path / "cuda-99").mkdir()
    (tmp_path / "cuda-99" / "version.json").write_text("99")
    (tmp_path / "cuda").symlink_to(tmp_path / "cuda-99")
    monkeypatch.setenv("CUDA_PATH", str(tmp_path / "cuda"))
    reads = "import os\nassert open(os.environ['CUDA_PATH'] + '/version.json').read() == '99'\n"
    with Worker(submitted(reads), place=GPU) as worker:
        worker.load("code.py")
    with Worker(submitted("import os\nassert 'CUDA_PATH' not in os.environ\n", model="cpu")) as worker:
        worker.load("code.py")
