"""A workspace of which every shape of report has something to say: scores, notes, matchups, outcomes."""

from __future__ import annotations

from pathlib import Path

from judge_tui.checks.store import Store
from judge_tui.checks.verdict import Curve, Evidence, Outcome, Verdict
from judge_tui.judging.matchup import TIE, Criterion, Matchup, Matchups, save_matchups
from judge_tui.judging.note import new_note
from judge_tui.judging.scorecard import save_scorecard
from judge_tui.judging.summaries.asked import Asked, report_of
from judge_tui.judging.summaries.parts import Report
from judge_tui.judging.workspace import Workspace

__all__ = ["JUDGES", "LINE", "MODELS", "SHAPES", "judged_workspace", "reports"]

MODELS = {"glm5": 66, "kimi": 64, "qwen36": 85}
JUDGES = tuple(f"judge{at}" for at in range(6))
#: So many of them score; all compare.
SCORING = 3
#: The line that notes are about.
LINE = "    return keys[:, : self.length]"
SOURCE = f"# cache\n\ndef read(self, keys):\n    # what is held\n{LINE}\n\n\nx = 1\n"
RUBRIC = """\
task = "kv"
title = "KV cache"
version = 1

[[dimension]]
id = "correctness"
title = "Correctness"
key = "c"
weight = 3.0

[[dimension]]
id = "code_quality"
title = "Code | <Quality>, and how well a reader can follow what it does"
key = "e"
weight = 1.0

[[dimension]]
id = "tests"
title = "Tests"
key = "t"
weight = 1.0
"""
ROUND = """\
title = "Round one"
date = 2026-04-27
tasks = ["kv"]

[grades]
qwen36 = "A"

[[prose]]
judge = "judge0"
heading = "What made it close"
text = "Both keep one buffer."
columns = ["Factor", "glm5", "qwen36"]
rows = [["Tests", "few", "many"]]
"""
#: Shape → what is asked for.
SHAPES = {
    "two-way": Asked("two-way", ("glm5", "qwen36"), ("kv",)),
    "head-to-head": Asked("head-to-head"),
    "round": Asked("round", rounds=("one",)),
    "combined": Asked("combined"),
    "standings": Asked("standings"),
    "metrics": Asked("metrics", tasks=("kv",)),
}


def judged_workspace(root: Path) -> Workspace:
    """Make it; outcomes go into the cache that the environment names."""
    for model in MODELS:
        folder = root / "submissions" / model / "kv"
        folder.mkdir(parents=True)
        (folder / "kv_cache.py").write_text(SOURCE)
    for name, text in (("rubrics/kv.toml", RUBRIC), ("rounds/one.toml", ROUND)):
        (root / name).parent.mkdir()
        (root / name).write_text(text)
    (root / "scores").mkdir()
    workspace = Workspace.at(root)
    for at, judge in enumerate(JUDGES):
        if at < SCORING:
            for model, score in MODELS.items():
                _score(workspace, model, judge, score + at % 4)
        _compare(workspace, judge, at)
    for model, base in MODELS.items():
        _keep(workspace, model, base)
    return workspace


def _score(workspace: Workspace, model: str, judge: str, score: int) -> None:
    card, stamp = workspace.scorecard("kv", model, judge)
    for at, dimension in enumerate(("correctness", "code_quality", "tests")):
        card = card.with_score(dimension, score - 7 * at)
    card = card.judged_under(workspace.rubric("kv"), workspace.submission(model, "kv").digest)
    if judge == "judge0":
        told = {"file": "kv_cache.py", "lines": (5, 5), "source": SOURCE}
        card = card.with_note(new_note("bug", "Reads one too many.", severity="critical", **told))
        card = card.with_note(new_note("strength", "Short."))
    save_scorecard(workspace.scorecard_path("kv", model, judge), card, stamp)


def _compare(workspace: Workspace, judge: str, at: int) -> None:
    criteria = (
        (Criterion("Reading", {"glm5": "✓ a slice", "qwen36": "✓ a view"}, "qwen36"),) if not at else ()
    )
    words = (
        Matchup(("glm5", "qwen36"), "qwen36", 9, "It has tests.", criteria),
        Matchup(("glm5", "kimi"), TIE if at % 2 else "glm5" if at % 4 else "kimi"),
        Matchup(("kimi", "qwen36"), "kimi" if at == 5 else "qwen36"),
    )
    save_matchups(workspace.matchups_path("kv", judge), Matchups("kv", judge, words), None)


def _keep(workspace: Workspace, model: str, base: int) -> None:
    store, submission = Store(), workspace.submission(model, "kv")
    sizes = tuple((float(2**power), float(base * 100 * 2**power)) for power in range(6, 13))
    curve = Curve("tokens", "bytes", (*sizes, (8192.0, None)), log_x=True, log_y=True)
    evidence = (
        Evidence(
            "bytes per token",
            float(base * 100),
            7000.0,
            "B",
            ok=base < 70,
            file="kv_cache.py",
            line=5,
            curve=curve,
        ),
        Evidence("slope", 1.0, 1.2, ok=True),
    )
    verdict = Verdict.PASS if base < 70 else Verdict.FAIL
    outcomes = [
        Outcome(model, "kv", "growth", verdict, "said", 1.0, evidence, 1, device="chip", sandbox="full"),
        Outcome(model, "kv", "loads", Verdict.PASS, "said", 1.0, (), 1, device="chip", sandbox="full"),
    ]
    store.keep(outcomes, store.key(submission, "cpu", "chip"))
    store.chose("kv", "auto", "cpu", ["chip"])


def reports(workspace: Workspace) -> dict[str, Report]:
    """A report of each shape."""
    return {shape: report_of(workspace, asked) for shape, asked in SHAPES.items()}
