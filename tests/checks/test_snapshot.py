"""What is listed, digested, read and scanned of a submission is what its worker is shown, and no more."""

from __future__ import annotations

import fcntl
import gc
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from judge_tui.checks import snapshot, temporary
from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.errors import EngineError, WorkspaceError
from judge_tui.checks.runner import judge
from judge_tui.checks.sandbox import Mode
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import Task
from judge_tui.checks.verdict import Verdict

Submit = Callable[..., Submission]
#: The right answer, out of sight.
ANSWER = "def scale(x, factor):\n    return x * factor, (x, factor)\n"
BACKWARD = (
    "def scale_backward(dy, cache):\n    x, factor = cache\n    return dy * factor, (dy * x).sum((0, 1))\n"
)
#: Where code may lie that nobody lists, and how it is reached from there.
HIDDEN = {
    "in a folder of packages": ("node_modules/answer.py", "sys.path.insert(0, here + '/node_modules')"),
    "in a dot folder": (".lib/answer.py", "sys.path.insert(0, here + '/.lib')"),
    "in a dot file": (".answer.py", ""),
    "in a cache": ("__pycache__/answer.py", "sys.path.insert(0, here + '/__pycache__')"),
}
SHOWN = """
import importlib.util, os, sys
here = os.path.dirname(os.path.abspath(__file__))
{way}
try:
    import answer
except ImportError:
    spec = importlib.util.spec_from_file_location("answer", here + "/{name}")
    answer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(answer)

def scale_forward(x, factor):
    return answer.scale(x, factor)
"""


@pytest.mark.parametrize("where", HIDDEN)
def test_code_that_nobody_lists_does_not_run(where: str, submitted: Submit, scale: Task) -> None:
    name, way = HIDDEN[where]
    code = SHOWN.format(way=way, name=name) + BACKWARD
    submission = submitted({"code.py": code, name: ANSWER})
    assert submission.files == ("code.py",)
    assert judge(scale, submission, seed=3, checks=["right"])["right"].verdict is not Verdict.PASS


def test_compiled_code_that_nobody_lists_does_not_run(submitted: Submit, mode: Mode) -> None:
    import py_compile

    submission = submitted({"code.py": "import answer\n", "answer.py": ANSWER})
    source = submission.path / "answer.py"
    for suffix in (".pyc", ".pyo"):
        py_compile.compile(str(source), cfile=str(source.with_suffix(suffix)))
    source.unlink()
    with Worker(Submission.at(submission.path), mode=mode) as worker:
        assert "answer" in worker.load("code.py")["missing"]


def test_a_link_leads_nowhere(submitted: Submit, tmp_path: Path, mode: Mode) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "answer.py").write_text(ANSWER)
    submission = submitted({"code.py": "import answer\n"})
    (submission.path / "answer.py").symlink_to(outside / "answer.py")
    (submission.path / "folder").symlink_to(outside)
    assert submission.files == ("code.py",)
    with Worker(submission, mode=mode) as worker:
        assert "answer" in worker.load("code.py")["missing"]
        assert sorted(path.name for path in submission.held.path.rglob("*")) == ["code.py"]


def test_what_is_changed_after_the_look_is_not_what_runs(submitted: Submit, mode: Mode) -> None:
    submission = submitted("def one():\n    return 1\n")
    digest = submission.held.digest
    (submission.path / "code.py").write_text("def two():\n    return 2\n")
    with Worker(submission, mode=mode) as worker:
        assert [each["name"] for each in worker.load("code.py")["functions"]] == ["one"]
    assert submission.held.read_text("code.py").startswith("def one")
    submission.refresh()
    assert submission.held.digest != digest
    assert submission.held.read_text("code.py").startswith("def two")


