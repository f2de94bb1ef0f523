"""The guide's challenge in the app: three answers get what they deserve, and again when it changes."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from judge_tui.judging.workspace import Workspace
from judge_tui.tui.app import JudgeApp
from judge_tui.tui.engine.check_runner import EngineOptions

from .conftest import Driver, running

GUIDE = Path(__file__).parents[2] / "docs/examples/challenges/rms_norm"
ANSWERS = {"einsum": "right", "wrong_eps": "wrong", "wrong_at_width_one": "wrong"}
#: Seconds for an engine and its jails, on a machine that has much else to do.
PATIENCE_S = 120.0


async def verdicts(app: Driver, check: str, wanted: dict[str, str]) -> dict[str, str]:
    """The verdicts of a check by model, once they are those that are waited for or time is up."""
    ends = asyncio.get_running_loop().time() + PATIENCE_S
    found: dict[str, str] = {}
    while found != wanted and asyncio.get_running_loop().time() < ends:
        await app.pilot.pause(0.1)
        known = app.compare.session.outcomes.items()
        found = {model: str(outcome.verdict) for (model, of), outcome in known if of == check}
    return found


@pytest.mark.thorough
async def test_three_answers_are_judged_and_again_when_the_challenge_changes(
    workspace: Workspace, tmp_path: Path
) -> None:
    root = tmp_path / "mine"
    place = root / "challenges" / "rms_norm"
    place.mkdir(parents=True)
    challenge = place / "challenge.py"
    text = (GUIDE / "challenge.py").read_text()
    challenge.write_text(text)
    for name, kind in ANSWERS.items():
        folder = root / "submissions" / name / "rms_norm"
        folder.mkdir(parents=True)
        (folder / "answer.py").write_bytes((GUIDE / kind / name / "answer.py").read_bytes())
    own = Workspace.find(root)
    submissions = [own.submission(model, "rms_norm") for model in ANSWERS]
    judged = JudgeApp(own, submissions, "anna", EngineOptions(watch=True, challenge=own.challenge))
    async with running(judged) as app:
        deserved = dict(zip(ANSWERS, ("pass", "fail", "fail"), strict=True))
        assert await verdicts(app, "accuracy", deserved) == deserved
        # what was the wrong eps is now the right one
        challenge.write_text(text.replace("eps=1e-3", "eps=1e-6"))
        turned = dict(zip(ANSWERS, ("fail", "pass", "fail"), strict=True))
        assert await verdicts(app, "accuracy", turned) == turned
