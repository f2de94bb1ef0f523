from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_tui.judging.hiding.block import BLOCK
from judge_tui.judging.hiding.mask import Mask, telling_names
from judge_tui.judging.workspace import CONFIG, Workspace

NAMES = ("glm5", "GLM-5", "qwen36", "Qwen3-6", "kimi-k2.6", "MiniMax-M2.7", "o3", "Yi-34B", "DeepSeek-R1")
MASK = Mask(NAMES)


def left(text: str) -> str:
    """What is left of a text."""
    return re.sub(f"{BLOCK}+", BLOCK, MASK(text))


@pytest.mark.parametrize(
    "text",
    [
        "GLM-5", "glm5", "Glm_5", "glm 5", "GLM.5", "glm-4.6", "GLM", "Qwen3-6", "qwen3_6", "QWEN 3.6",
        "qwen2.5-72b", "Kimi K2.6", "kimi", "k2.6", "K2_6", "MiniMax-M2.7", "mini_max", "Mini Max", "M2.7",
        "o3", "O3", "yi34b", "Yi-34B", "ChatGLM", "chatglm2-6b", "TongyiQwen", "myglmcache", "g l m",
        "q.w.e.n", "ＧＬＭ", "g\u200bl\u200bm", "q\x1bwen", "qwe\u0301n", "Qwén", "\u202eglm\u202c",
        "glm\udcff5",
        "Mini\u2011Max", "M2\u20117", "Deep\u2010Seek", "Deep\u2011Seek", "Deep\u2013Seek", "Deep\u2212Seek",
        "Deep\u2e3aSeek", "GLM\u20145", "Mini___Max", "Mini-----Max", "Mini   Max", "Deep - Seek",
        "Deep+Seek", "Deep ~ Seek", "Deep'Seek", "Qw**en", "Qw`en", "Mini__Max", "Ki~~mi",
    ],
)  # fmt: skip
def test_a_name_is_hidden_in_every_spelling(text: str) -> None:
    shown = left(f"# by {text}, they say")
    assert shown.replace("\u202e", "").replace("\u202c", "") == f"# by {BLOCK}, they say"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("class Qwen36Cache(Base):", "class ▒Cache(Base):"),
        ("def glm5_attend(q, k):", "def ▒_attend(q, k):"),
        ("/w/submissions/qwen36/kv/x.py:3", "/w/submissions/▒/kv/x.py:3"),
        ("glm5.py", "▒.py"),
        ("GLM and Qwen", "▒ and ▒"),
        ("--beats-qwen36-by-2x", "--beats-▒-by-2x"),
    ],
)
def test_what_stands_around_a_name_stays(text: str, shown: str) -> None:
    assert left(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "O1Cache", "o1Cache", "CacheO1", "solveO1(x)", "loadO1Weights", "o1preview", "o1cache.py", "O1CACHE",
        "YiCache", "yiCache", "computeYi", "YICache", "4o", "gpt-4o", "Gpt4oCache",
    ],
)  # fmt: skip
def test_a_short_name_is_hidden_as_a_word_of_a_longer_one(text: str) -> None:
    shown = Mask(["o1", "Yi", "gpt 4o"])(f"class {text}")
    assert not re.search("o1|yi|gpt|4o", shown, re.IGNORECASE), shown


