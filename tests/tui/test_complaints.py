"""What is wrong with the settings: one message that fits, and all of it in help."""

from __future__ import annotations

import pytest

from judge_tui.judging.workspace import Workspace
from judge_tui.tui.keys.complaints import in_one_message

from .conftest import Driver, make_app, running
from .test_personal import configure

FIVE = """theme = "pink"
colour = 3
[keys.code]
next-funtion = "x"
line-down = "ctrl+shift+foo"
line-up = "G"
"""


async def test_faults_of_the_settings_are_told_and_stop_nothing(workspace: Workspace) -> None:
    configure('theme = "pink"\nspeed = 3\n[keys.code]\nfly = "x"\n')
    async with running(make_app(workspace, engine=None)) as app:
        [told] = app.app._notifications
        assert told.title == "Settings: config.toml"
        for said in ("'speed' is no setting.", "there is no theme 'pink'", "no key is named code.fly"):
            assert said in " ".join(told.message.split())
        await app.press("j")
        assert app.compare.panes[0].view.cursor == 1


async def test_a_chosen_key_that_a_dimension_of_the_rubric_has_too_is_told(workspace: Workspace) -> None:
    rubric = workspace.root / "rubrics" / "kv.toml"
    rubric.write_text(rubric.read_text().replace('key = "t"', 'key = "~"'))
    configure('[keys.rubric]\nnext-unscored = "~"\n[keys.code]\nnext-function = "~"\n')
    async with running(make_app(workspace, engine=None)) as app:
        told = "· in this rubric ~ selects Tests, and rubric.next-unscored is not heard there."
        assert [" ".join(message.split()) for message in app.messages()] == [told]


@pytest.mark.parametrize(("size", "left"), [((100, 30), 0), ((80, 24), 0), ((60, 16), 2)])
async def test_many_faults_are_one_message_that_fits_and_help_shows_them_all(
    workspace: Workspace, size: tuple[int, int], left: int
) -> None:
    configure(FIVE)
    async with running(make_app(workspace, engine=None), size) as app:
        [told] = app.messages()
        faults = app.app.faults
        assert len(faults) == 5
        assert told.count("· ") == 5 - left
        assert (f"and {left} more: ? shows them all" in " ".join(told.split())) == (left > 0)
        await app.press("question_mark")
        page = " ".join(app.text().split())
        assert page.startswith("Keys what each part of the screen answers to Settings that are not followed")
        assert "there is no theme 'pink'" in page


@pytest.mark.parametrize("size", [(100, 30), (60, 16)])
async def test_the_message_of_all_faults_is_in_view_from_its_title_on(
    workspace: Workspace, size: tuple[int, int]
) -> None:
    configure(FIVE)
    app = make_app(workspace, engine=None)
    async with app.run_test(size=size, notifications=True) as pilot:
        await pilot.pause()
        driver = Driver(app, pilot)
        await driver.until(lambda: "Settings: config.toml" in driver.text())
        last = "G is wanted by" if size == (100, 30) else "shows them"
        assert last in " ".join(driver.text().split())
    app.close_session()


def test_the_first_fault_is_told_on_the_smallest_screen() -> None:
    faults = [f"config.toml: {'word ' * 30}{n}." for n in range(3)]
    lines = in_one_message(faults, "config.toml", 20, 6, "?").split("\n")
    assert lines[0] == "· word word word"
    assert " ".join(lines).endswith("0. and 2 more: ? shows them all")
