"""``judge-tui packet``, and an answer that goes in by ``import-scores``."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from .conftest import Cli


def _answer(packet: str, **more: Any) -> dict[str, Any]:
    own = {"dimensions": {"correctness": {"score": 85, "comment": "Right."}}, "summary": "Good.", "notes": []}
    return {
        "packet": packet, "judge": "gpt", "submissions": {"A": own, "B": own},
        "winner": "tie", "key_differentiator": "None.", **more,
    }  # fmt: skip


def _packet_of(file: str) -> str:
    found = re.search(r'"packet": \{\s*"const": "(\w+)"', Path(file).read_text())
    assert found
    return found[1]


def test_a_packet_goes_out_and_its_answer_comes_in(root: Path, cli: Cli) -> None:
    told = cli("packet", "glm5", "qwen36", "--task", "kv", "--blind", "--both-orders", "-o", "p.md")
    assert told.code == 0
    assert "import-scores ANSWER\n" in told.out
    assert {path.name for path in Path().glob("p*")} == {"p.md", "p-2.md"}, (
        "nothing beside it says who is who"
    )
    Path("answer.txt").write_text(f"Sure.\n```json\n{json.dumps(_answer(_packet_of('p.md')))}\n```\n")
    assert cli("import-scores", "answer.txt").out == "answer.txt: 3 new, 0 replaced, 0 as they were.\n"
    card = (root / "scores" / "kv" / "glm5" / "gpt.toml").read_text()
    assert 'judge_kind = "model"' in card
    assert "[provenance]" in card
    assert "score = 85" in card
    assert "gpt" in cli("report", "head-to-head").out
    assert cli("import-scores", "answer.txt").out == "answer.txt: 0 new, 0 replaced, 3 as they were.\n"
    assert cli("import-scores", "answer.txt", "--judge", "other").code == 0
    assert (root / "scores" / "kv" / "glm5" / "other.toml").exists()


def test_both_orders_come_in_from_one_text(root: Path, cli: Cli) -> None:
    cli("packet", "glm5", "qwen36", "--task", "kv", "--both-orders", "-o", "p.md")
    answers = [_answer(_packet_of(file), winner="A") for file in ("p.md", "p-2.md")]
    fenced = "\n".join(f"```json\n{json.dumps(one)}\n```\nand" for one in answers)
    Path("answer.txt").write_text(f"```python\nprint(1)\n```\n{fenced}\n")
    assert cli("import-scores", "answer.txt").code == 0
    assert "Flips with the order" in (root / "scores" / "kv" / "matchups" / "gpt.toml").read_text()
    Path("twice.txt").write_text(f"{json.dumps(answers[0])}\n{json.dumps(answers[0])}\n")
    assert "twice.txt:2: gpt answers packet" in cli("import-scores", "twice.txt").err


def test_a_key_goes_to_another_machine(
    root: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told = cli("packet", "glm5", "qwen36", "--task", "kv", "-o", "p.md", "--key", "k.json")
    assert "import-scores ANSWER --key k.json" in told.out
    assert not (tmp_path / "state").exists()
    Path("answer.json").write_text(json.dumps(_answer(_packet_of("p.md"))))
    lacking = cli("import-scores", "answer.json")
    assert lacking.code == 2
    assert "of which no key is here. Name its key: --key FILE" in lacking.err
    assert cli("import-scores", "answer.json", "--key", "k.json").code == 0
    monkeypatch.setenv("XDG_STATE_HOME", str(root / "submissions" / "glm5" / "kv" / "kv_cache.py"))
    assert "Say where the key goes: --key FILE" in cli("packet", "glm5", "qwen36", "--task", "kv").err


def test_a_packet_without_evidence_says_how_to_have_some(root: Path, cli: Cli) -> None:
    told = cli("packet", "qwen36", "glm5", "--task", "kv", "-o", "p.md")
    assert "not checked as it is now: judge-tui check glm5 qwen36 --task kv" in told.out


def test_what_is_wrong_with_an_answer_is_told_with_its_line(root: Path, cli: Cli) -> None:
    cli("packet", "glm5", "qwen36", "--task", "kv", "-o", "p.md")
    Path("answer.json").write_text('\n{"packet": "x", "submissions": {}}')
    told = cli("import-scores", "answer.json")
    assert told.code == 2
    assert "answer.json:2: answers packet x" in told.err
    assert cli("import-scores", "answer.json", "--key", "none.json").code == 2
    Path("cards.jsonl").write_text('{"task": "kv", "model": "glm5", "judge": "a"}\n')
    assert "--judge names the judge" in cli("import-scores", "cards.jsonl", "--judge", "a").err
    assert cli("packet", "glm5", "--task", "kv").code == 2


@pytest.mark.parametrize("judge", ["", "../x", "a/b"])
def test_a_judge_that_can_be_no_file_is_told_with_the_line(root: Path, cli: Cli, judge: str) -> None:
    cli("packet", "glm5", "qwen36", "--task", "kv", "-o", "p.md")
    Path("answer.json").write_text("\n" + json.dumps(_answer(_packet_of("p.md"), judge=judge)))
    told = cli("import-scores", "answer.json")
    assert told.code == 2
    assert told.err.startswith("judge-tui: answer.json:2: the name of a judge cannot ")
    assert not [*(root / "scores").iterdir()]


def test_lines_that_are_not_there_stand_in_the_text(root: Path, cli: Cli) -> None:
    cli("packet", "glm5", "qwen36", "--task", "kv", "-o", "p.md")
    answer = _answer(_packet_of("p.md"))
    own = {**answer["submissions"]["A"], "notes": [
        {"kind": "bug", "text": "Leaks.", "file": "kv_cache.py", "lines": [90, 91]},
        {"kind": "bug", "text": "Everywhere.", "lines": [1, 1]},
    ]}  # fmt: skip
    Path("answer.json").write_text(json.dumps({**answer, "submissions": {"A": own, "B": own}}))
    told = cli("import-scores", "answer.json")
    assert told.code == 0
    assert "answer.json:1: note 1 on A is about lines 90–91, which 'kv_cache.py' has not" in told.err
    card = (root / "scores" / "kv" / "glm5" / "gpt.toml").read_text()
    assert "Leaks. (lines 90–91)" in card
    assert "Everywhere. (line 1)" in card


def test_where_blind_is_the_rule_a_packet_is_blind_and_its_order_drawn(root: Path, cli: Cli) -> None:
    (root / "judge-tui.toml").write_text("[blind]\nalways = true\n")
    orders = set()
    for _ in range(40):
        told = cli("packet", "glm5", "qwen36", "--task", "kv", "-o", "p.md", "--key", "k.json")
        assert "judged blind here" in told.out
        text = Path("p.md").read_bytes().lower()
        assert b"glm5" not in text
        assert b"qwen36" not in text
        (key,) = json.loads(Path("k.json").read_text())["packets"]
        orders.add(key["seats"]["A"]["model"])
    assert orders == {"glm5", "qwen36"}
    for model in ("glm5", "qwen36"):
        cli("score", model, "--task", "kv", "--set", "correctness=85")
    assert "judged blind here" not in cli("packet", "glm5", "qwen36", "--task", "kv", "-o", "p.md").out
    assert b"glm5" in Path("p.md").read_bytes()