@pytest.mark.parametrize(
    "text", ["yield_", "Yields", "pyyi2", "o12", "proto1", "0x14o", "x4ox", "YIELD", "o1x"]
)
def test_letters_that_are_no_word_of_a_longer_name_stay(text: str) -> None:
    assert Mask(["o1", "Yi", "gpt 4o"])(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("由豆包生成", "由▒▒生成"),
        ("# 文心4号, 使用文心模型", "# ▒▒▒号, 使用▒▒模型"),
        ("클로바는", "▒▒▒는"),
        ("文心ERNIE 的", "▒▒▒▒▒▒▒ 的"),
    ],
)
def test_a_name_in_a_script_without_blanks_is_hidden_within_a_sentence(text: str, shown: str) -> None:
    assert Mask(["豆包", "文心 4", "클로바"])(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "mini - max", "mini + max", "mini*max", "mini ** 2", "mini – max", "o — 3", "o**3", "m2 * 7", "k − 2",
        "a well‑known trade‑off", "the so‑called K‑cache — deep, then seek", "1990–1995", "x‒y―z", "−0.5",
        "deep(seek)", "deep, seek", "**deep** and **se**al", "a__init__b", "mini\n\nmax(a)", "seq\nwenn",
        "in-\nline", "o\n3", "deep\n\n# seek", "gl-\nobal",
        "model = flash(mini, max)", "minmax(a, b)", "k2 = 3; m2 = 4", "g, l, m = x", "log l.mean()", "v3.1",
        "min|max",
        "x[27]", "co3 = 1", "o31", "tree", "the air", "a - b_c.d", "", "\n\n", "naïve “quotes” — 中文\t…",
    ],
)  # fmt: skip
def test_what_tells_no_model_stays(text: str) -> None:
    assert MASK(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("by Mini\nMax now", "by ▒▒▒▒\n▒▒▒ now"),
        ("by Mini-\n  Max now", "by ▒▒▒▒▒\n▒▒▒▒▒ now"),
        ("Deep\nSeek", "▒▒▒▒\n▒▒▒▒"),
        ("as Qw-\nen does", "as ▒▒▒\n▒▒ does"),
        ("as Qw\u2010\r\nen does", "as ▒▒▒▒\n▒▒ does"),
        ("**Qw**en", "**▒▒▒▒▒▒"),
    ],
)
def test_a_name_that_is_broken_is_hidden_and_the_lines_stay(text: str, shown: str) -> None:
    assert MASK(text) == shown


def test_parts_of_a_broken_name_are_as_long_as_those_of_any() -> None:
    shown = Mask(NAMES, width=6)("it says Deep\nSeek is the best")
    assert [line.count(BLOCK) for line in shown.split("\n")] == [6, 6]


@given(
    st.lists(
        st.one_of(
            st.sampled_from(
                [*NAMES, "\n", "\r\n", "\t", " ", "_", "\u200b", "é", "中", "ﬁ", "İ", "ß", "\udc80"]
            ),
            st.text(max_size=4),
        ),
        max_size=12,
    )
)
def test_masking_keeps_characters_lines_and_is_done_at_once(pieces: list[str]) -> None:
    text = "".join(pieces)
    shown = MASK(text)
    assert len(shown) == len(text)
    assert [len(line) for line in shown.split("\n")] == [len(line) for line in text.split("\n")]
    assert all(new in (old, BLOCK) for old, new in zip(text, shown, strict=True))
    assert MASK(shown) == shown


def test_masking_lines_is_masking_the_text() -> None:
    text = "GLM-5\nplain\né Qwen\n\n  kimi\u200b k2.6\n"
    assert MASK(text) == "\n".join(map(MASK, text.split("\n")))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("at submissions/qwe…", "at submissions/▒▒▒…"),
        ("the gl… and GL…", "the ▒▒… and ▒▒…"),
        ("by Kimi-K…", "by ▒▒▒▒-K…"),
        ("…glm", "…▒▒▒"),
        ("a g…", "a g…"),
        ("the rest…", "the rest…"),
        ("x…", "x…"),
        ("…", "…"),
    ],
)
def test_a_name_that_is_cut_off_by_an_ellipsis_is_hidden_on_the_screen(text: str, shown: str) -> None:
    covered = list(text)
    for first, end in MASK.spans(text):
        covered[first:end] = BLOCK * (end - first)
    assert "".join(covered) == shown


def test_nothing_is_hidden_without_names() -> None:
    assert Mask(())("glm5") == "glm5"
    assert Mask(["5", "a", ""])("5 a") == "5 a"


def test_a_common_word_is_hidden_where_it_is_the_whole_name() -> None:
    assert Mask(["baseline"])("the baseline") == f"the {BLOCK * 8}"
    assert Mask(["model-a"])("model = model_a") == f"model = {BLOCK * 7}"


