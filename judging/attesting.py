"""Which files, rubric and verdicts the scores of a card refer to."""

from __future__ import annotations

from collections.abc import Iterable

from judge_tui.checks.submission import Submission
from judge_tui.checks.verdict import Outcome
from judge_tui.judging.card import CheckSeen, Scorecard
from judge_tui.judging.rubric import Rubric
from judge_tui.judging.storage import FileStamp

__all__ = ["attested", "checks_seen", "files_judged", "written_elsewhere"]


def written_elsewhere(card: Scorecard, stamp: FileStamp | None) -> bool:
    """Whether a card is of files that are not here; it stays one when it is changed.

    Args:
        card: As it was read.
        stamp: What was on disk of it; ``None`` for no file, which is a card that is only begun.
    """
    return stamp is not None and card.scored_elsewhere


def files_judged(submission: Submission, *, elsewhere: bool) -> str | None:
    """Digest of the files that a judge's scores are about; ``None`` where those are not here.

    Args:
        submission: What is here; it may have no files.
        elsewhere: Whether the card is of other files.

    Raises:
        WorkspaceError: The files cannot be read.
    """
    return submission.digest if submission.files and not elsewhere else None


def checks_seen(outcomes: Iterable[Outcome]) -> tuple[CheckSeen, ...]:
    """What a card remembers of outcomes."""
    return tuple(CheckSeen(each.check, str(each.verdict), each.summary) for each in outcomes)


def attested(
    before: Scorecard, after: Scorecard, rubric: Rubric, digest: str | None, checks: Iterable[CheckSeen] = ()
) -> Scorecard:
    """A changed card with what its scores refer to.

    A changed score, total or grade is a word on the files as they are now, for the whole card. Changed words
    alone leave it with the files that were judged; they only set those of a card that names none yet, and add
    verdicts that had not come when it was scored.

    Args:
        before: The card before the change.
        after: The card after it.
        rubric: The rubric that is scored by.
        digest: What :func:`files_judged` says.
        checks: The verdicts on those files as they are now; none leave the card's own, unless those are on
            other files.
    """
    scored = _given(before) != _given(after) or (before.submission is None and digest is not None)
    if scored:
        # files that are gone are no others
        after = after.judged_under(rubric, digest or after.submission)
    seen = tuple(checks) if digest and after.submission == digest else ()
    if seen and not scored:
        # a check that has run again since is not what the judge has seen
        seen = tuple({each.check: each for each in (*seen, *before.checks)}.values())
    others = before.submission not in (None, after.submission)
    return after.with_checks(seen) if seen or others else after


def _given(card: Scorecard) -> tuple[object, ...]:
    return card.given, card.grade
