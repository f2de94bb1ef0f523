"""A run that is replayed meets the same order of sets, on both sides."""

from __future__ import annotations

from .conftest import Judged

_TESTS = """
import submission
def test_hashes():
    assert f"{submission.hashed('text') % 9999} {hash('text') % 9999}" == ""
"""


def test_hashes_hang_on_the_seed(judged: Judged) -> None:
    said = [
        judged(_TESTS, "def hashed(text): return hash(text)", seed=seed)["test_hashes"].summary
        for seed in (1, 1, 2)
    ]
    assert said[0] == said[1] != said[2]
    theirs, mine = said[0].split("'")[1].split()
    assert theirs == mine
