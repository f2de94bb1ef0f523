"""What leads out of a comparison is called by where it leads: footer, help, palette, and ctrl+c."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import OptionList

from judge_tui.judging.workspace import Workspace
from judge_tui.tui.keys.bound_keys import listed, own_bindings
from judge_tui.tui.widgets.rows import Rows

from .at_home import make_home, opened, ready
from .conftest import RUBRIC, THREE, Driver, make_app, make_workspace, running
from .test_personal import configure


def footer(driver: Driver) -> str:
    return driver.text().split("\n")[-1]


def told(driver: Driver) -> str:
    return " ".join(note.message for note in driver.app._notifications)


def commands(driver: Driver) -> list[str]:
    return [command.title for command in driver.app.get_system_commands(driver.app.screen)]


async def helped(driver: Driver) -> list[list[str]]:
    """The words of each line of help."""
    await driver.press("question_mark")
    lines = [line.split() for line in driver.text().split("\n")]
    await driver.press("escape")
    return lines


async def test_where_q_ends_the_program_it_is_called_quit_everywhere(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None), (200, 160)) as driver:
        assert "q quit" in footer(driver)
        assert ["q", "quit"] in await helped(driver)
        assert [title for title in commands(driver) if "uit" in title] == ["Quit"]
        await driver.press("ctrl+c")
        assert told(driver) == "q quits the program."


async def test_where_q_leads_back_to_home_that_is_said_and_quit_is_something_else(
    workspace: Workspace,
) -> None:
    async with running(make_home(workspace), (200, 160)) as driver:
        await ready(driver)
        assert "q quit" in footer(driver)
        assert [title for title in commands(driver) if "uit" in title] == ["Quit"]
        await driver.press("ctrl+c")
        assert told(driver) == "q quits the program."
        driver.app.clear_notifications()
        await driver.press("enter")
        await opened(driver)
        await driver.until(lambda: "q back to Home" in footer(driver))
        assert ["q", "back", "to", "Home"] in await helped(driver)
        assert [title for title in commands(driver) if "uit" in title] == ["Quit"]
        assert "Back to Home" in commands(driver)
        await driver.press("ctrl+c")
        assert told(driver) == "^q quits the program, q leads back to Home."
        run = {one.title: one.callback for one in driver.app.get_system_commands(driver.app.screen)}
        await run["Quit"]()  # type: ignore[misc]
        await driver.until(lambda: driver.app._exit)


async def test_ctrl_c_names_the_keys_that_are_heard(workspace: Workspace) -> None:
    configure('[keys.everywhere]\nquit = "Q"\n[keys.program]\nleave-the-program = "f10"\n')
    rubric = workspace.root / "rubrics" / "kv.toml"
    rubric.write_text(RUBRIC.replace('key = "t"', 'key = "Q"'))
    async with running(make_app(workspace, engine=None)) as driver:
        driver.app.clear_notifications()
        # in the rubric Q is a dimension
        for key, said in (("A", "Q quits the program."), ("s", "f10 quits the program.")):
            await driver.press(key, "ctrl+c")
            assert told(driver) == said, key
            driver.app.clear_notifications()


@pytest.mark.parametrize("title", ["Theme", "Screenshot"])
async def test_what_is_textuals_alone_stays_in_the_palette_and_nothing_is_there_twice(
    workspace: Workspace, title: str
) -> None:
    async with running(make_app(workspace, engine=None)) as driver:
        found = commands(driver)
        assert title in found
        assert len(found) == len(set(found))
        # zoom and help are what the program has for them
        assert {"Maximize", "Keys"} & set(found) == set()


@pytest.mark.parametrize(
    ("focus", "first"),
    [("1", "Line down  j"), ("s", "Comment  enter"), ("c", "Evidence  enter")],
    ids=["code", "rubric", "checks"],
)
async def test_the_palette_has_a_line_per_command_with_its_key_the_part_in_focus_first(
    workspace: Workspace, focus: str, first: str
) -> None:
    async with running(make_app(workspace, engine=None), (120, 60)) as driver:
        await driver.press(focus, "ctrl+p")
        await driver.until(lambda: driver.app.screen.query_one(OptionList).option_count > 20)
        options = driver.app.screen.query_one(OptionList).options
        assert str(options[0].prompt) == first
        lines = [str(option.prompt) for option in options]
        assert not any("\n" in line for line in lines)
        # then what the whole screen answers to, then the other parts
        others = [number for number, line in enumerate(lines) if ": " in line]
        assert lines.index("Undo  u") < min(others)
        await driver.press(*"scoreb")
        await driver.until(lambda: "Export the scoreboard  W" in driver.text())


async def test_of_three_help_footer_and_palette_say_that_the_rubric_goes_on_to_the_third(
    workspace: Workspace, tmp_path: Path
) -> None:
    three = make_workspace(tmp_path / "three", THREE)
    for app, said in ((make_app(three, THREE, None), "A/B/C"), (make_app(three, engine=None), "A/B")):
        async with running(app, (200, 160)) as driver:
            await driver.press("s")
            assert f"w switch {said} " in footer(driver)
            assert f"Switch {said}" in commands(driver)
            assert any(line[-2:] == ["switch", said] for line in await helped(driver))


async def test_help_cuts_no_sentence_and_is_wrapped_anew_where_the_screen_is_another(
    workspace: Workspace,
) -> None:
    def words(driver: Driver) -> str:
        return " ".join(" ".join(str(line.text) for line in driver.app.screen.query_one(Rows).keys).split())

    async with running(make_app(workspace, engine=None), (80, 24)) as driver:
        await driver.press("s", "question_mark")
        whole = [text for part in driver.compare.key_parts() for _, text in part.signs]
        whole += [
            text for part in driver.compare.key_parts() for _, text, _ in listed(own_bindings(part.node))
        ]
        for width in (80, 200, 50):
            await driver.pilot.resize_terminal(width, 260)
            await driver.until(lambda width=width: driver.app.size == (width, 260))
            await driver.pilot.pause()
            assert [text for text in whole if text not in words(driver)] == []
            shown = " ".join(driver.text().split())
            parts = [line.text for line in driver.app.screen.query_one(Rows).keys]
            assert [text for text in parts if text not in shown] == [], width
