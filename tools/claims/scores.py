"""Scores, winners and tallies: what the analyses say of their own figures, recomputed from scores/."""

from __future__ import annotations

import itertools
import math
from functools import cache

from judge_tui.judging.matchup import TIE, Matchup, load_matchups
from judge_tui.judging.scorecard import Scorecard, load_scorecard
from tools.claims.claim import Finding, Section, settled, whether
from tools.claims.figures import NAMES, each
from tools.claims.runs import ROOT, Runs

__all__ = ["CONTRADICTIONS", "SCORES"]

JUDGE = "deepseek-v4-pro.toml"
ROUND_1 = ("backwards", "fuse", "kv")
PAIR = ("glm5", "qwen36")
POINTS = {"A": 4.0, "A-": 3.7, "B+": 3.3, "B": 3.0, "B-": 2.7}
SCORES = Section("scores", "Scores and winners")
CONTRADICTIONS = Section("scores-x", "Scores and winners: contradictions", "Settled")


@cache
def _card(task: str, model: str) -> Scorecard:
    return load_scorecard(ROOT / "scores" / task / model / JUDGE)


@cache
def _matchups(task: str, source: str) -> tuple[Matchup, ...]:
    """Matchups on a task that were published in a document whose title starts so."""
    found = load_matchups(ROOT / "scores" / task / "matchups" / JUDGE).matchups
    return tuple(m for m in found if m.source.startswith(source))


def _points(task: str, model: str) -> float:
    value = _card(task, model).overall
    assert value is not None
    return float(value)


def _half_up(value: float) -> int:
    return math.floor(value + 0.5)


@cache
def _means() -> dict[tuple[str, str], tuple[float, float]]:
    """(task, model) → mean of the dimensions, and the overall that was published."""
    found = {}
    for task, model in itertools.product(ROUND_1, PAIR):
        card = _card(task, model)
        scores = [d.score for d in card.dimensions.values() if d.score is not None]
        found[task, model] = (sum(scores) / len(scores), _points(task, model))
    return found


def _pair_wins(a: str, b: str) -> dict[str, float]:
    """Tasks won in the two-way document, a split counting half for each."""
    tally = dict.fromkeys((a, b), 0.0)
    for task in ROUND_1:
        (matchup,) = (m for m in _matchups(task, "2-Way") if set(m.models) == {a, b})
        for model in tally:
            tally[model] += 1.0 if matchup.winner == model else 0.5 if matchup.winner not in tally else 0.0
    return tally


def _signed(n: float) -> str:
    return f"{n:+g}"


@SCORES.claim("C160", "GLM-5, Qwen3-6", "margins of 12, 11, 2 and, on average, 7", "scores")
def _(runs: Runs) -> Finding:
    ahead = {task: _points(task, "qwen36") - _points(task, "glm5") for task in ROUND_1}
    stated = [_matchups(task, "Round 2")[0].margin for task in ROUND_1]
    mean = sum(ahead.values()) / 3
    right = [abs(a) for a in ahead.values()] == stated and _half_up(mean) == 7
    return whether(
        right, "Qwen3-6 over GLM-5: " + each((t, _signed(a)) for t, a in ahead.items()) + f", mean {mean:g}"
    )


@SCORES.claim("C161", "GLM-5, Qwen3-6", "averages of 81 and 88", "scores")
def _(runs: Runs) -> Finding:
    means = {m: sum(_points(t, m) for t in ROUND_1) / 3 for m in PAIR}
    return whether(
        [_half_up(v) for v in means.values()] == [81, 88], each((m, f"{v:.2f}") for m, v in means.items())
    )


@SCORES.claim("C162", "GLM-5, Qwen3-6", "an overall follows from its dimensions", "scores")
def _(runs: Runs) -> Finding:
    rows = _means()
    agree = sum(_half_up(mean) == stated for mean, stated in rows.values())
    found = f"the mean, rounded half up, is the overall in {agree} of {len(rows)}: " + "; ".join(
        f"{t} {NAMES[m]} {mean:.2f} → {stated:g}" for (t, m), (mean, stated) in rows.items()
    )
    return whether(agree == len(rows), found)


