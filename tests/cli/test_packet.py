"""``judge-tui packet``, and an answer that goes in by ``import-scores --key``."""

from __future__ import annotations

import json
from pathlib import Path

from .conftest import Cli


def test_a_packet_goes_out_and_its_answer_comes_in(root: Path, cli: Cli) -> None:
    told = cli("packet", "glm5", "qwen36", "--task", "kv", "--blind", "--both-orders", "-o", "p.md")
    assert told.code == 0
    assert {path.name for path in Path().glob("p*")} == {"p.md", "p-2.md", "p.md.key.json"}
    first, second = json.loads(Path("p.md.key.json").read_text())["packets"]
    assert [first["seats"]["A"]["model"], second["seats"]["A"]["model"]] == ["glm5", "qwen36"]
    own = {"dimensions": {"correctness": {"score": 85, "comment": "Right."}}, "summary": "Good.", "notes": []}
    answer = {
        "packet": first["packet"], "judge": "gpt", "submissions": {"A": own, "B": own},
        "winner": "tie", "key_differentiator": "None.",
    }  # fmt: skip
    Path("answer.txt").write_text(f"Sure.\n```json\n{json.dumps(answer)}\n```\n")
    assert cli("import-scores", "answer.txt", "--key", "p.md.key.json").out == (
        "answer.txt: 3 new, 0 replaced, 0 as they were.\n"
    )
    card = (root / "scores" / "kv" / "glm5" / "gpt.toml").read_text()
    assert 'judge_kind = "model"' in card
    assert "[provenance]" in card
    assert "score = 85" in card
    assert "gpt" in cli("report", "head-to-head").out
    again = cli("import-scores", "answer.txt", "--key", "p.md.key.json", "--judge", "other")
    assert again.code == 0
    assert (root / "scores" / "kv" / "glm5" / "other.toml").exists()


def test_what_is_wrong_with_an_answer_is_told_with_its_line(root: Path, cli: Cli) -> None:
    cli("packet", "glm5", "qwen36", "--task", "kv", "-o", "p.md")
    Path("answer.json").write_text('\n{"packet": "x"}')
    told = cli("import-scores", "answer.json", "--key", "p.md.key.json")
    assert told.code == 2
    assert "answer.json:2: answers packet x" in told.err
    assert cli("import-scores", "answer.json", "--key", "none.json").code == 2
    assert "--key" in cli("import-scores", "answer.json", "--judge", "a").err
    assert cli("packet", "glm5", "--task", "kv").code == 2


def test_where_blind_is_the_rule_a_packet_is_blind_and_its_order_drawn(root: Path, cli: Cli) -> None:
    (root / "judge-tui.toml").write_text("[blind]\nalways = true\n")
    orders = set()
    for _ in range(40):
        told = cli("packet", "glm5", "qwen36", "--task", "kv", "-o", "p.md")
        assert "judged blind here" in told.out
        text = Path("p.md").read_bytes().lower()
        assert b"glm5" not in text
        assert b"qwen36" not in text
        (key,) = json.loads(Path("p.md.key.json").read_text())["packets"]
        orders.add(key["seats"]["A"]["model"])
    assert orders == {"glm5", "qwen36"}
    for model in ("glm5", "qwen36"):
        cli("score", model, "--task", "kv", "--set", "correctness=85")
    assert "judged blind here" not in cli("packet", "glm5", "qwen36", "--task", "kv", "-o", "p.md").out
    assert b"glm5" in Path("p.md").read_bytes()
