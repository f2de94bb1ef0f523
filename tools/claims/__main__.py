"""Measures the claims of the published analyses on the reconstructions, and writes docs/claims.md anew.

    python -m tools.claims [--seeds 1 2 3] [--stored] [--reports FILE ...] [--only NAME ...] [--check]

Every check is run on every reconstruction, once per seed, then the experiments that no check makes; the
tables between the markers of the page are replaced, and nothing else of it. With ``--check``
nothing is written, and the exit status is 1 when the page would change.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tools.claims.page import PAGE, between, count, table
from tools.claims.runs import read_runs, run_checks
from tools.claims.sections import SECTIONS

__all__ = ["main"]

SEEDS = (1, 2, 3)


def main() -> int:
    """Write the page, or say whether it would change.

    Returns:
        The exit status: 1 when ``--check`` finds that the page would change.
    """
    parser = argparse.ArgumentParser(prog="python -m tools.claims", description=str(__doc__).splitlines()[0])
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
