"""Packets for machine judges: whole or telling what is left out, blind to the byte; answers come back."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from judge_tui.checks.errors import UsageError, WorkspaceError
from judge_tui.checks.store import Store
from judge_tui.checks.task import task_names
from judge_tui.checks.verdict import Evidence, Outcome, Verdict
from judge_tui.judging.exchange.records import card_of, matchups_in, matchups_record
from judge_tui.judging.matchup import TIE
from judge_tui.judging.packets.answers import answered, records_of
from judge_tui.judging.packets.as_written import answers_in
from judge_tui.judging.packets.keys import as_table, keys_in
from judge_tui.judging.packets.packet import MOST_BYTES, Packet, made
from judge_tui.judging.rubric import default_rubric_path
from judge_tui.judging.workspace import Workspace

ROOT = Path(__file__).parents[3]
HERE = Path("answer.json")
NAMES = ("glm", "qwen", "minimax", "kimi", "GLM-5", "M2.7", "K2.6")
RECEIVED = datetime(2026, 3, 1, 10, tzinfo=UTC)


@pytest.fixture
def own(tmp_path: Path) -> Workspace:
    """Two small submissions whose code, comments and file names tell whose they are."""
    for model, name in (("glm5", "glm_cache.py"), ("qwen36", "cache.py")):
        folder = tmp_path / "submissions" / model / "kv"
        folder.mkdir(parents=True)
        text = f"# by {model}, who is GLM-5 or Qwen3-6\nclass Cache:\n    pass\n````\n"
        (folder / name).write_text(text)
        (folder / "notes.md").write_text(f"{model} says hello\n")
    return Workspace.at(tmp_path)


def _packet(workspace: Workspace, *models: str, blind: bool = True, task: str = "kv") -> Packet:
    return made(workspace, [workspace.submission(model, task) for model in models], blind=blind)


def _submitted(task: str, folder: Path) -> tuple[Workspace, list[str]]:
    """The reconstructions that this repository has, else two twins of the tests under such names."""
    workspace = Workspace.find(explicit=ROOT)
    models = [model for model in workspace.models() if workspace.submission(model, task).files]
    if models:
        return workspace, models
    twins = sorted((ROOT / "tests" / "checks" / "tasks" / task / "twins").iterdir())[:2]
    for model, twin in zip(("glm5", "qwen36"), twins, strict=True):
        place = folder / "submissions" / model / task
        place.parent.mkdir(parents=True)
        if twin.is_dir():
            shutil.copytree(twin, place)
        else:
            place.mkdir()
            shutil.copy(twin, place)
    return Workspace.at(folder), ["glm5", "qwen36"]


@pytest.mark.parametrize("task", task_names())
def test_two_submissions_fit_and_a_blind_packet_names_nobody(task: str, tmp_path: Path) -> None:
    workspace, models = _submitted(task, tmp_path)
    for pair in combinations(models, 2):
        text = _packet(workspace, *pair, task=task).text
        assert len(text.encode()) <= MOST_BYTES
        assert not [name for name in NAMES if name.lower() in text.lower()]
        assert "## The challenge" in text


def test_two_submissions_that_differ_in_their_name_alone_look_the_same_in_a_blind_packet(
    tmp_path: Path,
) -> None:
    text = "# {0}: the_{0}_cache, {0}-src\nclass {0}Cache:\n    by = '{1}'\n"
    for model in ("glm5", "longestname72b"):
        folder = tmp_path / "submissions" / model / "kv"
        (folder / f"{model}-src").mkdir(parents=True)
        for name in (f"{model}.py", f"{model}-src/{model}_a.py", "helper.py"):
            (folder / name).write_text(text.format(model, "-".join(model)))
    (tmp_path / "scores").mkdir()
    code = _packet(Workspace.at(tmp_path), "glm5", "longestname72b").text
    first, second = (code.split(f"## Submission {letter}\n")[1].split("\n## ")[0] for letter in "AB")
    assert re.sub(r"### A|### B", "###", first) == re.sub(r"### A|### B", "###", second)


def test_a_blind_packet_names_nobody_wherever_a_name_may_stand(
    own: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGE_TUI_CACHE", str(tmp_path / "cache"))
    glm = own.root / "submissions" / "glm5" / "kv"
    (glm / "submission.toml").write_text('model = "Super Model X"\ncomment = "by Super Model X"\n')
    (glm / "SuperModelX_notes.md").write_text("super_model_x, glm5@2, GLM 5\n")
    shutil.copytree(glm, glm.with_name("kv@2"))
    (own.root / "bindings" / "glm5" / "kv").mkdir(parents=True)
    (own.root / "bindings" / "glm5" / "kv" / "adapter.py").write_text("# Super Model X\n")
    shipped = default_rubric_path("kv").read_text()
    (own.root / "rubrics").mkdir()
    (own.root / "rubrics" / "kv.toml").write_text(
        shipped.replace('description = "', 'description = "GLM5 ', 1)
    )
    workspace = Workspace.at(own.root)
    store = Store()
    for model in ("glm5", "glm5@2", "qwen36"):
        submission = workspace.submission(model, "kv")
        said = f"{model} of Super Model X: bindings/glm5/kv/adapter.py"
        evidence = Evidence(
            said, said, said, said, ok=False, file="adapter.py", line=1, note=said, output=said
        )
        outcome = Outcome(model, "kv", "loads", Verdict.FAIL, said, 1.0, (evidence,), 1, device="chip")
        store.keep([outcome], store.key(submission, "cpu", "chip"))
    store.chose("kv", "auto", "cpu", ["chip"])
    packet = _packet(workspace, "glm5", "qwen36", "glm5@2")
    assert packet.unchecked == ()
    assert "**loads: fail**" in packet.text
    assert "glm" in _packet(workspace, "glm5", "qwen36", blind=False).text.lower()
    text = packet.text.lower()
    assert not [
        name for name in ("glm", "qwen", "super", "model x", "@2") if name in text.replace("supersed", "")
    ]


def test_code_is_numbered_and_comes_before_prose(own: Workspace) -> None:
    text = _packet(own, "glm5", "qwen36", blind=False).text
    assert "Submissions: A is glm5, B is qwen36." in text
    assert "    2  class Cache:" in text
    assert text.index("### A: glm_cache.py") < text.index("### A: notes.md") < text.index("### B: cache.py")
    assert "`````\n    1  # by glm5" in text, "a fence is longer than any in the code"
    assert text.count("No check has been run on these files.") == 2


def test_what_does_not_fit_is_named(own: Workspace) -> None:
    big = own.submission("glm5", "kv").path / "z_big.py"
    big.write_text("".join(f"x{n} = {n}\n" for n in range(30_000)))
    (own.submission("glm5", "kv").path / "data.bin").write_bytes(b"\0\1")
    packet = _packet(Workspace.at(own.root), "glm5", "qwen36", blind=False)
    assert MOST_BYTES * 0.9 < len(packet.text.encode()) <= MOST_BYTES
    assert packet.left_out[0] == "A data.bin (no text)"
    assert packet.left_out[1].startswith("A z_big.py from line ")
    assert "### B: cache.py" in packet.text
    assert "Left out, for want of room or since it is no text: data.bin" in packet.text


def test_a_submission_without_files_is_refused(own: Workspace) -> None:
    shutil.rmtree(own.root / "submissions" / "qwen36")
    with pytest.raises(UsageError):
        _packet(Workspace.at(own.root), "glm5", "qwen36")


def _answer(packet: Packet, winner: str, *scores: int, **more: Any) -> dict[str, Any]:
    said = {
        letter: {"dimensions": {"correctness": {"score": score}}, "summary": f"{score}.", "notes": []}
        for letter, score in zip(packet.key.seats, scores, strict=True)
    }
    return {
        "packet": packet.key.id, "judge": "gpt", "submissions": said, "winner": winner,
        "key_differentiator": "Tests.", **more,
    }  # fmt: skip


def _records(
    workspace: Workspace, packets: Sequence[Packet], *answers: dict[str, Any]
) -> list[dict[str, Any]]:
    keys = keys_in(json.dumps({"packets": [as_table(one.key) for one in packets]}).encode(), HERE)
    found = [answered(1, raw, keys, "", HERE) for raw in answers]
    made = records_of(workspace, found, RECEIVED, lambda t, j: matchups_record(workspace.matchups(t, j)), [])
    return [record for _, record in made]


def test_an_answer_becomes_a_machines_word_with_its_provenance(own: Workspace) -> None:
    packet = _packet(own, "qwen36", "glm5")
    shown = next(name for name, real in packet.key.seats["B"].files.items() if real == "glm_cache.py")
    assert "glm" not in shown
    raw = _answer(packet, "B", 60, 80, margin=20)
    raw["submissions"]["B"]["notes"] = [
        {"kind": "bug", "severity": "major", "text": "Empty.", "file": shown, "lines": [2, 99]},
        {"kind": "bug", "text": "Elsewhere.", "file": "none.py", "lines": [1, 1]},
    ]
    first, second, matchups = _records(own, [packet], raw)
    card = card_of(first, HERE)
    assert (card.model, card.score("correctness"), card.by_machine, card.submission) == (
        "glm5", 80, True, own.submission("glm5", "kv").digest,
    )  # fmt: skip
    assert card.provenance["order"] == ["qwen36, glm5"]
    assert card.provenance["prompt"] == packet.key.id
    bug, elsewhere = card.notes
    assert (bug.file, bug.lines, bug.quote) == ("glm_cache.py", (2, 4), "class Cache:\n    pass\n````")
    assert (elsewhere.file, elsewhere.lines) == ("none.py", None)
    assert card_of(second, HERE).score("correctness") == 60
    (matchup,) = matchups_in(matchups, HERE).matchups
    assert (matchup.winner, matchup.margin) == ("glm5", 20)


def test_a_winner_that_flips_with_the_order_is_a_tie(own: Workspace) -> None:
    packets = [_packet(own, "glm5", "qwen36"), _packet(own, "qwen36", "glm5")]
    flips = [_answer(packet, "A", 80, 60) for packet in packets]
    first, _, matchups = _records(own, packets, *flips)
    card = card_of(first, HERE)
    assert card.score("correctness") == 70
    assert "80, 60" in card.comment("correctness")
    (matchup,) = matchups_in(matchups, HERE).matchups
    assert (matchup.winner, matchup.margin) == (TIE, None)
    assert "Flips" in matchup.key_differentiator
    same = [_answer(packets[0], "A", 80, 60), _answer(packets[1], "B", 60, 80)]
    (matchup,) = matchups_in(_records(own, packets, *same)[-1], HERE).matchups
    assert matchup.winner == "glm5"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"packet": "other"}, "of which no key is here"),
        ({"winner": "C"}, "'winner' must be"),
        ({"submissions": {}}, "'submissions' must be A, B"),
        ({"margin": 101}, "between 0 and 100"),
        ({"key_differentiator": 3}, "'key_differentiator' must be a text"),
        ({"sure": True}, "'sure' is nothing that an answer has"),
    ],
)
def test_an_answer_that_is_none_is_refused(own: Workspace, change: dict[str, Any], said: str) -> None:
    packet = _packet(own, "glm5", "qwen36")
    with pytest.raises(WorkspaceError, match=said):
        _records(own, [packet], _answer(packet, "A", 1, 2) | change)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"dimensions": {"speed": {"score": 3}}}, "A has scores for 'speed', which is no dimension"),
        (
            {"dimensions": {"correctness": {"score": 3, "why": "x"}}},
            "'why' is nothing that 'correctness' of A",
        ),
        ({"mood": "good"}, "'mood' is nothing that A has"),
        ({"notes": [{"kind": "bug", "text": "x", "lines": "3-4"}]}, "'lines' of note 1 on A"),
        ({"notes": [{"kind": "bug", "text": "x", "lines": [0, 4]}]}, "'lines' of note 1 on A"),
        ({"notes": [{"kind": "bug", "text": "x", "line": 3}]}, "'line' is nothing that note 1 on A"),
    ],
)
def test_nothing_that_an_answer_says_is_lost(own: Workspace, change: dict[str, Any], said: str) -> None:
    packet = _packet(own, "glm5", "qwen36")
    answer = _answer(packet, "A", 1, 2)
    answer["submissions"]["A"] |= change
    with pytest.raises(WorkspaceError, match=said):
        _records(own, [packet], answer)


def test_lines_of_files_that_have_changed_since_have_no_quote_of_others(own: Workspace) -> None:
    packet = _packet(own, "glm5", "qwen36")
    answer = _answer(packet, "A", 1, 2)
    answer["submissions"]["A"]["notes"] = [
        {"kind": "bug", "text": "x", "file": next(iter(packet.key.seats["A"].files)), "lines": [2, 3]}
    ]
    (own.root / "submissions" / "glm5" / "kv" / "glm_cache.py").write_text("other\n" * 9)
    (note,) = _records(Workspace.at(own.root), [packet], answer)[0]["notes"]
    assert note["lines"] == [2, 3]
    assert "quote" not in note


def test_answers_are_read_as_models_write_them() -> None:
    one = '{"a": 1}'
    assert answers_in(f"Here it is:\n\n```json\n{one}\n```\nDone.", HERE) == [(4, {"a": 1})]
    assert answers_in(f"{one}\n\n{one}\n", HERE) == [(1, {"a": 1}), (3, {"a": 1})]
    assert answers_in(f"[{one}, {one}]", HERE) == [(1, {"a": 1}), (1, {"a": 1})]
    code = f"~~~python\nx = [1]\n~~~\nso:\n```\n{one}\n```\nand\n````JSON\n{one}\n````\n"
    assert answers_in(code, HERE) == [(6, {"a": 1}), (10, {"a": 1})]
    for text, line in (("{", 1), ("\n[1]", 2), (f"{one}\nwords", 2), (f"```json\n{one[:-1]}", 2)):
        with pytest.raises(WorkspaceError) as raised:
            answers_in(text, HERE)
        assert raised.value.line == line


def test_what_is_no_key_is_told() -> None:
    for raw in (None, [], {}, {"packets": [{}]}, {"packets": 3}):
        with pytest.raises(WorkspaceError, match="no key"):
            keys_in(json.dumps(raw).encode(), HERE)
    with pytest.raises(WorkspaceError, match="no key"):
        keys_in(b"\xff{", HERE)
