"""Whether sequences that were forked, put in another order or taken back hold what is theirs."""

from __future__ import annotations

import re
from dataclasses import replace

from judge_tui.checks.bench import Bench
from judge_tui.checks.binding.solver import Search
from judge_tui.checks.check import Findings, check
from judge_tui.checks.faults import Skipped, Unbound
from judge_tui.checks.tasks.kv.finding.paged import parts_of
from judge_tui.checks.tasks.kv.finding.sharing import of_codes
from judge_tui.checks.tasks.kv.paged.filling import fill
from judge_tui.checks.tasks.kv.paged.job import Job
from judge_tui.checks.tasks.kv.sharing import decoders, forks, prefixes, rows
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tasks.kv.words import claims

__all__ = ["sharing"]

_NAMED = r"(^|_)(fork|copy_on_write|cow|reorder|roll_?back|rewind)(_|$)"
_BACK = re.compile(r"(?i)roll_?back|rewind")
_OTHER = r"test|bench|demo|print|compare|config|stats|report|plot|bytes|memory|head|weight|layout|axes"
_SAID = r"copy[- ]on[- ]write|prefix sharing|\bforked?\b"


@check(
    "sharing",
    "shared pasts",
    establishes="Sequences that are forked, put in another order or taken back hold what is theirs alone.",
    optional=True,
    version=12,
)
def sharing(bench: Bench, found: Findings) -> str:
    """Fork, reorder, roll back, share prefixes; write on all sides; hold all against what was fed."""
    bindings = bench.bindings
    parts, said, wrong = parts_of(bindings.found), list[str](), list[str]()
    prompts = parts is not None and "add" in parts and parts["add"].takes("prompt")
    paged = parts is not None and (prompts or bool({"fork", "roll_back"} & set(parts)))
    plain = {"fork", "reorder", "roll_back"} & set(bindings.found)
    coded = _of_codes(bench)
    moving = decoders.movers(bench)
    if not (paged or plain or coded or moving):
        said_of = claims.claims(bench.submission, _NAMED, _OTHER)
        # what is told no number of tokens begins anew
        named = [claim for claim in said_of if claim.arguments or not _BACK.search(claim.name)]
        if named:
            raise Unbound("fork, reorder or roll_back", [f"saw {claim}" for claim in named[:6]])
        raise claims.skipped(bench.submission, "call that forks, reorders or takes back", _SAID)
    if parts is not None and paged:
        job = Job(bench, found, parts, wrong=wrong, said=said)
        job.measure()
        pool = job.pool()
        full = fill(bench, pool, each=pool.sizes.max_len, name="shared") if job.frees else None
        forks.judge(job, full)
        if prompts:
            prefixes.judge(job, full)
    if plain:
        rows.judge(Subject.of(bench), found, wrong, said)
    if moving:
        decoders.judge(bench, moving, found, wrong, said)
    for each in coded:
        own, fine = list[str](), list[str]()
        rows.judge(each, found.about(each.name), own, fine)
        wrong += [f"{each.name}: {words}" for words in own]
        said += [f"{each.name}: {words}" for words in fine]
    if found.verdict is None:
        raise Skipped("; ".join(dict.fromkeys(str(item.measured) for item in found.evidence)))
    return "; ".join(wrong[:3] or said)


def _of_codes(bench: Bench) -> list[Subject]:
    """Caches that keep codes, with what puts their rows in another order or takes tokens back."""
    found = []
    for each in Subject.of_codes(bench):
        search = Search(bench.worker, bench.worker.loaded)
        search.bound.update(each.bound)
        with search.guess():
            of_codes(search)
        if {"reorder", "roll_back"} & set(search.bound):
            found.append(replace(each, bound=dict(search.bound)))
    return found
