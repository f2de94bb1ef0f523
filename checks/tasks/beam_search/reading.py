"""Reading what a search returns: beams as pairs, dicts or objects, scores or costs, parts in any order.

What a value looks like is settled once, on a small search whose answer is known (see
:func:`settle`), and read the same way from then on.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from judge_tui.checks.binding.answers import kind_of, part_of
from judge_tui.checks.faults import BadResult
from judge_tui.checks.tasks.beam_search.oracle import Hyp, penalised
from judge_tui.checks.worker.attributed import attributes_of

__all__ = ["Beam", "Form", "read", "settle"]

Key = int | str

_TOKENS = (
    r"^generated", r"^new_?tokens", r"^tokens?$", r"^token_?ids$", r"^output", r"^ids$", r"token", r"^seq",
    r"^path", r"^hyp", r"^prefix", r"^text",
)  # fmt: skip
_SCORE = (
    r"^score$", r"penali[sz]ed", r"norm(ali[sz]ed)?_?score", r"final_?score", r"score",
    r"^cost$|^nll$|^loss$", r"cost",
)  # fmt: skip
_RAW = (r"^(acc|cum|sum|total|raw)\w*log_?p", r"^log_?prob", r"log_?p(rob)?", r"^(raw|acc|cum|sum|total)")
_MANY = re.compile(r"^(seq|tokens|hyps|hypotheses|ids|outputs?|generated|paths)")
_OWNER = re.compile(r"^(prompt|batch|example|sample|request|source|query)(_?(id|idx|index|no|number|i))?$")
_SCORES = re.compile(r"score|log_?prob|cost")


@dataclass(frozen=True, slots=True)
class Beam:
    """A returned beam.

    Attributes:
        tokens: Generated tokens; a final EOS is there even where the submission strips it.
        score: Its score, as a log-probability (costs are negated); ``None`` when there is none.
        raw: The accumulated log-probability where it is returned beside the score.
        negative: Negative ids among its tokens, taken for what fills a row up.
    """

    tokens: tuple[int, ...]
    score: float | None
    raw: float | None = None
    negative: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Form:
    """How a submission writes its beams.

    Attributes:
        tokens: Where in an entry the tokens are; ``None`` when the entry is the tokens.
        score: Where its score is; ``None`` when it has none.
        raw: Where its accumulated log-probability is, if that is another part.
        cost: Scores are negative log-probabilities.
        unpenalised: The score is the raw sum although a penalty was asked for.
        front: The prompt stands before the generated tokens.
        stripped: EOS is taken off the end of a finished sequence.
    """

    tokens: Key | None = None
    score: Key | None = None
    raw: Key | None = None
    cost: bool = False
    unpenalised: bool = False
    front: bool = False
    stripped: bool = False

    @property
    def told(self) -> str:
        """In words, for the evidence."""
        parts = ["costs" if self.cost else "scores" if self.score is not None else "no scores"]
        parts += ["raw sums as scores"] * self.unpenalised + ["the prompt in front"] * self.front
        parts += ["EOS taken off" if self.stripped else "EOS kept"]
        return ", ".join(parts)


def settle(
    value: Any,
    prompt: Sequence[int],
    alpha: float,
    eos: int,
    truth: Sequence[Hyp],
    given: Mapping[str, Key] | None = None,
) -> tuple[Form, list[Beam]]:
    """Find out how beams are written, from a search of one prompt whose answer is known.

    Args:
        value: What it returned.
        prompt: The prompt; its tokens are unlikely ones.
        alpha: The penalty's exponent.
        eos: End of sequence.
        truth: Sequences that a right search may return, with their sums.
        given: ``tokens`` and ``score`` where a binding by hand says where they are.

    Raises:
        BadResult: There are no sequences of tokens in it.
    """
    entries = _per_prompt(value, 1)[0]
    if not entries:
        raise BadResult("answered with no beams")
    first = entries[0]
    where = (given or {}).get("tokens", _tokens_key(first))
    form = Form(where)
    found = [_ids(entry, where) for entry in entries]
    form = replace(form, front=all(ids[: len(prompt)] == tuple(prompt) for ids in found))
    if form.front:
        found = [ids[len(prompt) :] for ids in found]
    sums = {hyp.tokens: hyp.logprob for hyp in truth}
    ends = any(eos in ids for ids in found)
    form = replace(form, stripped=not ends and any((*ids, eos) in sums for ids in found))
    form = _scored(form, entries, found, sums, alpha, eos, (given or {}).get("score"))
    return form, [_beam(form, entry, prompt, eos, 1 << 30) for entry in entries]


def _scored(
    form: Form,
    entries: Sequence[Any],
    found: Sequence[tuple[int, ...]],
    sums: Mapping[tuple[int, ...], float],
    alpha: float,
    eos: int,
    given: Key | None,
) -> Form:
    """Which number is the score: by its name, else by its value, else the first."""
    keys = [key for key, item in _parts(entries[0]) if _is_number(item)]
    if not keys:
        return form
    agreeing: dict[Key, list[int]] = {key: [0, 0] for key in keys}
    for entry, ids in zip(entries, found, strict=True):
        tokens = (*ids, eos) if form.stripped and (*ids, eos) in sums else ids
        for key in keys if tokens in sums else ():
            size = abs(_number(entry, key))
            wanted = (penalised(sums[tokens], len(tokens), alpha), sums[tokens])
            for which, target in enumerate(wanted):
                agreeing[key][which] += abs(size + target) < 1e-3
    named = _by_name(keys, _SCORE)
    raw_named = _by_name(keys, _RAW)
    valued = max(keys, key=lambda key: (agreeing[key][0], agreeing[key][1]))
    score = given if given is not None else named
    if score is None:
        others = [key for key in keys if key != raw_named]
        score = valued if agreeing[valued][0] or agreeing[valued][1] or not others else others[0]
    raws = [key for key in keys if key != score and (key == raw_named or agreeing[key][1])]
    values = [_number(entry, score) for entry in entries]
    return replace(
        form,
        score=score,
        raw=raws[0] if raws else None,
        cost=sum(value > 0 for value in values) > len(values) / 2,
        unpenalised=agreeing[score][1] > agreeing[score][0],
    )


def read(value: Any, form: Form, prompts: Sequence[Sequence[int]], steps: int, eos: int) -> list[list[Beam]]:
    """The beams of every prompt, in the order in which they were returned.

    Args:
        value: Plain data that the search returned.
        form: How beams are written.
        prompts: What was searched.
        steps: Most new tokens: a stripped sequence that is shorter has ended.
        eos: End of sequence.

    Raises:
        BadResult: It is not written like that.
    """
    per_prompt = _per_prompt(value, len(prompts))
    return [
        [_beam(form, entry, prompt, eos, steps) for entry in entries]
        for entries, prompt in zip(per_prompt, prompts, strict=True)
    ]


def _beam(form: Form, entry: Any, prompt: Sequence[int], eos: int, steps: int) -> Beam:
    ids = _ids(entry, form.tokens)
    if form.front:
        if ids[: len(prompt)] != tuple(prompt):
            raise BadResult("answered with a beam that does not begin with its prompt, as others do")
        ids = ids[len(prompt) :]
    if form.stripped and len(ids) < steps and eos not in ids:
        ids = (*ids, eos)
    score = None if form.score is None else _number(entry, form.score)
    raw = None if form.raw is None else -abs(_number(entry, form.raw))
    negative = tuple(token for token in ids if token < 0)
    return Beam(_unpadded(ids, eos), -score if score is not None and form.cost else score, raw, negative)


def _unpadded(ids: tuple[int, ...], eos: int) -> tuple[int, ...]:
    """Without negative ids at either end, and without repeated EOS: rows of a rectangular array."""
    real = [place for place, token in enumerate(ids) if token >= 0]
    ids = ids[real[0] : real[-1] + 1] if real else ()
    if eos in ids:
        end = ids.index(eos) + 1
        if all(token == eos for token in ids[end:]):
            return ids[:end]
    return ids


def _per_prompt(value: Any, count: int) -> list[list[Any]]:
    """One list of entries per prompt."""
    if isinstance(value, Mapping):
        if len(value) == count and {str(key) for key in value} == {str(i) for i in range(count)}:
            value = [value[key] for key in sorted(value, key=int)]
        elif (pair := _columns(value)) is not None:
            value = list(pair)
        elif len(inner := [item for item in value.values() if isinstance(item, list | dict)]) == 1:
            return _per_prompt(inner[0], count)
        elif count == 1:
            value = [value]
    if not isinstance(value, list):
        raise BadResult(f"answered with {kind_of(value)} instead of beams per prompt")
    value = _unfilled(value)
    for scores in _score_lists(attributes_of(value)):
        if _is_columns(value, scores, count):
            value = [value, scores]
            break
    if len(value) == 2 and _is_columns(value[0], value[1], count):
        value = [_zipped(ids, scores) for ids, scores in zip(value[0], value[1], strict=True)]
    bare = value and value != [[]] and all(_is_entry(item) for item in value)
    if count == 1 and bare and not any(_nested(item) for item in value):
        value = [value]
    elif bare:
        value = _grouped(value, count)
    if len(value) != count:
        raise BadResult(f"answered with {len(value)} lists of beams for {count} prompts")
    return [_entries(item) for item in value]


def _grouped(beams: list[Any], count: int) -> list[Any]:
    """One list of the beams of all prompts, by the prompt that each names, else in as many equal parts."""
    if len(beams) == count or any(map(_nested, beams)):
        return beams
    told = [[part for key, part in _parts(beam) if _OWNER.search(str(key).lower())] for beam in beams]
    if all(len(owner) == 1 and owner[0] in range(count) for owner in told):
        return [[beam for beam, (of,) in zip(beams, told, strict=True) if of == own] for own in range(count)]
    each = len(beams) // max(count, 1)
    if each < 2 or each * count != len(beams):
        return beams
    return [beams[start : start + each] for start in range(0, len(beams), each)]


def _entries(item: Any) -> list[Any]:
    """The entries of one prompt: a list, a dict that holds one, or columns of sequences and scores."""
    if isinstance(item, Mapping):
        pair = _columns(item)
        if pair is not None and _is_column(*pair):
            return _zipped(*pair)
        return _nested(item) or [item]
    if isinstance(item, list):
        item = _unfilled(item)
    if isinstance(item, list) and len(item) == 2 and _is_column(item[0], item[1]):
        return _zipped(item[0], item[1])
    if isinstance(item, list) and item and not isinstance(item[0], list | dict) and _is_entry(item):
        return [item]
    if not isinstance(item, list):
        raise BadResult(f"answered with {kind_of(item)} instead of a list of beams")
    for scores in _score_lists(attributes_of(item)):
        if _is_column(item, scores):
            return _zipped(item, scores)
    return list(item)


def _nested(item: Any) -> list[Any]:
    """The beams in a dict that holds a prompt's list of them, whatever stands beside it; else nothing."""
    parts = item.values() if isinstance(item, Mapping) else ()
    lists = [part for part in parts if isinstance(part, list) and part and all(map(_is_entry, part))]
    return list(lists[0]) if len(lists) == 1 and not any(map(_is_number, lists[0])) else []


