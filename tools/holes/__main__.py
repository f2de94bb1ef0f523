"""Edits right submissions in one place, and tells which edits no check sees though answers differ.

    python -m tools.holes [--task kv]... [--rights 12] [--edits 8] [--seed 1] [--only NAME] [--log FILE]

An edit is *caught* by a check, *alike* where a fuzz of other seeds, sizes and numbers sees no other answer,
or else a *hole*. Of what is alike a part is judged all the same: how much of what the checks catch the fuzz
saw says what its word is worth. Exits 1 where there is a hole that ``known.toml`` does not explain. With
``--log`` each result is written down as it comes, and what is in there is not tried again.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path

from tools.holes.machine import ALIKE, CAUGHT, HELD, HOLE, MISSED_BY_FUZZ, TASKS, Found, Right, rights, tried

__all__ = ["main"]

_KNOWN = Path(__file__).with_name("known.toml")


def main() -> int:
    """Try the edits, and tell the holes and a table.

    Returns:
        The exit status: 1 where a hole is open.
    """
    parser = argparse.ArgumentParser(prog="python -m tools.holes", description=str(__doc__).splitlines()[0])
    parser.add_argument("--task", action="append", choices=TASKS)
    parser.add_argument("--rights", type=int, default=12, help="right submissions of each task")
    parser.add_argument("--edits", type=int, default=8, help="edits of each")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", help="names of right submissions")
    parser.add_argument("--log", type=Path, help="file that results are kept in, to go on from")
    options = parser.parse_args()
    chosen = [
        right
        for task in options.task or TASKS
        for right in [one for one in rights(task) if not options.only or one.name in options.only][
            : options.rights
        ]
    ]
    begun = time.monotonic()
    found = list(_tried_all(chosen, options.edits, options.seed, options.log))
    known = _known()
    open_holes = [one for one in found if one.end == HOLE and _key(one) not in known]
    for one in open_holes:
        print(f"{one.task}/{one.name}/{one.file}:{one.edit}  [{one.difference}]")
    print(_table(found, known))
    print(f"{len(found)} edits of {len(chosen)} right submissions, {time.monotonic() - begun:.0f} s")
    return 1 if open_holes else 0


def _known() -> dict[str, str]:
    """Edits that change answers and nothing that the contract says → why."""
    listed = tomllib.loads(_KNOWN.read_text("utf-8")).get("known", [])
    return {each["edit"]: each["why"] for each in listed}


def _key(found: Found) -> str:
    return f"{found.task}/{found.name}/{found.file}:{found.edit}"


def _tried_all(chosen: Sequence[Right], each: int, seed: int, log: Path | None) -> Iterator[Found]:
    done = _logged(log)
    for right in chosen:
        yield from done.get((right.task, right.name), [])
    waiting = [right for right in chosen if (right.task, right.name) not in done]
    with ProcessPoolExecutor(2) as pool:
        jobs = {pool.submit(_tried, right, each, seed): right for right in waiting}
        for number, job in enumerate(as_completed(jobs), 1):
            found = job.result()
            if log is not None:
                with log.open("a", encoding="utf-8") as file:
                    file.writelines(f"{json.dumps(asdict(one))}\n" for one in found)
            print(f"{number}/{len(jobs)} {jobs[job].task}/{jobs[job].name}", file=sys.stderr, flush=True)
            yield from found


def _tried(right: Right, each: int, seed: int) -> list[Found]:
    return list(tried(right, edits_each=each, seed=seed))


def _logged(log: Path | None) -> dict[tuple[str, str], list[Found]]:
    done: dict[tuple[str, str], list[Found]] = {}
    if log is not None and log.exists():
        for line in log.read_text("utf-8").splitlines():
            one = Found(**json.loads(line))
            done.setdefault((one.task, one.name), []).append(one)
    return done


def _table(found: Iterable[Found], known: dict[str, str]) -> str:
    """Task × what became of its edits, in Markdown."""
    counts: dict[str, Counter[str]] = {}
    for one in found:
        explained = one.end == HOLE and _key(one) in known
        counts.setdefault(one.task, Counter())["explained" if explained else one.end] += 1
    lines = [
        "| task | edits | caught | alike | explained | open | seen by the fuzz |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for task, count in counts.items():
        caught = count[CAUGHT] + count[MISSED_BY_FUZZ]
        # each that the fuzz missed stands for others of those that were not judged
        likely = count[CAUGHT] + count[MISSED_BY_FUZZ] / HELD
        seen = f"{100 * count[CAUGHT] / likely:.1f} %" if likely else "–"
        lines.append(
            f"| {task} | {count.total()} | {caught} | {count[ALIKE]} | {count['explained']} | {count[HOLE]} "
            f"| {seen} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
