"""``judge-tui score``: scores, comments and notes from a script."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from msgspec.structs import replace

from judge_tui.checks.errors import UsageError
from judge_tui.checks.store import last_outcomes
from judge_tui.cli import options
from judge_tui.cli.card_lines import card_lines
from judge_tui.cli.scoring import Changes, changed, conflicts, differences, standing
from judge_tui.judging.attesting import attested, checks_seen, files_judged, written_elsewhere
from judge_tui.judging.known_checks import refuse_unknown_checks
from judge_tui.judging.naming import default_judge, judge_name, recordable
from judge_tui.judging.placing import settled
from judge_tui.judging.plain import plain
from judge_tui.judging.refusals import card_refusal
from judge_tui.judging.scorecard import save_scorecard
from judge_tui.judging.strays import strays_of

__all__ = ["command"]


@click.command("score")
@click.argument("model", shell_complete=options.complete_model)
@options.task(required=True)
@options.judge
@click.option(
    "--set",
    "scores",
    multiple=True,
    metavar="DIM=N",
    help="Score a dimension 0–100; DIM=none takes the score back. Repeatable.",
)
@click.option(
    "--comment", "comments", multiple=True, metavar="DIM=TEXT", help="Comment on a dimension. Repeatable."
)
@click.option(
    "--note",
    "notes",
    multiple=True,
    metavar="KIND[/SEVERITY]:[FILE[:A-B]:]TEXT",
    help="Add a strength, weakness, bug or question. Repeatable.",
)
@click.option("--summary", metavar="TEXT", help="A few sentences on the whole.")
@click.option("--overall", metavar="N", help="Your own total 0–100; none takes it back.")
@click.option("--reason", metavar="TEXT", help="Why the total differs from the weighted mean.")
@click.option("--grade", metavar="LETTER", help="Your own letter; none takes it back.")
@click.option(
    "--verdict", metavar="VERDICT[:[FILE[:A-B]:]TEXT]",
    help="What it is as a whole: clean, rubric leak, reward hack, interesting or bug; none takes it back.",
)  # fmt: skip
@click.option("--elsewhere", is_flag=True, help="The scores are about files that are not here.")
@options.workspace
@options.submissions
def command(
    model: str,
    task: str,
    judge: str | None,
    workspace: Path | None,
    submissions: Path | None,
    elsewhere: bool,
    **wanted: Any,
) -> None:
    """Set scores, comments and notes on a submission, and say what changed.

    Without a change: show the scorecard; a name may then be shortened to a prefix that is unique.

    \b
      judge-tui score glm5 --task kv --set correctness=85 \\
        --note 'bug/major:kv_cache.py:10-20:The mask is applied too late'
    """
    found = options.open_workspace(workspace, submissions, None)
    writes = elsewhere or any(value not in (None, ()) for value in wanted.values())
    chosen = found.task(task, whole=writes)
    folder = found.model(model, chosen, whole=writes)
    recordable([folder])
    recordable([chosen], "task")
    who = judge_name(judge) if judge is not None else default_judge()
    rubric, submission = found.rubric(chosen), found.submission(folder, chosen)
    refuse_unknown_checks(found.rubric_path(chosen), chosen, found.challenge(chosen))
    before, stamp = found.scorecard(chosen, folder, who)
    if before.sealed:
        raise UsageError(
            "your scorecard on this submission is blind: its scores beside a name would tell who is who.",
            hint="Go on with judge-tui compare, and reveal the names there once everything is scored.",
        )
    newer = card_refusal(found, before)
    if newer and writes:
        raise newer
    after = changed(before, Changes.of(**wanted), rubric, submission)
    click.echo(plain(f"{folder} · {chosen} · {who}"))
    if after != before:
        after = settled(after, submission, before)
        digest = files_judged(submission, elsewhere=elsewhere or written_elsewhere(before, stamp))
        if before.submission not in (None, submission.digest):
            click.echo("  the files have changed since this card was last saved")
        seen = () if digest is None else checks_seen(last_outcomes(submission).values())
        if elsewhere:
            after = replace(after, submission=None)
        after = attested(before, after, rubric, digest, seen)
        if not submission.files and not elsewhere:
            click.echo(plain(f"  {folder} has no file for {chosen} here: this is about files elsewhere"))
        save_scorecard(found.scorecard_path(chosen, folder, who), after, stamp)
    told = (
        differences(before, after) or ["nothing changed"] if writes else card_lines(after, rubric, submission)
    )
    for line in told:
        click.echo(f"  {plain(line)}")
    for line in [*standing(after, rubric), *conflicts(after, rubric)]:
        click.echo(f"  {plain(line)}")
    if newer:
        click.echo(f"judge-tui: {plain(str(newer))}", err=True)
    for stray in strays_of(found, after, rubric):
        click.echo(f"judge-tui: {plain(stray)}", err=True)