def _columns(item: Mapping[str, Any]) -> tuple[Any, Any] | None:
    parts = dict(_parts(item))
    many = [part for key, part in parts.items() if isinstance(part, list) and _MANY.search(str(key).lower())]
    scores = _score_lists(parts)
    return (many[0], scores[0]) if many and scores else None


def _score_lists(parts: Mapping[Any, Any]) -> list[Any]:
    return [
        part for key, part in parts.items() if isinstance(part, list) and _SCORES.search(str(key).lower())
    ]


def _is_column(ids: Any, scores: Any) -> bool:
    """Sequences beside as many scores."""
    return (
        isinstance(ids, list)
        and isinstance(scores, list)
        and len(ids) == len(scores) > 0
        and all(_is_ids(item) for item in ids)
        and all(isinstance(item, float) for item in scores)
    )


def _is_columns(ids: Any, scores: Any, count: int) -> bool:
    """Such columns for every prompt, as two arrays."""
    return (
        isinstance(ids, list)
        and isinstance(scores, list)
        and len(ids) == len(scores) == count
        and all(_is_column(*pair) for pair in zip(ids, scores, strict=True))
    )


def _zipped(ids: list[Any], scores: list[Any]) -> list[Any]:
    """Sequences with their scores; in columns, a place that no beam took has no tokens and scores -inf."""
    beams = [[own, score] for own, score in zip(ids, scores, strict=True)]
    return [beam for beam in beams if beam[0] or beam[1] > -math.inf] or beams