def test_a_snapshot_has_the_digest_of_what_it_was_taken_of(submitted: Submit) -> None:
    files = {"code.py": ANSWER, "pack/inner.py": "x = 1\r\n", "data.bin": bytes(range(256)), "empty.txt": ""}
    submission = submitted(files)
    assert submission.held.digest == submission.digest
    assert submission.held.files == submission.files
    assert submission.held.held is submission.held
    assert [submission.held.read_bytes(name) for name in submission.files] == [
        submission.read_bytes(name) for name in submission.files
    ]


def test_bindings_and_adapters_of_both_places_are_part_of_it(submitted: Submit, tmp_path: Path) -> None:
    toml = '[binding.forward]\ntarget = "code.py:scale"\n'
    submission = submitted({"code.py": ANSWER, "submission.toml": toml})
    overlay = tmp_path / "overlay" / submission.model / submission.task
    overlay.mkdir(parents=True)
    (overlay / "adapter.py").write_text("x = 1\n")
    over = Submission.at(submission.path, bindings=tmp_path / "overlay")
    assert over.held.adapter is not None
    (overlay / "adapter.py").write_text("x = 2\n")
    assert over.held.adapter.read_text() == "x = 1\n"
    assert over.held.meta.binding == {"forward": {"target": "code.py:scale"}}


def test_it_goes_with_whoever_judges(submitted: Submit, scale: Task) -> None:
    submission = submitted(ANSWER)
    bench = Bench(submission, scale.contract, seed=1)
    folder = submission.held.path
    assert folder.is_dir()
    bench.close()
    del bench, submission
    gc.collect()
    assert not folder.exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read anything")
def test_a_file_that_cannot_be_read_is_told(submitted: Submit) -> None:
    submission = submitted(ANSWER)
    (submission.path / "code.py").chmod(0)
    assert "Permission denied" in submission.held.trouble("code.py")


def test_one_that_is_too_large_is_one_sentence(submitted: Submit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "MOST_BYTES", 1 << 20)
    submission = submitted({"code.py": ANSWER, "data.bin": bytes(2 << 20)})
    with pytest.raises(WorkspaceError, match="larger than"):
        _ = submission.held


def test_no_room_is_the_machines_fault_in_one_sentence(
    submitted: Submit, scale: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    submission = submitted(ANSWER)
    monkeypatch.setattr(snapshot, "_copied_file", full)
    with pytest.raises(EngineError, match="No space left"):
        _ = submission.held
    # the machine's fault is nobody's verdict, and is not kept
    outcomes = judge(scale, submission, seed=1, checks=["right", "size", "loads"])
    assert {outcome.verdict for outcome in outcomes.values()} == {Verdict.ERROR}


def test_the_table_of_a_submission_is_not_where_its_code_can_stand(submitted: Submit, scale: Task) -> None:
    code = "import os\nhere = os.path.dirname(os.path.abspath(__file__))\n"
    code += "exec(open(here + '/submission.toml').read().replace('#!', ''))\n"
    text = "".join(f"#!{line}\n" for line in (ANSWER + BACKWARD).splitlines())
    submission = submitted({"code.py": code, "submission.toml": text})
    assert judge(scale, submission, seed=3, checks=["right"])["right"].verdict is not Verdict.PASS


def test_what_somebody_called_alike_is_nobody_elses_to_remove(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    others = ("judge-tui-2024-backup", "judge-tui-1.0-src", "judge-tui-99999999-snapshot")
    for name in others:
        (tmp_path / name).mkdir()
        (tmp_path / name / "work.txt").write_text("mine")
    left = tmp_path / "judge-tui-4194999-abcd_123-snapshot"
    held = tmp_path / "judge-tui-4194998-abcd_123-snapshot"
    for folder in (left, held):
        folder.mkdir()
    descriptor = os.open(held, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    temporary.sweep.cache_clear()
    made = temporary.new_folder("snapshot")
    assert not left.exists()
    assert held.exists()
    os.close(descriptor)
    assert all((tmp_path / name / "work.txt").exists() for name in others)
    temporary.release(made)
    assert not made.exists()
