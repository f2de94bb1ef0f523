"""The sentences of an outcome, what decided in front: a list shows the beginning of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from judge_tui.checks.check import Findings
from judge_tui.checks.verdict import SEVERITY, Verdict

__all__ = ["Sentences", "Topic"]


class Topic(Enum):
    """What a sentence is about, where a later part may take it back."""

    OTHER = auto()
    #: A decoder's steps are what its own prefill of the whole is.
    AGREES = auto()
    #: They are not.
    DIFFERS = auto()


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    topic: Topic


class Sentences:
    """Sentences in the order of the parts that they are about.

    Args:
        found: The evidence; a sentence that is appended after it has become worse is what decided;
            where that was taken back, the next one.
    """

    def __init__(self, found: Findings) -> None:
        self._found, self._worst = found, Verdict.PASS
        self._sentences: list[_Sentence] = []
        self._decided: _Sentence | None = None

    def __bool__(self) -> bool:
        return bool(self._sentences)

    def append(self, text: str, topic: Topic = Topic.OTHER) -> None:
        """Add what a part came to."""
        verdict, sentence = self._found.verdict, _Sentence(text, topic)
        taken_back = self._decided is not None and self._decided not in self._sentences
        again = taken_back and verdict == self._worst
        if verdict is not None and (again or SEVERITY[verdict] < SEVERITY[self._worst]):
            self._worst, self._decided = verdict, sentence
        self._sentences.append(sentence)

    def once(self, text: str) -> None:
        """Add what several parts may come to, unless one has said it."""
        if _Sentence(text, Topic.OTHER) not in self._sentences:
            self.append(text)

    def take_back(self, topic: Topic) -> None:
        """Leave out what was said of a topic so far."""
        self._sentences = [sentence for sentence in self._sentences if sentence.topic is not topic]

    def instead(self, topic: Topic, text: str) -> None:
        """Say this, at the end, instead of what was said of a topic; what decided before stays in front."""
        self.take_back(topic)
        self._sentences.append(_Sentence(text, Topic.OTHER))

    def told(self) -> str:
        """All of them in one line."""
        first = [sentence for sentence in self._sentences if sentence == self._decided]
        rest = (sentence for sentence in self._sentences if sentence != self._decided)
        return "; ".join(sentence.text for sentence in (*first, *rest))