def _unfilled(value: list[Any]) -> list[Any]:
    """Of columns of sequences, scores and lengths, the sequences without what fills them up, and the scores.

    Numbers are lengths where what they leave over is one token all over, or nothing.
    """
    kinds = {_leaf(part): part for part in value} if len(value) == 3 else {}
    deepest = max((depth for depth, _kind in kinds), default=0)
    if deepest < 2 or set(kinds) != {(deepest, int), (deepest - 1, float), (deepest - 1, int)}:
        return value
    filler: set[int] = set()
    try:
        own = _shortened(kinds[deepest, int], kinds[deepest - 1, int], filler)
    except (TypeError, ValueError):
        return value
    return [own, kinds[deepest - 1, float]] if len(filler) <= 1 else value


def _leaf(item: Any) -> tuple[int, type]:
    """How deep lists go, and what stands in them; whole numbers where nothing does."""
    depth = 0
    while isinstance(item, list):
        depth, item = depth + 1, item[0] if item else 0
    return depth, type(item)


def _shortened(ids: list[Any], counts: Any, filler: set[int]) -> list[Any]:
    if isinstance(counts, int):
        if not 0 <= counts <= len(ids):
            raise ValueError("no length")
        filler.update(ids[counts:])
        return ids[:counts]
    return [_shortened(own, count, filler) for own, count in zip(ids, counts, strict=True)]


