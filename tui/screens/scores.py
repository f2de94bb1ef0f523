"""The scores of a task as bars below each other: who is ahead, how far attempts and judges are apart."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import ClassVar

from textual.binding import Binding

from judge_tui.tui.home_board import HomeBoard
from judge_tui.tui.keys.bound_keys import key_for, keys_for
from judge_tui.tui.keys.keymap import named
from judge_tui.tui.look.bars import score_tone
from judge_tui.tui.look.fitting import fit
from judge_tui.tui.look.tones import Tones
from judge_tui.tui.score_tracks import Track, scale, signs, tracks
from judge_tui.tui.screens.sheet import Sheet
from judge_tui.tui.widgets.bar import Bar
from judge_tui.tui.widgets.rows import Rows, Span

__all__ = ["ScoresScreen"]

#: Columns of the figures, and of a name at most.
_TOLD, _NAME = 18, 26


class _Tracks(Rows):
    def __init__(self, board: HomeBoard) -> None:
        super().__init__(id="tracks")
        self._board = board

    def _columns(self, width: int) -> tuple[int, int]:
        """Columns of a name, and of a line."""
        name = min(_NAME, width // 4)
        return name, max(width - name - _TOLD - 3, 10)

    def draw(self, key: Hashable, width: int, tones: Tones) -> Sequence[Span]:
        assert isinstance(key, Track)
        name, line = self._columns(width)
        mean, drawn = key.mean, key.drawn(line)
        # where the cursor's row is reversed, what is blank behind a bar has not the bar's colour
        end = f"{drawn} ".index(" ")
        return [
            (f" {fit(self._board.name(key.model), name)} ", tones.text),
            (drawn[:end], tones.by_name["muted" if mean is None else score_tone(mean)]),
            (drawn[end:], tones.text),
            (f" {fit(key.told, _TOLD)}", tones.muted if mean is None else tones.strong),
        ]

    def draw_below(self, line: int, width: int, tones: Tones) -> Sequence[Span]:
        name, room = self._columns(width)
        if line == 0 and self.keys:
            return [(f" {'':<{name}} {scale(room)}", tones.muted)]
        if line == 2 and self.keys:
            several = any(len(track.points) > 1 for track in self.keys if isinstance(track, Track))
            others = any(track.others is not None for track in self.keys if isinstance(track, Track))
            mean, attempt, other = signs()
            told = [f"{mean} mean"]
            told += [f"{attempt} an attempt"] if several else []
            told += [f"{other} other judges"] if others else []
            return [(f" {'':<{name}} {'   '.join(told)}", tones.muted)]
        return []


class ScoresScreen(Sheet["tuple[str, str] | None"]):
    """Gives the cell that is gone to, or ``None``.

    Args:
        board: Whose scores they are.
        task: Whose are shown first.

    Attributes:
        of_task: Whose are shown now.
    """

    BINDINGS: ClassVar = [
        Binding("escape,q,v", "close", "back"),
        Binding("l,right", "task(1)", "next task"),
        Binding("h,left", "task(-1)", "previous task"),
    ]

    BINDINGS = named("scores", BINDINGS)
    title_of_keys = "Scores"
    rows: _Tracks

    def __init__(self, board: HomeBoard, task: str) -> None:
        super().__init__()
        self._board, self.of_task = board, task
        self.rows = _Tracks(board)

    def on_mount(self) -> None:
        self.hint(
            (
                (key_for(self, "close"), "back"),
                (keys_for(self, "task(-1)", "task(1)"), "other tasks"),
                (key_for(self.rows, "open"), "to its cell"),
                (keys_for(self.rows, "move(1)", "move(-1)"), "move"),
            )
        )
        self._fill()
        self.rows.focus()

    def _fill(self) -> None:
        found = tracks(self._board, self.of_task)
        scored = sum(bool(track.points) for track in found)
        self.rows.show(found)
        self.query_one(Bar).tell(
            [(f" Scores of {self.of_task} ", "strong", 0)],
            [(f"{scored} of {len(found)} scored by {self._board.judge} ", "muted", 1)],
        )

    def action_task(self, step: int) -> None:
        there = self._board.tasks
        self.of_task = there[(there.index(self.of_task) + step) % len(there)]
        self._fill()

    def on_rows_opened(self, event: Rows.Opened) -> None:
        event.stop()
        if isinstance(event.key, Track):
            self.dismiss((event.key.model, self.of_task))
