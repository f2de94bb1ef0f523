"""Whose turn it is in a chat that was saved as Markdown: what was asked is not the answer.

Source: what exporters of chats write: ``## Prompt:`` and ``## Response:``, ``**You:**``, ``ChatGPT said:``.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from judge_tui.cli.bringing.fences import Fence

__all__ = ["asked"]

_LONGEST = 60
_ASKING = frozenset({"user", "human", "prompt", "you", "question", "you said", "me"})
_ANSWERING = frozenset({"assistant", "response", "answer", "ai", "model", "bot"})
_SAID = re.compile(
    r"(?:chatgpt|gpt|claude|gemini|copilot|deepseek|qwen|kimi|glm|grok|llama|mistral)[\w .-]*|\w+ said"
)
_TITLE = re.compile(r"[#*_>]|.*:[\s*_]*$")


def asked(lines: Sequence[str], fences: Sequence[Fence]) -> frozenset[Fence]:
    """The fences that stand where somebody asks; none where nobody is seen to answer.

    Args:
        lines: The lines of the chat.
        fences: Its fences, in order.
    """
    turns: dict[int, bool] = {}
    start = 0
    for fence in (*fences, None):
        end = len(lines) if fence is None else fence.first
        turns |= {n: asks for n in range(start, end) if (asks := _asks(lines[n])) is not None}
        start = end if fence is None else fence.last + 1
    if len(set(turns.values())) < 2:
        return frozenset()
    places = sorted(turns)
    before = ((fence, bisect_left(places, fence.first)) for fence in fences)
    return frozenset(fence for fence, at in before if at and turns[places[at - 1]])


def _asks(line: str) -> bool | None:
    """Whether a line begins the turn of who asks, or of who answers; ``None`` for any other line."""
    text = line.strip()
    if len(text) > _LONGEST or not _TITLE.match(text):
        return None
    who = text.strip("#*_>: \t").casefold()
    if who in _ASKING:
        return True
    return False if who in _ANSWERING or _SAID.fullmatch(who) else None
