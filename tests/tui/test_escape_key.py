"""Escape is Escape, however fast the next key follows."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Iterable

import pytest
from textual import constants, events
from textual._xterm_parser import XTermParser

from judge_tui.tui.textual_private import escape_key
from judge_tui.tui.textual_private.escape_key import heed_pauses, without_alt

SENTENCE = "a very important note by window one: q, S, 85 and x are letters. "


def told(chunks: Iterable[str], parser: XTermParser | None = None) -> list[str]:
    """The names of the keys that chunks come to; of a paste, its text."""
    heed_pauses()
    parser = parser or XTermParser()
    seen: list[str] = []
    for chunk in chunks:
        for event in parser.feed(chunk):
            if isinstance(event, events.Key):
                seen += [key.character or key.key for key in without_alt(event)]
            elif isinstance(event, events.Paste):
                seen.append(f"paste {event.text}")
    return seen


def cuttings(data: str) -> Iterable[list[str]]:
    """Data in one piece, character by character, and cut at random places."""
    yield [data]
    yield list(data)
    rng = random.Random(7)
    for _ in range(8):
        cuts = sorted({rng.randrange(1, len(data)) for _ in range(rng.randrange(1, 9))})
        yield [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No pause between two chunks, however slow the machine."""
    monkeypatch.setattr(constants, "ESCAPE_DELAY", 3600.0)


def test_a_pause_is_waited_for_no_longer_than_a_typist_notices() -> None:
    code = "import judge_tui.tui.app; from textual import constants; print(constants.ESCAPE_DELAY)"
    # In a process of its own: here, a test's plugin may have imported Textual first.
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert float(told) <= 0.03


@pytest.mark.parametrize("key", ["2", "j", ":", "\r"])
def test_a_key_behind_escape_is_a_key_of_its_own(key: str) -> None:
    heed_pauses()
    parser = XTermParser()
    told = list(parser.feed("\x1b"))
    time.sleep(constants.ESCAPE_DELAY * 1.2)
    told += list(parser.feed(key))
    assert [event.character for event in told if isinstance(event, events.Key)] == ["\x1b", key]


def test_a_sequence_that_arrives_in_one_piece_is_still_a_sequence() -> None:
    heed_pauses()
    assert [event.key for event in XTermParser().feed("\x1b[A") if isinstance(event, events.Key)] == ["up"]


def test_alt_and_a_letter_are_escape_and_the_letter() -> None:
    assert [key.key for key in without_alt(events.Key("alt+q", "q"))] == ["escape", "q"]
    assert [key.key for key in without_alt(events.Key("alt+shift+g", "G"))] == ["escape", "G"]
    assert [key.key for key in without_alt(events.Key("alt+backspace", None))] == ["alt+backspace"]


@pytest.mark.parametrize("length", [1, 31, 32, 33, 100, 2000])
def test_escape_before_a_sentence_is_escape_and_the_sentence(patient: None, length: int) -> None:
    sentence = (SENTENCE * 40)[:length]
    for chunks in cuttings("\x1b" + sentence):
        assert told(chunks) == ["\x1b", *sentence], chunks


@pytest.mark.parametrize("beginning", ["2", ",", "é", "\r", "next", "files first", "O72"])
def test_escape_in_a_burst_is_escape_whatever_follows(patient: None, beginning: str) -> None:
    assert told(["\x1b" + beginning + SENTENCE]) == ["\x1b", *beginning, *SENTENCE]


def test_escapes_in_a_row_are_that_many(patient: None) -> None:
    for chunks in cuttings("\x1b\x1bjk\x1b" + SENTENCE):
        assert told(chunks) == ["\x1b", "\x1b", "j", "k", "\x1b", *SENTENCE], chunks


def test_sequences_and_strokes_of_alt_keys_are_what_they_were(patient: None) -> None:
    sent = {"\x1b[A": "up", "\x1bOA": "up", "\x1bOP": "f1", "\x1b[1;2A": "shift+up", "\x1b[5~": "pageup"}
    for chunks in cuttings("".join(sent) + "j"):
        assert told(chunks) == [*sent.values(), "j"], chunks
    parser = XTermParser()
    assert told(["\x1bb", "\x1bf\x1bf", "\x1b\x7f"], parser) == ["ctrl+left", *["ctrl+right"] * 2, "ctrl+w"]


COLOURED = (
    "\x1b[1;31merror\x1b[0m: \x1b]8;;https://example.org\x1b\\bad\x1b]8;;\x07 shape\r\n"
    "\x1b]0;a title\x07\tq\x1b(B \x9b4mS\x1b[m\x00\x08\x7f\x1b= 85\x1bP1;2q#0\x1b\\\rend\x1b[K\nqq\x1b"
)
PLAIN = "error: bad shape\n\tq S 85\nend\nqq"


def test_a_paste_with_colours_is_one_paste_of_plain_text_in_order(patient: None) -> None:
    for chunks in cuttings(f"j\x1b[200~{COLOURED}\x1b[201~kl\x1b[A"):
        assert told(chunks) == ["j", f"paste {PLAIN}", "k", "l", "up"], chunks


