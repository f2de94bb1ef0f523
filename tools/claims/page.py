"""The page of the claims: docs/claims.md, whose tables stand between markers that name their sections."""

from __future__ import annotations

import re

from tools.claims.claim import REASONS, Section
from tools.claims.runs import ROOT, Runs

__all__ = ["PAGE", "PLAIN", "between", "count", "table"]

PAGE = ROOT / "docs" / "claims.md"
#: Measurements that are no checks.
PLAIN = {"experiment", "scores"}


def table(section: Section, runs: Runs) -> str:
    """The section as a Markdown table, every claim of it measured now.

    Raises:
        LookupError: A claim cannot be measured any more.
    """
    rows = [f"| Id | About | Claim | Measured | By | {section.verdict} |", "|---|---|---|---|---|---|"]
    for claim in section.claims:
        if claim.measure is None:
            cells = [claim.ident, claim.models, claim.says, "–", "–", claim.reason]
        else:
            found = claim.measure(runs)
            by = ", ".join(word if word in PLAIN else f"`{word}`" for word in claim.by.split(", "))
            cells = [claim.ident, claim.models, claim.says, found.measured, by, found.verdict]
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(rows)


def count(page: str, runs: Runs) -> str:
    """How many claims were measured, and how they ended, counted on the page itself."""
    rows = [row.rsplit("|", 2) for row in page.splitlines() if re.match(r"\| [CX]\d", row)]
    ends = [row[1].strip() for row in rows]
    listed = sum(end in REASONS for end in ends)
    yes, no, partly = (ends.count(word) for word in ("yes", "**no**", "partly"))
    return (
        f"{len(ends)} claims and contradictions: {yes} hold, {partly} hold in part, {no} do not; "
        f"{len(ends) - listed - yes - no - partly} contradictions have a measurement beside them; "
        f"{listed} are listed only. Seeds: {', '.join(map(str, runs.seeds))}."
    )


def between(page: str, name: str, text: str) -> str:
    """The page with what stands between the markers of a name replaced.

    Args:
        page: The whole page.
        name: Of the markers: a section's, or ``count``.
        text: What is to stand there.

    Raises:
        SystemExit: The page has not one pair of such markers.
    """
    pattern = re.compile(rf"(<!-- claims:{name} -->\n).*?(<!-- /claims:{name} -->)", re.DOTALL)
    if len(pattern.findall(page)) != 1:
        raise SystemExit(f"{PAGE.name} must have one pair of markers claims:{name}")
    return pattern.sub(lambda match: f"{match[1]}\n{text}\n\n{match[2]}", page)
