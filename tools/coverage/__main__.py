"""Writes the table of docs/statistics.md anew.

python -m tools.coverage
"""

from __future__ import annotations

import os
from pathlib import Path

# a thread per core for matrices of four by four is slower than one
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

PAGE = Path(__file__).resolve().parents[2] / "docs" / "statistics.md"
BEGIN, END = "<!-- coverage: written by make coverage -->", "<!-- end of coverage -->"


def main() -> None:
    """Simulate every setting, and put the table into the page."""
    from tools.coverage.settings import SETTINGS, covered

    rows = [
        "| interval of | drawn | n | simulations | covers | median width |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for one in SETTINGS:
        share, width = covered(one)
        rows.append(f"| {one.what} | {one.how} | {one.n} | {one.times:,} | {share:.1%} | {width:.2f} |")
        print(rows[-1], flush=True)
    before, _, rest = PAGE.read_text().partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text("\n".join([before + BEGIN, *rows, END + after]))


if __name__ == "__main__":
    main()
