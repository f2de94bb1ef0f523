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
    card: Scorecard, rubric: Rubric, digest: str | None, checks: Iterable[CheckSeen] = ()
) -> Scorecard:
    """A card with what its scores refer to now.

    Args:
        card: The card.
        rubric: The rubric that is scored by.
        digest: What :func:`files_judged` says.
        checks: The verdicts on those files; none leave the card's own.
    """
    judged = card.judged_under(rubric, digest)
    seen = tuple(checks) if digest is not None else ()
    return judged.with_checks(seen) if seen else judged