def _parts(entry: Any) -> Iterator[tuple[Key, Any]]:
    if isinstance(entry, Mapping):
        yield from entry.items()
    elif isinstance(entry, list) and not _is_ids(entry):
        yield from enumerate(entry)
    yield from attributes_of(entry).items()


def _tokens_key(entry: Any) -> Key | None:
    """Where the tokens of an entry are."""
    if _is_ids(entry):
        return None
    keys = [key for key, item in _parts(entry) if _is_ids(item)]
    if not keys:
        raise BadResult(f"answered with {kind_of(entry)} instead of a beam: no list of tokens in it")
    named = _by_name(keys, _TOKENS)
    return keys[0] if named is None else named


def _by_name(keys: Sequence[Key], patterns: Sequence[str]) -> Key | None:
    for pattern in patterns:
        for key in keys:
            if isinstance(key, str) and re.search(pattern, key.lower().lstrip("_")):
                return key
    return None


def _is_entry(item: Any) -> bool:
    """Whether it is one beam: its tokens, or tokens beside something that is no sequence."""
    if _is_ids(item):
        return True
    parts = [part for _key, part in _parts(item)]
    # The attributes of a list say nothing about what it is a list of.
    own = item if isinstance(item, list) else ()
    beside = isinstance(item, Mapping) or any(not isinstance(part, list) for part in own)
    return beside and any(_is_ids(part) for part in parts)


def _is_ids(item: Any) -> bool:
    return isinstance(item, list) and all(
        isinstance(part, int) and not isinstance(part, bool) for part in item
    )


def _is_number(item: Any) -> bool:
    return isinstance(item, float) or (isinstance(item, int) and not isinstance(item, bool))


def _ids(entry: Any, key: Key | None) -> tuple[int, ...]:
    ids = entry if key is None else part_of(entry, key, "a beam was")
    if not _is_ids(ids):
        raise BadResult(f"answered with {kind_of(ids)} where a beam's tokens were")
    return tuple(ids)


def _number(entry: Any, key: Key) -> float:
    item = part_of(entry, key, "a beam was")
    if not _is_number(item):
        # None for a beam that has no score yet, such as an empty one.
        if item is None:
            return float("nan")
        raise BadResult(f"answered with {kind_of(item)} where a beam's score was")
    return float(item)
