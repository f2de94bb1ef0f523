"""Measures the claims of the published analyses on the reconstructions, and writes docs/seeds.md anew.

    python docs/seeds.py [--seeds 1 2 3] [--stored] [--reports FILE ...] [--only NAME ...] [--check]

Every check is run on every reconstruction, once per seed, then the experiments that no check makes; the
tables between the markers of the page are replaced, and nothing else of it. With ``--check``
nothing is written, and the exit status is 1 when the page would change.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from seed_claims import SECTIONS
from seed_claims.claim import REASONS, Section
from seed_claims.runs import Runs, read_runs, run_checks

PAGE = Path(__file__).resolve().with_suffix(".md")
SEEDS = (1, 2, 3)
#: Measurements that are no checks.
PLAIN = {"experiment", "scores"}


def table(section: Section, runs: Runs) -> str:
    """The section as a Markdown table; a claim that cannot be measured any more stops the script."""
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
    """The page with what stands between the markers of a name replaced."""
    pattern = re.compile(rf"(<!-- seeds:{name} -->\n).*?(<!-- /seeds:{name} -->)", re.DOTALL)
    if len(pattern.findall(page)) != 1:
        raise SystemExit(f"{PAGE.name} must have one pair of markers seeds:{name}")
    return pattern.sub(lambda match: f"{match[1]}\n{text}\n\n{match[2]}", page)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="only these tables")
    parser.add_argument("--stored", action="store_true", help="take the outcomes that earlier runs stored")
    parser.add_argument(
        "--reports", type=Path, nargs="+", metavar="FILE", help="take these JSON reports instead"
    )
    parser.add_argument("--check", action="store_true", help="write nothing; 1 when the page would change")
    options = parser.parse_args()
    runs = read_runs(options.reports) if options.reports else run_checks(options.seeds, stored=options.stored)
    old = page = PAGE.read_text()
    for section in SECTIONS:
        if options.only is None or section.name in options.only:
            print(section.name, file=sys.stderr, flush=True)
            page = between(page, section.name, table(section, runs))
    if options.only is None:
        page = between(page, "count", count(page, runs))
    if options.check:
        print("up to date" if page == old else "the page would change")
        return int(page != old)
    PAGE.write_text(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
