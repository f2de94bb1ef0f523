from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from judge_tui.cli.run import run


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str


Cli = Callable[..., Ended]


@pytest.fixture(autouse=True)
def _apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # no test reads or writes what belongs to the person who runs it
    monkeypatch.setenv("JUDGE_TUI_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("JUDGE_TUI_JUDGE", "anna")
    monkeypatch.delenv("JUDGE_TUI_DEBUG", raising=False)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace with two models and the task kv; the current folder."""
    folder = tmp_path / "ws"
    for model in ("glm5", "qwen36"):
        files = folder / "submissions" / model / "kv"
        files.mkdir(parents=True)
        (files / "kv_cache.py").write_text(f"# {model}\nclass Cache:\n    pass\n")
    (folder / "submissions" / "glm5" / "backwards").mkdir()
    (folder / "submissions" / "glm5" / "backwards" / "layer_norm.py").write_text("pass\n")
    (folder / "scores").mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    """Runs a command line in this process."""

    def _cli(*arguments: str | Path) -> Ended:
        code = run([str(argument) for argument in arguments])
        told = capsys.readouterr()
        return Ended(code, told.out, told.err)

    return _cli


def lines(text: str) -> Sequence[str]:
    return text.strip().splitlines()
