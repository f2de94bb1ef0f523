"""Work behind the screen: in order, handed back to the loop, and never silent about a failure."""

from __future__ import annotations

import asyncio

from judge_tui.tui.background import Background


async def test_results_come_back_in_order_and_a_failure_is_told_without_its_words() -> None:
    told: list[str] = []
    given: list[object] = []
    background = Background(told.append)

    def fails() -> None:
        raise ValueError("submissions/glm5")

    background.submit(lambda: 1, given.append)
    background.submit(fails, given.append)
    background.submit(lambda: 2, given.append)
    while background.waiting:
        await asyncio.sleep(0.001)
    background.close()
    assert given == [1, 2]
    assert told == ["Work behind the screen failed (ValueError): what it was to show is missing."]


async def test_what_is_held_waits_until_it_may_begin() -> None:
    begun = False
    given: list[bool] = []
    background = Background(lambda told: None, held=True)
    background.submit(lambda: begun, given.append)
    await asyncio.sleep(0)
    assert (background.waiting, given) == (1, [])
    begun = True
    background.begin()
    while background.waiting:
        await asyncio.sleep(0.001)
    background.close()
    assert given == [True]