def test_every_name_of_every_model_is_known_whoever_is_compared(tmp_path: Path) -> None:
    for model, title in (("glm5", "GLM five"), ("hunyuan", "")):
        folder = tmp_path / "submissions" / model / "kv"
        folder.mkdir(parents=True)
        (folder / "submission.toml").write_text(f'model = "{title}"\n')
    (tmp_path / "scores" / "kv" / "ernie").mkdir(parents=True)
    (tmp_path / CONFIG).write_text(
        '[aliases]\nchatty = "glm5"\nlayers = "backwards"\n[models.grok]\ntitle = "Grok 4"\n'
        '[blind]\nalso = ["Zhipu"]\n'
    )
    (tmp_path / "submissions" / "glm5" / "fuse").mkdir()
    (tmp_path / "submissions" / "glm5" / "fuse" / "submission.toml").write_text("not toml")
    names = telling_names(Workspace.find(explicit=tmp_path))
    assert set(names) == {"glm5", "hunyuan", "ernie", "grok", "Grok 4", "chatty", "GLM five", "Zhipu"}


def test_long_texts_are_masked_in_one_go() -> None:
    # a pattern that walks back would take hours on these
    for text in ("glm" + "1-" * 50_000, "a" * 100_000 + "glm", "glm5-" * 20_000, "q w e " * 30_000 + "é"):
        assert len(MASK(text)) == len(text)


@pytest.mark.parametrize(
    "text",
    [
        "qw\u0435n", "GL\u041c-5", "\u041aimi", "\u03bai\u03bci", "\u0262\u029f\u1d0d5",
        "\U0001f180\U0001f186\U0001f174\U0001f17d",
        "\U0001f1f6\U0001f1fc\U0001f1ea\U0001f1f3", "g\u0142m-5", "k\u0131m\u0131", "\u0261lm-5",
        r"\x71wen", r"qwe\x6e", r"\u0071wen", r"q\u{77}en", r"\161wen", "&#113;wen", "&#x71;wen", "%71wen",
        "gIm5", "g1m-5", "g|m5", "g!m5", "qw3n", "k1mi", "k!m!", "K\u00a1mi", "k/i/m/i", "k  i  m  i",
        "'gl' + 'm5'", '"qw" "en"', '"q" + "wen"', "['qw', 'en']", '"".join(["q","w","e","n"])',
    ],
)  # fmt: skip
def test_a_name_that_is_read_at_sight_is_hidden_whatever_stands_for_its_letters(text: str) -> None:
    shown = Mask(["glm5", "Qwen3.6", "kimi-k2.6"])(f"made by {text}, it says")
    assert len(shown) == len(f"made by {text}, it says")
    assert shown.startswith("made by")
    assert shown.endswith(", it says")
    assert BLOCK in shown
    assert not re.search(r"\w{2,}", shown[7:-9].replace(BLOCK, " ").replace("join", "")), shown


@pytest.mark.parametrize("text", ["Deep_seek", "D33pS33k", "deeps-eek", "D.e.e.p.S.e.e.k", "De3p-Se3k"])
def test_a_long_name_is_hidden_with_a_sign_anywhere_and_figures_for_letters(text: str) -> None:
    assert Mask(["DeepSeek"])(f"by {text}.") == f"by {BLOCK * len(text)}."


def test_letters_that_nobody_sees_hide_no_name() -> None:
    assert MASK("by g\u3164l\u3164m they say") == f"by {BLOCK * 5} they say"


@pytest.mark.parametrize("text", ["gl\\\nm5", '"gl"\n    "m5"', "'gl' \\\n'm5'"])
def test_a_name_that_goes_on_in_the_next_line_of_a_program_is_hidden(text: str) -> None:
    assert not re.search("gl|m5", MASK(text))


@pytest.mark.parametrize(
    "text", ["by \u0432\u0435\u0433\u0430", "by \u0412\u0415\u0413\u0410", "\u0412\u0435\u0433\u0430-4"]
)
def test_a_name_in_another_script_is_hidden_in_either_case(text: str) -> None:
    assert BLOCK in Mask(["\u0412\u0435\u0433\u0430"])(text)


@pytest.mark.parametrize(
    "text", [r"'\n' + '\x1b[0m'", "100%20 left", r"re.compile(r'\d\x41')", "5 \u00b5s, \u03b1 = \u03b2"]
)
def test_escapes_and_letters_that_spell_no_name_stay(text: str) -> None:
    assert MASK(text) == text
