"""A submission that was sent is judged as if it lay here: the same files, bindings and complaints."""

from __future__ import annotations

import gc
from pathlib import Path

import msgspec
import pytest

from judge_tui.checks.errors import EngineError, WorkspaceError
from judge_tui.checks.jobs.parcel import arrived, digest_of, packed, taken, unpacked
from judge_tui.checks.runner import judge
from judge_tui.checks.submission import Submission
from judge_tui.checks.task import load_task

TOML = 'origin = "submission"\nmodel = "M"\n[binding.forward]\ntarget = "code.py:f"\n'


def written(root: Path) -> Submission:
    files, judge_s = root / "m" / "backwards", root / "judge"
    (files / "sub").mkdir(parents=True)
    (files / "code.py").write_text("def f(x, gamma, beta):\n    return x\n")
    (files / "sub" / "data.bin").write_bytes(bytes(range(256)))
    (files / ".hidden.py").write_text("x = 1\n")
    (files / "link.py").symlink_to("code.py")
    (files / "submission.toml").write_text(TOML)
    judge_s.mkdir()
    (judge_s / "adapter.py").write_text("def forward(x, gamma, beta):\n    return x\n")
    (judge_s / "submission.toml").write_text('comment = "mine"\n')
    return Submission("m", "backwards", files, (judge_s,))


def test_what_arrives_is_what_was_sent(tmp_path: Path) -> None:
    sent = written(tmp_path)
    there = unpacked(packed(sent))
    for name in (
        "model",
        "task",
        "files",
        "digest",
        "binding_digest",
        "unlisted",
        "left_out",
        "meta",
        "place",
    ):
        assert getattr(there, name) == getattr(sent, name), name
    assert there.adapter is not None
    assert there.adapter.read_text() == (sent.overlays[0] / "adapter.py").read_text()
    assert not there.adapts_itself
    assert there.held is there
    assert digest_of(packed(sent)) == digest_of(packed(there))


@pytest.mark.parametrize(
    "spoiled", ["", "judge/adapter.py", "judge/submission.toml", "m/backwards/submission.toml"]
)
def test_what_is_found_is_kept_under_what_a_snapshot_would_be(tmp_path: Path, spoiled: str) -> None:
    sent = written(tmp_path)
    if spoiled:
        (tmp_path / spoiled).unlink()
    _parcel, then = taken(sent)
    assert (then.digest, then.binding_digest) == (sent.digest, sent.binding_digest)
    assert (then.digest, then.binding_digest) == (sent.held.digest, sent.held.binding_digest)
    # and it stays what it was, whatever becomes of the folder
    (sent.path / "code.py").write_text("x = 2\n")
    assert then.digest == sent.held.digest
    assert taken(Submission(sent.model, sent.task, sent.path, sent.overlays))[1].digest != then.digest


def test_its_folder_goes_with_it(tmp_path: Path) -> None:
    there = unpacked(packed(written(tmp_path)))
    folder = there.path
    assert folder.is_dir()
    del there
    gc.collect()
    assert not folder.exists()


def test_or_with_a_block_whoever_still_holds_it(tmp_path: Path) -> None:
    parcel = packed(written(tmp_path))
    with arrived(parcel) as held:
        folder = held.path
        assert (folder / "code.py").is_file()
    assert not folder.exists()


@pytest.mark.parametrize("text", ["not toml", "[binding]\nforward = 3\n", "schema = 99\n"])
def test_what_is_wrong_with_its_bindings_is_told_as_it_was_there(tmp_path: Path, text: str) -> None:
    sent = written(tmp_path)
    (sent.overlays[0] / "submission.toml").write_text(text)

    def told(submission: Submission) -> str:
        try:
            return submission.meta.newer
        except WorkspaceError as error:
            return str(error)

    assert str(sent.overlays[0] / "submission.toml") in told(sent)
    assert told(unpacked(packed(sent))) == told(sent)


def test_it_gets_the_outcomes_that_it_gets_at_home(tmp_path: Path) -> None:
    task, sent = load_task("backwards"), written(tmp_path)
    (sent.overlays[0] / "submission.toml").write_text("[binding]\nforward = 3\n")

    def found(submission: Submission) -> list[object]:
        outcomes = judge(task, submission, seed=3, checks=("size", "loads", "purity")).values()
        return [msgspec.structs.replace(outcome, seconds=0.0) for outcome in outcomes]

    assert found(unpacked(packed(sent))) == found(sent)


@pytest.mark.parametrize("name", ["../out.py", "/tmp/out.py", "a/../../out.py"])
def test_no_file_leads_out_of_its_folder(tmp_path: Path, name: str) -> None:
    told = msgspec.msgpack.decode(packed(written(tmp_path)))
    told["files"] = [[name, b"x"]]
    with pytest.raises(EngineError, match="out of its folder"):
        unpacked(msgspec.msgpack.encode(told))
    with pytest.raises(EngineError, match="arrived broken"):
        unpacked(b"nothing")