@SCORES.claim("C163", "all", "tallies of 3-0, 3-0 and 2.5-0.5", "scores")
def _(runs: Runs) -> Finding:
    pairs = (("glm5", "minimax-m2.7"), ("qwen36", "minimax-m2.7"), ("qwen36", "glm5"))
    tallies = [_pair_wins(*pair) for pair in pairs]
    found = "; ".join(each((m, f"{n:g}") for m, n in tally.items()) for tally in tallies)
    return whether([list(t.values()) for t in tallies] == [[3, 0], [3, 0], [2.5, 0.5]], found)


@cache
def _edges() -> tuple[tuple[str, Matchup, str], ...]:
    """Two-way matchups with a task, and who has most edges (tie when nobody has)."""
    found = []
    for task in ROUND_1:
        for matchup in _matchups(task, "2-Way"):
            ahead = matchup.edges()
            (one, first), (_, second) = sorted(((m, ahead[m]) for m in matchup.models), key=lambda p: -p[1])
            found.append((task, matchup, TIE if first == second else one))
    return tuple(found)


@SCORES.claim("C164", "all", "the winner has most edges", "scores")
def _(runs: Runs) -> Finding:
    other = [(task, m, most) for task, m, most in _edges() if m.winner != most]
    found = f"in {len(_edges()) - len(other)} of {len(_edges())}; not in " + "; ".join(
        f"{task} {'-'.join(str(m.edges()[x]) for x in m.models)} ({NAMES.get(str(m.winner), str(m.winner))})"
        for task, m, _ in other
    )
    return whether(not other, found)


@cache
def _letters(model: str, tasks: tuple[str, ...]) -> tuple[tuple[str, ...], float, str]:
    """Letters of a model, their mean in points, and the letter nearest to it."""
    letters = tuple(str(_card(task, model).grade) for task in tasks)
    mean = sum(POINTS[letter] for letter in letters) / len(letters)
    return letters, mean, min(POINTS, key=lambda letter: abs(POINTS[letter] - mean))


@SCORES.claim("C165", "GLM-5", "overall letters are the means of the letters", "scores")
def _(runs: Runs) -> Finding:
    letters, mean, nearest = _letters("glm5", ROUND_1)
    found = f"{', '.join(letters)} have a mean of {mean:.2f}, nearest to {nearest}; published is B+"
    return whether(nearest == "B+", found)


@SCORES.claim("C166", "all", "two rounds' letters are written better first, once when equal", "scores")
def _(runs: Runs) -> Finding:
    published = {("A-", "A"): "A/A-", ("B+", "B+"): "B+", ("B", "B-"): "B/B-"}
    made = {}
    for pair in published:
        ordered = sorted(dict.fromkeys(pair), key=lambda letter: -POINTS[letter])
        made[pair] = "/".join(ordered)
    return whether(made == published, "; ".join(f"{a} then {b} is {m}" for (a, b), m in made.items()))


@SCORES.claim("C167", "Qwen3-6", "won 2 of 3 tasks", "scores")
def _(runs: Runs) -> Finding:
    won = sum(_points(task, "qwen36") > _points(task, "glm5") for task in ROUND_1)
    return whether(won == 2, f"{won} of {len(ROUND_1)} by points")


SCORES.listed("C168", "Qwen3-6", "a 27B model on one machine beats larger ones", "external")