def test_two_pastes_are_two(patient: None) -> None:
    for chunks in cuttings("\x1b[200~one\x1b[200~\x1b[201~\x1b[200~\x1b[201~\x1b[200~two\x1b[201~\x1ba"):
        assert told(chunks) == ["paste one", "paste two", "\x1b", "a"], chunks


class Clock:
    """What the time is, by hand."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = time.monotonic()
        monkeypatch.setattr(escape_key.time, "monotonic", lambda: self.now)
        monkeypatch.setattr("textual._parser.get_time", lambda: self.now)

    def ticks(self, parser: XTermParser, seconds: float) -> list[object]:
        self.now += seconds
        return [getattr(event, "text", getattr(event, "key", None)) for event in parser.tick()]


def test_a_paste_that_never_ends_is_told_and_keys_are_keys_again(monkeypatch: pytest.MonkeyPatch) -> None:
    heed_pauses()
    clock, parser = Clock(monkeypatch), XTermParser()
    assert told([f"\x1b[200~{COLOURED[:-1]}"], parser) == []
    # a line that lags for a moment is no reason
    assert clock.ticks(parser, 5) == []
    assert told(["more\x1b[20"], parser) == []
    assert clock.ticks(parser, 30) == [PLAIN + "more"]
    assert told(["jk\x1b[201~l"], parser) == ["j", "k", "l"]


def test_keys_that_are_pressed_all_the_while_do_not_keep_a_paste_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    heed_pauses()
    clock, parser = Clock(monkeypatch), XTermParser()
    seen: list[object] = list(told(["\x1b[200~some" + "thing" * 400], parser))
    for _ in range(60):
        seen += told(["j"], parser)
        seen += clock.ticks(parser, 0.5)
    assert seen.count("j") > 5
    assert str(seen[0]).startswith("something")


def test_a_slow_but_steady_paste_stays_one(monkeypatch: pytest.MonkeyPatch) -> None:
    heed_pauses()
    clock, parser = Clock(monkeypatch), XTermParser()
    seen = told(["\x1b[200~"], parser)
    for _ in range(120):
        assert told(["q" * 1000], parser) == []
        assert clock.ticks(parser, 1) == []
    assert seen + told(["\x1b[201~"], parser) == ["paste " + "q" * 120_000]


def test_a_sequence_that_lags_is_waited_for_longer_than_escape(monkeypatch: pytest.MonkeyPatch) -> None:
    heed_pauses()
    clock, parser = Clock(monkeypatch), XTermParser()
    assert told(["\x1b[2"], parser) == []
    assert clock.ticks(parser, constants.ESCAPE_DELAY * 3) == []
    assert told(["00~qq\x1b[201~"], parser) == ["paste qq"]
    assert told(["\x1b"], parser) == []
    assert clock.ticks(parser, constants.ESCAPE_DELAY * 3) == ["escape"]


@pytest.mark.parametrize("key", list("[]^_XPO"))
def test_escape_and_a_key_that_begins_sequences_are_two_keys_after_a_pause(
    monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    heed_pauses()
    clock, parser = Clock(monkeypatch), XTermParser()
    assert told([f"\x1b{key}"], parser) == []
    clock.now += 2.0
    seen = [each for event in parser.tick() if isinstance(event, events.Key) for each in without_alt(event)]
    assert [event.character for event in seen] == ["\x1b", key]


def test_escape_and_the_next_function_twice_is_no_answer_of_a_terminal(patient: None) -> None:
    assert told(["\x1b]]x"]) == ["\x1b", "]", "]", "x"]
    assert told(["\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\", "x"])[-1] == "x"


#: What terminals send and Textual does not know, or knows in part.
UNKNOWN = (
    "\x1b[<32;NaN;NaNM", "\x1b[<0;NaN;5m", "\x1b[<35;1.5;-2.25M", "\x1b[>0;276;0c", "\x1b[?62;22c",
    "\x1b[1;2;3y", "\x1b[99;99;99z", "\x1b[?1;2;3;4$w", "\x1b[ q", "\x1b[1 q", "\x1b[8;50;120t", "\x1b[=3u",
    "\x1b[?7u", "\x1b[57344;1:9;99999999999u", "\x1b[106;1:3u", "\x1b[99999999999999u", "\x1b[<64;12M",
    "\x1b[48;1;2t", "\x1b[48;-1;2t", "\x1b[?1;1.5;2u", "\x1b[!1 2-3W", "\x1b[<1:2;3:4;;M", "\x1b[<;M",
    "\x1b[NaN;NaNR", "\x1b[8;undefined;80t", "\x1b[Infinity;5R", "\x1b[1;null;-NaNc",
    "\x1b[12;x;3R", "\x1b[1;0x1f;2R",
    "\x1b[‹35;10;20M", "\x1b[‹M", "\x1b[1；；2;3R", "\x1b[？25h", "\x1b[1e+21;2R",
)  # fmt: skip


@pytest.mark.parametrize("sequence", UNKNOWN)
def test_a_sequence_that_nobody_knows_is_swallowed_whole(patient: None, sequence: str) -> None:
    for chunks in cuttings(f"j{sequence}kl{sequence}\x1b[A"):
        assert told(chunks) == ["j", "k", "l", "up"], (sequence, chunks)


@pytest.mark.parametrize(
    ("sequence", "key"),
    [
        ("\x1b[106:74;2u", "J"), ("\x1b[97:65:113;2u", "A"), ("\x1b[106;1u", "j"), ("\x1b[27;1u", "escape"),
        ("\x1b[1;2A", "shift+up"), ("\x1b[[A", "f1"), ("\x1b[5~", "pageup"), ("\x1b[1;5D", "ctrl+left"),
    ],
)  # fmt: skip
def test_a_key_is_the_same_with_the_other_keys_of_its_place_beside_it(
    patient: None, sequence: str, key: str
) -> None:
    for chunks in cuttings(f"x{sequence}y"):
        assert told(chunks) == ["x", key, "y"], chunks


def test_the_mouse_and_reports_of_the_terminal_are_what_they_were(patient: None) -> None:
    heed_pauses()
    sent = "\x1b[<0;10;20M\x1b[<0;10;20m\x1b[I\x1b[O\x1b[?2026;2$y\x1b[48;50;120;1000;1200t"
    for chunks in cuttings(sent):
        parser = XTermParser()
        seen = [type(event).__name__ for chunk in chunks for event in parser.feed(chunk)]
        assert seen == [
            "MouseDown", "MouseUp", "AppFocus", "AppBlur", "TerminalSupportsSynchronizedOutput", "Resize"
        ], chunks  # fmt: skip


def test_no_bytes_end_the_parser_and_typing_goes_on_behind_them(patient: None) -> None:
    rng = random.Random(11)
    alphabet = "0123456789;:<>?=!\"$ 'ABCMRmuyt~NaN[\x1b\x07\r"
    for _ in range(3000):
        noise = "\x1b[" + "".join(rng.choice(alphabet) for _ in range(rng.randrange(1, 20)))
        parser = XTermParser()
        told([noise], parser)
        # the end of whatever has begun
        told(["\x1b[A\x1b[201~"], parser)
        assert told(["plain text"], parser) == list("plain text"), noise


def pressed(clock: Clock, parser: XTermParser, reads: Iterable[tuple[str, float]]) -> list[str]:
    """The keys that reads come to, each behind a pause, in which the driver looks."""
    seen: list[object] = []
    for data, pause in (*reads, ("", 3.0)):
        for _ in range(int(pause * 10)):
            seen += clock.ticks(parser, 0.1)
        clock.now += pause % 0.1
        seen += told([data], parser) if data else []
    return [key if isinstance(key, str) else "" for key in seen]


def test_what_is_typed_key_by_key_behind_escape_is_all_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    heed_pauses()
    for keys in ("[?62;22c", "]11;rgb", "[12", "P>|x", "_Gi", "OA", "[A", "Xab"):
        clock, parser = Clock(monkeypatch), XTermParser()
        names = [str(name) for name in pressed(clock, parser, [("\x1b", 0.2), *((key, 0.2) for key in keys)])]
        typed = {"left_square_bracket": "[", "right_square_bracket": "]", "underscore": "_"}
        assert [typed.get(name, name) for name in names][1:2] == [keys[0]], names
        assert len(names) == 1 + len(keys), names


def test_text_behind_an_answer_that_has_lost_its_end_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    heed_pauses()
    clock, parser = Clock(monkeypatch), XTermParser()
    text = "a sentence that goes on and on while the answer is waited for"
    seen = pressed(clock, parser, [("\x1b]11;rgb:1e", 0.2), *((sign, 0.2) for sign in text)])
    assert len(seen) == len(text)
    # and an end that comes at once is none of the text
    assert told(["\x1b]11;rgb:1e\rx"], XTermParser()) == ["\r", "x"]


def test_a_long_list_of_parameters_takes_no_time(patient: None) -> None:
    began = time.perf_counter()
    for tail in ("x;", "NaN;", "é", "x", "‹;;"):
        told(["\x1b[" + "1;" * 2000 + tail, "\x1b[I"])
    assert time.perf_counter() - began < 2.0


@pytest.mark.parametrize("sent", ["\x1b[48;0;0;0;0t", "\x1b[48;9999999;9999999;1;1t", "\x1b[48;24;80;0;0t"])
def test_no_size_that_a_terminal_tells_ends_the_parser(patient: None, sent: str) -> None:
    heed_pauses()
    parser = XTermParser()
    seen = [*parser.feed(sent), *parser.feed("\x1b[<0;10;20M")]
    assert [type(event).__name__ for event in seen] == ["Resize"] * (";24;" in sent) + ["MouseDown"]
