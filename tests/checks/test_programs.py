"""Programs in the jail: compilers work, what they are fed and what they made reaches nothing outside."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import sys
import textwrap
import time
from pathlib import Path

import pytest

from judge_tui.checks.sandbox import Limits, Mode, programs
from judge_tui.checks.sandbox.bubblewrap import find_bubblewrap
from judge_tui.checks.sandbox.programs import Ran, run_program

COMPILER = shutil.which("g++") or shutil.which("clang++")
MODES: tuple[Mode, ...] = ("bwrap", "plain") if find_bubblewrap()[0] else ("plain",)
pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs a C++ compiler")


def compiled(source: str, mode: Mode, *options: str) -> Ran:
    assert COMPILER is not None
    files = {"main.cpp": source.encode()}
    argv = [COMPILER, *options, "-o", "main", "main.cpp"]
    return run_program(argv, seconds=60, files=files, wanted={"main": 1 << 24}, processes=True, mode=mode)


def run(source: str, mode: Mode, *arguments: str, **settings: object) -> Ran:
    made = compiled(source, mode)
    assert made.ok, made.output
    return run_program(["./main", *arguments], seconds=10, files=dict(made.files), mode=mode, **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("mode", MODES)
def test_a_program_is_compiled_and_run_and_its_files_come_back(mode: Mode) -> None:
    source = """
        #include <cstdio>
        int main(int, char **arguments) {
            FILE *out = fopen("out.bin", "wb");
            fwrite("0123456789", 1, 10, out);
            fclose(out);
            printf("%s\\n", arguments[1]);
            return 3;
        }
    """
    ran = run(source, mode, "told", wanted={"out.bin": 8, "absent": 8})
    assert (ran.status, ran.output.strip()) == (3, "told")
    assert ran.files == {"out.bin": b"01234567"}
    assert ran.ended == "exited with status 3"


@pytest.mark.parametrize("mode", MODES)
def test_a_compiled_program_starts_no_process_and_opens_no_socket(mode: Mode) -> None:
    source = """
        #include <cstdio>
        #include <unistd.h>
        #include <sys/socket.h>
        int main() { printf("%d %d\\n", (int)fork(), socket(AF_INET, SOCK_STREAM, 0)); }
    """
    assert run(source, mode).output.strip() == "-1 -1"


@pytest.mark.thorough
@pytest.mark.parametrize("way", ["", "setsid();", "setpgid(0, 0);", "if (fork()) _exit(0);"])
def test_without_a_namespace_too_nothing_that_a_program_started_outlives_it(way: str) -> None:
    source = """
        #include <cstdio>
        #include <unistd.h>
        int main() {
            int ends[2];
            pipe(ends);
            if (fork() == 0) {
                WAY
                int own = getpid();
                write(ends[1], &own, sizeof own);
                close(0), close(1), close(2);
                for (;;) pause();
            }
            int child;
            read(ends[0], &child, sizeof child);
            printf("%d\\n", child);
        }
    """
    ran = run(source.replace("WAY", way), "plain", processes=True)
    with contextlib.suppress(ProcessLookupError):
        ending = select.poll()
        ending.register(os.pidfd_open(int(ran.output)), select.POLLIN)
        assert ending.poll(10_000), "it goes on"


@pytest.mark.parametrize("mode", MODES)
def test_a_source_cannot_include_what_is_private(mode: Mode, tmp_path: Path) -> None:
    secret = tmp_path / "secret.h"
    secret.write_text('#error "the secret"\n')
    ended = compiled(f'#include "{secret}"\nint main() {{}}', mode)
    assert ended.status != 0
    assert "the secret" not in ended.output
    embedded = compiled(f'asm(".incbin \\"{secret}\\"");\nint main() {{}}', mode)
    assert embedded.status != 0


@pytest.mark.parametrize("mode", MODES)
def test_a_link_that_a_program_leaves_brings_nothing_back(mode: Mode, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    source = f'#include <unistd.h>\nint main() {{ return symlink("{secret}", "out"); }}'
    ran = run(source, mode, wanted={"out": 100})
    assert ran.ok, ran.output
    assert ran.files == {}


def test_an_endless_compilation_is_killed_within_its_time() -> None:
    bomb = "template <int A, int B> struct F { enum { v = F<A - 1, B * 2>::v + F<A - 1, B * 2 + 1>::v }; };\n"
    bomb += "template <int B> struct F<0, B> { enum { v = B }; };\nint main() { return F<40, 1>::v; }"
    assert COMPILER is not None
    started = time.monotonic()
    ran = run_program(
        [COMPILER, "-c", "main.cpp"], seconds=2, files={"main.cpp": bomb.encode()}, processes=True
    )
    assert ran.timed_out
    assert ran.ended == "did not end within 2 s"
    assert time.monotonic() - started < 8


@pytest.mark.parametrize("mode", MODES)
def test_memory_is_bounded_by_a_watch_where_the_address_space_is_not(mode: Mode) -> None:
    source = """
        #include <cstdlib>
        #include <cstring>
        int main() { for (;;) memset(malloc(1 << 20), 1, 1 << 20); }
    """
    ran = run(source, mode, limits=Limits(address_space=None), memory_bytes=200 << 20)
    assert ran.status is None
    assert ran.ended == "used more than 200 MiB of memory"


def test_a_program_that_is_not_there_is_told_apart_from_one_that_fails() -> None:
    ran = run_program(["/usr/bin/no-such-compiler"], seconds=5)
    assert ran.status == 127
    assert "No such file" in ran.output


def test_a_flood_of_output_is_kept_up_to_a_bound() -> None:
    ran = run('#include <cstdio>\nint main() { for (int i = 0; i < 1 << 20; i++) puts("flood"); }', "auto")
    assert ran.ok
    assert len(ran.output) < 1 << 20
    assert programs.Ran(0, "", "", {}, 0.0).ok


PYTHON = os.path.realpath(sys.executable)


def python(text: str, given: bytes, mode: Mode = "auto", **settings: object) -> Ran:
    files = {"main.py": text.encode()}
    argv = [PYTHON, "-B", "main.py"]
    return run_program(
        argv, seconds=settings.pop("seconds", 10.0), files=files, stdin=given, mode=mode, **settings
    )  # type: ignore[arg-type]


@pytest.mark.parametrize("mode", MODES)
def test_input_comes_by_a_pipe_that_ends_and_output_goes_apart_from_errors(mode: Mode) -> None:
    text = """
        import sys
        given = sys.stdin.read()
        print(len(given), sys.stdin.seekable(), sys.stdout.seekable())
        print("aside", file=sys.stderr)
    """
    ran = python(textwrap.dedent(text), b"x" * 3_000_000, mode)
    assert (ran.printed, ran.output) == (b"3000000 False False\n", "aside\n")
    assert ran.ok
    assert 0 < ran.own_seconds < ran.seconds


@pytest.mark.parametrize("text", ["print('early')", "import os; os.close(0); print('early')"])
def test_a_program_need_not_read_what_it_is_given(text: str) -> None:
    ran = python(text, b"x" * 3_000_000)
    assert (ran.printed, ran.status) == (b"early\n", 0)


@pytest.mark.parametrize("mode", MODES)
def test_who_prints_without_end_is_killed_and_the_beginning_kept(
    mode: Mode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "MOST_PRINTED", 3 << 20)
    ran = python("while True: print('x' * 99_999)", b"", mode)
    assert (len(ran.printed), ran.ended) == (3 << 20, "printed more than 3 MiB")
    assert ran.flooded
    assert not ran.timed_out
    assert ran.status is None


@pytest.mark.parametrize("mode", MODES)
def test_the_time_of_a_program_with_input_is_its_own(mode: Mode) -> None:
    ran = python("print('begun', flush=True)\nwhile True: pass", b"", mode, seconds=0.3)
    assert (ran.timed_out, ran.ended, ran.printed) == (True, "did not end within 0.3 s", b"begun\n")
    assert ran.own_seconds == pytest.approx(0.3, abs=0.2)


@pytest.mark.parametrize("mode", MODES)
def test_a_whole_tree_comes_back_without_links_and_what_is_hidden(mode: Mode) -> None:
    text = """
        import os
        os.makedirs("made/deep"), os.makedirs(".cache")
        for name in ("made/deep/one", "two", ".cache/three"):
            open(name, "w").write(name)
        os.symlink("/etc/passwd", "made/link")
    """
    ran = python(textwrap.dedent(text), b"", mode, tree=1 << 20)
    assert ran.ok, ran.output
    assert {name: data for name, data in ran.files.items() if name != "main.py"} == {
        "made/deep/one": b"made/deep/one",
        "two": b"two",
    }


def test_a_tree_that_is_too_large_comes_back_without_what_does_not_fit() -> None:
    ran = python("open('large', 'w').write('x' * 5000); open('small', 'w').write('x')", b"", tree=1000)
    assert set(ran.files) == {"main.py", "small"}


def test_an_index_of_a_tree_that_lies_names_nothing_outside() -> None:
    packed = json.dumps([["../up", 1], ["/root", 1], ["fine", 2], ["more", 99]]).encode() + b"\nabcd"
    assert programs._unpacked(packed) == {"fine": b"cd"}
    assert programs._unpacked(b"[[1]]\n") == programs._unpacked(b"") == {}