def _least_other(task: str, model: str, other: str, stated: float) -> float:
    """The least that ``other`` can score by weights that give ``model`` its stated overall, rounded.

    A linear programme over weights that add up to one has its optimum where at most two are not zero.
    """
    mine, theirs = _card(task, model).dimensions, _card(task, other).dimensions
    rows = [(float(d.score or 0), float(theirs[name].score or 0)) for name, d in mine.items()]
    best = math.inf
    for (a, p), (b, q) in itertools.product(rows, repeat=2):
        for target in (stated - 0.5, stated + 0.5, a):
            share = 1.0 if a == b else (target - b) / (a - b)
            if 0 <= share <= 1 and abs(share * a + (1 - share) * b - stated) <= 0.5:
                best = min(best, share * p + (1 - share) * q)
    return best


@CONTRADICTIONS.claim(
    "X05", "GLM-5, Qwen3-6", "one set of weights gives both overalls of the kernel task", "scores"
)
def _(runs: Runs) -> Finding:
    least = _least_other("fuse", "glm5", "qwen36", 80)
    return settled(
        least > 78.5,
        f"weights with 80 for GLM-5 give Qwen3-6 at least {least:.1f}, not {_points('fuse', 'qwen36'):g}",
        "no weights do",
    )


@CONTRADICTIONS.claim("X20", "GLM-5, Qwen3-6", "letters and points tell the same story", "scores")
def _(runs: Runs) -> Finding:
    cards = {m: _card("fuse", m) for m in PAIR}
    winner = _matchups("fuse", "3-Way")[0].winner
    both: dict[float, set[str]] = {}
    for task, model in itertools.product(ROUND_1, PAIR):
        both.setdefault(_points(task, model), set()).add(str(_card(task, model).grade))
    twice = {points: letters for points, letters in both.items() if len(letters) > 1}
    found = (
        f"kernel task: {NAMES[str(winner)]} wins with {cards['glm5'].grade} against {cards['qwen36'].grade}; "
        + "; ".join(f"{p:g} points are {' and '.join(sorted(ls))}" for p, ls in twice.items())
    )
    return settled(
        winner == "glm5" and POINTS[str(cards["glm5"].grade)] < POINTS[str(cards["qwen36"].grade)],
        found,
        "they come from different documents and are kept apart",
    )


@CONTRADICTIONS.claim("X21", "GLM-5, Qwen3-6", "B+ and A- are the overall letters", "scores")
def _(runs: Runs) -> Finding:
    rows = {m: _letters(m, ROUND_1) for m in PAIR}
    found = "; ".join(
        f"{NAMES[m]} {', '.join(ls)}: mean {mean:.2f}, {near}" for m, (ls, mean, near) in rows.items()
    )
    return settled((rows["glm5"][2], rows["qwen36"][2]) == ("A-", "A"), found, "their means are A- and A")


@CONTRADICTIONS.claim("X22", "GLM-5, Qwen3-6", "who wins the kernel task", "scores")
def _(runs: Runs) -> Finding:
    told = {
        "three-way": _matchups("fuse", "3-Way")[0].winner,
        "by points": _matchups("fuse", "Round 2")[0].winner,
        "two-way": next(m.winner for m in _matchups("fuse", "2-Way") if set(m.models) == set(PAIR)),
    }
    found = each((name, NAMES.get(str(w), str(w))) for name, w in told.items())
    return settled(len(set(told.values())) == 2, found, "a split in one document, GLM-5 in the others")


CONTRADICTIONS.listed("X23", "all", "'round 2' is one thing in one document, another in the next", "prose")
CONTRADICTIONS.listed("X50", "all", "1 to 3 files, and four are listed", "prose")


@CONTRADICTIONS.claim("X53", "all", "edges and winners agree", "scores")
def _(runs: Runs) -> Finding:
    odd = [(task, m) for task, m, most in _edges() if m.winner != most]
    found = "; ".join(
        f"{task}: {each((x, str(m.edges()[x])) for x in m.models)}, "
        f"winner {NAMES.get(str(m.winner), 'split')}"
        for task, m in odd
    )
    return settled(len(odd) == 2, found, "not in these; the winner is a judgement of its own")
