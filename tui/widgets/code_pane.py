"""One submission on the screen: title, files and symbols, code."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.geometry import Size
from textual.message import Message

from judge_tui.checks.submission import Submission
from judge_tui.checks.unlisted import sentence
from judge_tui.judging.containers import closed, unopened
from judge_tui.judging.plain import plain
from judge_tui.tui.background import Background
from judge_tui.tui.code.first_file import first_file
from judge_tui.tui.code.highlight import Highlight, read
from judge_tui.tui.code.source import Source
from judge_tui.tui.code.symbols import Symbol
from judge_tui.tui.code.syntax_styles import syntax_styles
from judge_tui.tui.look.fitting import fit, fit_middle
from judge_tui.tui.look.tones import Tones, tones_of
from judge_tui.tui.session import letter_of
from judge_tui.tui.widgets.bar import Bar
from judge_tui.tui.widgets.code_opening import CodeOpening
from judge_tui.tui.widgets.code_view import CodeView
from judge_tui.tui.widgets.hollow import Hollow
from judge_tui.tui.widgets.rows import Rows, Span

if TYPE_CHECKING:
    from judge_tui.tui.code.line_map import LineMap

__all__ = ["CodePane", "Sidebar"]

#: Larger files are read and decoded beside the event loop.
_AT_ONCE = 150_000
#: Columns of a path in the title before the rest of the title is left out for it.
_WHOLE = 24

Result = TypeVar("Result")


class Sidebar(Rows, can_focus=False):
    """Files of the submission, and the symbols of the one in view; a click goes there."""

    shows_cursor = False

    def __init__(self, pane: CodePane) -> None:
        super().__init__(classes="sidebar")
        self._pane = pane

    def draw(self, key: Hashable, width: int, tones: Tones) -> Sequence[Span]:
        assert isinstance(key, tuple)
        kind, value = key
        if kind == "head":
            return [(f" {value}", tones.faint)]
        if kind == "file":
            here = value == self._pane.file
            return [
                (" ▸ " if here else "   ", tones.by_name["primary"]),
                (
                    fit(fit_middle(self._pane.hide(value), width - 3), width - 3),
                    tones.text if here else tones.muted,
                ),
            ]
        if kind == "aside":
            return [("   ", tones.faint), (fit(plain(self._pane.hide(str(value))), width - 3), tones.faint)]
        symbol: Symbol = value
        here = symbol == self._pane.view.symbol_at(self._pane.view.cursor)
        sign = {"class": "◇ ", "namespace": "§ "}.get(symbol.kind, "· ")
        indent = " " * (2 + 2 * min(symbol.depth, 4))
        return [
            (indent + sign, tones.faint),
            (fit(symbol.name, width - len(indent) - 2), tones.by_name["primary"] if here else tones.muted),
        ]

    def on_click(self, event: Any) -> None:
        row = self.scroll_offset.y + event.y
        if row < len(self.keys):
            self.post_message(self.Opened(self, self.keys[row]))


class CodePane(Hollow, Vertical):
    """The files of one submission; one of them in view."""

    # what is dragged here is a border
    ALLOW_SELECT = False

    DEFAULT_CSS = """
    CodePane { width: 1fr; height: 1fr; background: $background; }
    CodePane Bar { dock: top; }
    CodePane .sidebar { width: 26; height: 1fr; dock: left; margin-top: 1; display: none; }
    CodePane.-next { border-left: solid $border; }
    """

    class Loaded(Message):
        """A file, or its highlight, came into view."""

        def __init__(self, pane: CodePane) -> None:
            super().__init__()
            self.pane = pane

    def __init__(
        self, submission: Submission, index: int, title: str, hide: Callable[[str], str] = str
    ) -> None:
        super().__init__(id=f"pane-{index}", classes="-next" if index else "")
        self.submission, self.index, self.title = submission, index, title
        self.hide = hide
        self.file = ""
        self.view = CodeView(moved=self._view_moved, leaving=self._leave, id=f"code-{index}")
        self.opening = CodeOpening(self.view)
        self.sidebar = Sidebar(self)
        self.title_bar = Bar(classes="-title")
        self.counts = ""
        #: Rises with every state of its files.
        self.state = 0
        self.moved: Callable[[CodePane], None] = lambda pane: None
        self.leaving: Callable[[CodePane, int], None] = lambda pane, line: None
        self._match = ""
        self._places: dict[str, int] = {}
        self._sources: dict[str, tuple[Source, Highlight | None]] = {}
        self._background: Background | None = None
        self._searches: Background | None = None

    def compose(self) -> ComposeResult:
        yield self.title_bar
        yield self.sidebar
        yield self.view

    def on_mount(self) -> None:
        failed = partial(self.notify, severity="error", markup=False)
        self._background = Background(failed, held=True)
        self._searches = Background(failed, held=True)
        # the code is on screen first; its colours, and what is too large to be read at once, come behind it
        self.call_after_refresh(self._background.begin)
        self.call_after_refresh(self._searches.begin)
        files = self.submission.files
        if files:
            self.open(first_file(files, self.submission.task))
        else:
            self._show(Source(b"(this submission has no files)"))
        self._tell(sentence(self.submission.unlisted))
        self.submit(lambda: unopened(self.submission), self._tell)
        self.retitle()

    def _tell(self, told: str) -> None:
        if told:
            self.notify(f"{letter_of(self.index)}: {plain(self.hide(told))}", markup=False, timeout=6)

    def on_resize(self) -> None:
        self.opening.again()
        self.retitle()

    def on_unmount(self) -> None:
        for background in (self._background, self._searches):
            if background is not None:
                background.close()

    @property
    def source(self) -> Source:
        """The file in view."""
        return self.view.source

    def open(self, file: str, line: int | None = None) -> None:
        """Bring a file into view.

        Args:
            file: One of the submission's files.
            line: 0-based line for the cursor; by default where it was last, or the first definition.
        """
        if file == self.file:
            if line is not None:
                self.opening.end()
                self.view.go(line, centre=True)
            return
        if self.file:
            self._leave(self.view.cursor)
            self._places[self.file] = self.view.cursor
        self.file = file
        at = self._places.get(file) if line is None else line
        if file in self._sources:
            source, highlight = self._sources[file]
            self._arrived(file, source, at)
            if highlight is not None:
                self._color(file, highlight)
            return
        if _size(self.submission, file) <= _AT_ONCE:
            self._arrived(file, self._source(file), at)
        else:
            self._show(Source("reading…".encode()))
            self.submit(lambda: self._source(file), lambda new: self._arrived(file, new, at))

    def _show(self, source: Source, line: int | None = 0) -> None:
        self.view.show(source, line=line or 0)
        if line is None:
            self.opening.begin(self.file)
        else:
            self.opening.end()
        # its symbols are not known yet, and those of another file lead nowhere
        self.relist()

    def _source(self, file: str) -> Source:
        data = self.submission.read_bytes(file) or self.submission.trouble(file).encode()
        return Source(closed(file, data).encode() or data, hide=self.hide)

    def _told(self, highlight: Highlight) -> Highlight:
        """What of a file's syntax may be shown."""

        def told(symbol: Symbol) -> Symbol:
            name = self.hide(symbol.name)
            # most are shown as they are, and a copy of each of thousands would be felt
            return symbol if name == symbol.name else replace(symbol, name=name)

        return replace(highlight, symbols=tuple(map(told, highlight.symbols)))

    def reread(self) -> None:
        """Read the files again, those that may be shown otherwise now; the cursor stays where it is."""
        file, line = self.file, self.view.cursor
        self._sources.clear()
        self.tell_match("")
        if file:
            self.file = ""
            self.open(file, line)
        self.retitle()

    def submit(self, job: Callable[[], Result], done: Callable[[Result], object]) -> None:
        """Run ``job`` in this pane's thread, then ``done`` with its result in the event loop."""
        assert self._background is not None
        self._background.submit(job, done)

    def search(self, job: Callable[[], Result], done: Callable[[Result], object]) -> None:
        """The same in a thread that waits neither for syntax nor for two files being matched."""
        assert self._searches is not None
        self._searches.submit(job, done)

    def _arrived(self, file: str, source: Source, at: int | None) -> None:
        if file != self.file:
            return
        self.state += 1
        known = self._sources.get(file, (source, None))[1]
        self._sources[file] = (source, known)
        self._show(source, at)
        self.post_message(self.Loaded(self))
        self.retitle()
        if known is None:
            tones = tones_of(self.app)
            # the file as it is: a covered name is no identifier to a grammar
            self.submit(
                lambda: (read(file, source.bare), syntax_styles(tones)),
                lambda pair: self._color(file, pair[0]),
            )
        if not source.measured:
            self.submit(lambda: _measure(source), lambda _: self.retitle())

    def _color(self, file: str, highlight: Highlight) -> None:
        if file not in self._sources:
            return
        source, _ = self._sources[file]
        self._sources[file] = (source, highlight)
        if file == self.file:
            self.view.color(self._told(highlight), syntax_styles(tones_of(self.app)))
            self.opening.again()
            self.relist()
            self.post_message(self.Loaded(self))

    def files_changed(self, names: Iterable[str]) -> None:
        """Read files again that have changed on disk; the reader's place stays.

        Args:
            names: The files, relative to the submission's folder.
        """
        self.state += 1
        names = frozenset(names)
        for name in names:
            if name != self.file:
                self._sources.pop(name, None)
        if not self.file and self.submission.files:
            self.open(first_file(self.submission.files, self.submission.task))
        elif self.file in names and self.file in self.submission.files:
            file, before = self.file, self.source

            def read_again() -> tuple[Source, LineMap]:
                from judge_tui.tui.code.line_map import LineMap

                source = self._source(file)
                return source, LineMap(before.lines, source.lines)

            self.submit(read_again, lambda pair: self._renew(file, before, *pair))
        elif self.file and self.file not in self.submission.files:
            self._follow([name for name in names if name in self.submission.files])
        self.relist()
        self.retitle()

    def _follow(self, new: Sequence[str]) -> None:
        """Go on in the file that the one in view has become, where just one of some says the same."""
        file, before = self.file, self.source

        def alike() -> tuple[list[tuple[str, Source]], LineMap]:
            from judge_tui.tui.code.line_map import LineMap

            sources = ((name, self._source(name)) for name in new)
            return [one for one in sources if one[1].text == before.text], LineMap(before.lines, before.lines)

        def followed(found: Sequence[tuple[str, Source]], stays: LineMap) -> None:
            if len(found) != 1 or self.source is not before or file in self.submission.files:
                return
            with self.view.place_kept(stays):
                self.file = found[0][0]
                self._arrived(*found[0], self.view.cursor)
            self.notify(
                f"{letter_of(self.index)}: {plain(self.hide(file))} is {plain(self.hide(self.file))} now.",
                markup=False,
                timeout=6,
            )

        if new and before.text:
            self.submit(alike, lambda pair: followed(*pair))

    def _renew(self, file: str, before: Source, source: Source, moved: LineMap) -> None:
        if file != self.file:
            self._sources.pop(file, None)
        elif self.source is not before:
            # an older state of it came into view meanwhile
            self.files_changed((file,))
        elif source.text != before.text:
            self._sources.pop(file, None)
            with self.view.place_kept(moved):
                self._arrived(file, source, moved(self.view.cursor))

    def known(self, file: str) -> tuple[Source | None, Highlight | None]:
        """A file and its syntax, as far as they were read."""
        return self._sources.get(file, (None, None))

    @property
    def settled(self) -> bool:
        """Whether nothing is being read or parsed."""
        return self._background is not None and not self._background.waiting

    def recolor(self) -> None:
        """Take the styles of the present theme."""
        known = self._sources.get(self.file, (None, None))[1]
        if known is not None:
            self.view.color(self._told(known), syntax_styles(tones_of(self.app)))
            self.relist()

    def relist(self) -> None:
        """Refresh files and symbols at the side."""
        if self.sidebar.display:
            keys: list[Hashable] = [("head", "FILES"), *(("file", name) for name in self.submission.files)]
            if aside := self.submission.unlisted:
                keys += [("head", ""), ("head", f"LEFT OUT ({len(aside)})")]
                keys += [("aside", one) for one in aside]
            if self.view.symbols:
                keys += [
                    ("head", ""),
                    ("head", self.view.symbols_title.upper()),
                    *(("symbol", symbol) for symbol in self.view.symbols),
                ]
            self.sidebar.show(keys)

    def retitle(self) -> None:
        """Refresh the line above the code."""
        view, source = self.view, self.view.source
        focused = view.has_focus
        many = len(self.submission.files)
        symbol = view.symbol_at(view.cursor)
        first, last = view.selection
        where = f"{first + 1}–{last + 1}" if view.selected_from is not None else f"{view.cursor + 1}"
        nth = f"{view.hit + 1} of " if view.hit is not None and self.counts else ""
        # how many there are says enough where room is short
        count, word = (self.counts[:-6], " found") if self.counts.endswith(" found") else (self.counts, "")
        aside = self.submission.unlisted
        gone = bool(self.file) and self.file not in self.submission.files
        name = fit_middle(self.hide(self.file), max(self.size.width // 2, _WHOLE))
        ends = (("CRLF", source.crlf), ("CR", source.lone_cr), ("not UTF-8", source.invalid))
        told = (*ends, (f"{len(aside)} left out", aside))
        flags = " ".join(word for word, on in told if on)
        self.title_bar.tell(
            [
                (f" {letter_of(self.index)} ", "primary" if focused else "muted", 0),
                (f"{self.title} ", "strong" if focused else "muted", 3),
                (f"{name or 'no files'} ", "text" if focused else "muted", 0),
                (
                    f"({self.submission.files.index(self.file) + 1}/{many}) "
                    if many > 1 and self.file and not gone
                    else "",
                    "faint",
                    3,
                ),
                (f"› {symbol.name} " if symbol else "", "muted", 4),
            ],
            [
                (f"{self._match} " if self._match else "", "accent", 2),
                ("gone from disk " if gone else "", "warning", 0),
                (f"{flags} ", "warning", 3) if flags else ("", "", 3),
                (f"{nth}{count}", "accent", 1),
                (word, "accent", 2),
                (" · " if self.counts else " ", "accent", 1),
                (f"→{view.left} " if view.left else "", "muted", 3),
                ("selected " if view.selected_from is not None else "", "accent", 2),
                (f"{where}/{len(source)} ", "muted", 1),
            ],
        )

    def tell_match(self, text: str) -> None:
        """Show what of the pane in focus is answered here."""
        if text != self._match:
            self._match = text
            self.retitle()

    def _leave(self, line: int) -> None:
        self.leaving(self, line)

    def _view_moved(self) -> None:
        self.retitle()
        self.moved(self)
        if self.sidebar.display:
            self.sidebar.refresh()

    def on_rows_opened(self, event: Rows.Opened) -> None:
        event.stop()
        assert isinstance(event.key, tuple)
        kind, value = event.key
        if kind == "file":
            self.open(value)
        elif kind == "symbol":
            self.view.go(value.line, centre=True)
        self.view.focus()

    def on_descendant_focus(self) -> None:
        self.retitle()

    def on_descendant_blur(self) -> None:
        self.retitle()

    def widen(self, sidebar: int) -> None:
        """Show the sidebar with so many columns, or hide it with 0."""
        self.sidebar.display = sidebar > 0
        if sidebar:
            self.sidebar.styles.width = sidebar
            self.relist()

    @property
    def room(self) -> Size:
        """Size of the code in view."""
        return self.view.size


def _size(submission: Submission, file: str) -> int:
    try:
        return (submission.path / file).stat().st_size
    except OSError:
        return 0


def _measure(source: Source) -> None:
    while not source.measure(0.01):
        time.sleep(0.002)
