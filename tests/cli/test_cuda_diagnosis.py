"""What doctor says of CUDA is what checks find: compilers wherever they lie, a GPU that works confined."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from judge_tui.checks import backends
from judge_tui.checks.backends import Backend, Device
from judge_tui.checks.cuda import toolchains
from judge_tui.checks.cuda.toolchains import Nvrtc
from judge_tui.cli import cuda_diagnosis

DOUBLES = Path(__file__).parents[1] / "checks" / "doubles"


@pytest.fixture
def forgetful() -> Iterator[None]:
    """What was found on this machine is found anew, before and after."""
    caches = (toolchains.find_nvcc, toolchains.find_nvrtc, backends._found)
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()


@pytest.mark.usefixtures("forgetful")
def test_an_nvcc_off_the_search_path_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "nvcc").write_text("#!/bin/sh\necho Cuda compiler\necho Build cuda_99\n")
    (tmp_path / "bin" / "nvcc").chmod(0o755)
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    found = cuda_diagnosis.nvcc(None)
    assert (found.state, found.told) == ("ok", f"Build cuda_99 ({tmp_path.resolve()}/bin/nvcc)")


def test_a_run_time_compiler_without_headers_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchains, "find_nvrtc", lambda: Nvrtc(Path("/x/libnvrtc.so.13")))
    found = cuda_diagnosis.nvrtc(None)
    assert (found.state, found.told) == ("note", "NVRTC 13 (/x/libnvrtc.so.13), without CUDA's headers")
    assert "judge-tui[gpu]" in found.remedy
    monkeypatch.setattr(toolchains, "find_nvrtc", lambda: None)
    assert cuda_diagnosis.nvrtc(None).told == "not found"


def test_two_cupys_are_one_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_diagnosis, "find_spec", lambda name: object())
    monkeypatch.setattr(cuda_diagnosis, "_version", lambda name: "14.2" if name.startswith("cupy-") else "")
    found = cuda_diagnosis.cupy(None)
    assert (found.state, found.told) == ("off", "cupy-cuda12x 14.2 and cupy-cuda13x 14.2 are both installed")
    monkeypatch.setattr(cuda_diagnosis, "_version", lambda name: "14.2" if name == "cupy-cuda13x" else "")
    assert cuda_diagnosis.cupy(None).told.startswith("cupy-cuda13x 14.2")


@pytest.mark.usefixtures("forgetful")
def test_a_gpu_is_tried_in_the_sandbox_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(DOUBLES))
    for arrays, state, told in (
        ("strict_cupy", "ok", "gpu: a card"),
        ("no_such_cupy", "off", "in the sandbox the GPU does not start: ModuleNotFoundError"),
    ):
        card = Backend("gpu", (Device("0", "a card"),), arrays=arrays)
        monkeypatch.setitem(backends.BACKENDS, "gpu", lambda card=card: card)
        backends._found.cache_clear()
        found = cuda_diagnosis.backends(None)
        assert found.state == state
        assert told in found.told
