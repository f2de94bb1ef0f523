"""A workspace whose submissions say their models' names wherever they can, an engine that repeats them, and a
search for names that shares nothing with the code under test."""

from __future__ import annotations

import base64
import re
from pathlib import Path

from judge_tui.judging.workspace import CONFIG, Workspace

from .conftest import ENGINE, RUBRIC

MODELS = ("glm5", "qwen36")
TITLES = {"glm5": "GLM-5", "qwen36": "Qwen3-6"}

_INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2060\ufeff\u0300-\u036f]")
# kimi is compared with nobody: it would tell by exclusion; moonshot stands in judge-tui.toml
_NAME = re.compile(r"g[-_ .]?l[-_ .]?m|qwen|kimi|k2\.6|moonshot|ｇｌｍ|ＧＬＭ", re.IGNORECASE)

CODE = '''"""{title}: the cache of {name}, written by {title} ({upper}). Better than Kimi-K2.6 of Moonshot."""

import numpy as np

MODEL = "{name}"  # {spaced}; g l m, q.w.e.n, Ｇ\u200bＬＭ, {zero}


class {camel}Cache:
    """I am {title}. {wide}"""

    def __init__(self, size):
        self.{name}_size = size
        self.long = "{far}{title}"

    def update_{name}(self, at, key):
        # {upper} places one key
\t\traise RuntimeError("{title} fails")


def {name}_attend(query, cache):
    # TODO({lower}): kimi would do better here
    return query * cache.{name}_keys


def shared(query, cache):
    return {name}_attend(query, cache)  # {title}
'''

#: Every text of every event carries names; the file that is pointed at has one too.
TALKING = (
    ENGINE.replace(
        'summary=("again: " if fresh else "")',
        'summary=("again: " if fresh else "") + f"{s[\'model\']} beats kimi: " * 3',
    )
    .replace('bad = check == "accuracy" and s["model"] == "beta"', 'bad = check == "accuracy"')
    .replace('establishes="that it holds"', 'establishes=f"that {s[\'model\']} holds"')
    .replace(
        'file="kv_cache.py", line=15,', "file=f\"{s['model']}_kv.py\", line=18, unit=s['model'],"
    )
    .replace('quantity="rel err"', "quantity=f\"{s['model']} rel err of Qwen and GLM\"")
    .replace('note="key misplaced"', "note=f\"/ws/submissions/{s['model']}/kv misplaced by Moonshot\"")
    .replace('quantity="curve", curve=dict(x="step", y="err"', "quantity=f\"{s['model']} curve\", "
             "curve=dict(x=f\"steps of {s['model']}\", y=f\"{s['model']} err\"")
    .replace(
        'dict(quantity="log", output="one',
        "dict(quantity=\"table\", measured=s['model'], limit=s['model'], "
        "table=[[\"test\", s['model']], [f\"test_{s['model']}\", \"ok\"]]),\n"
        "                dict(quantity=\"log\", output=f\"Traceback: {s['model']}_kv.py, in {s['model']}\\\\n"
        "GLM-5 Qwen3-6 Kimi\\\\nRuntimeError: {s['model']} fails\\\\none",
    )
)  # fmt: skip


def make_hostile(root: Path) -> Workspace:
    """The workspace; a third model is there and not compared."""
    (root / "rubrics").mkdir(parents=True)
    (root / "scores").mkdir()
    (root / "rubrics" / "kv.toml").write_text(RUBRIC)
    (root / CONFIG).write_text(
        '[models.glm5]\ntitle = "GLM-5"\n[models.qwen36]\ntitle = "Qwen3-6"\n[blind]\nalso = ["Moonshot"]\n'
    )
    (root / "submissions" / "kimi-k2.6" / "kv").mkdir(parents=True)
    for name in MODELS:
        title, folder = TITLES[name], root / "submissions" / name / "kv"
        folder.mkdir(parents=True)
        code = CODE.format(
            name=name, title=title, upper=name.upper(), lower=name.lower(), camel=name.title(),
            spaced=title.replace("-", " "), zero="\u200b".join(title), wide=title.replace("-", "_"),
            far="x" * 150,
        )  # fmt: skip
        (folder / f"{name}_kv.py").write_text(code)
        (folder / f"{name}").mkdir()
        (folder / f"{name}" / "notes_of_kimi.md").write_text(f"# {title}\n\n{name} is the best\n" * 3)
        (folder / "submission.toml").write_text(
            f'origin = "{title}"\nsource = "{title}"\nmodel = "{title} by Moonshot"\ncomment = "{title}"\n'
        )
    return Workspace.find(explicit=root)


def names_in(text: str) -> list[str]:
    """Names that a reader finds in a text, line by line."""
    return [match.group() for line in text.split("\n") for match in _NAME.finditer(_INVISIBLE.sub("", line))]


def told_by(stream: bytes) -> str:
    """What a terminal gets to show of a byte stream: texts, titles and what was put on the clipboard."""
    text = stream.decode("utf-8", "replace")
    copied = re.findall(r"\x1b\]52;[^;]*;([A-Za-z0-9+/=]*)", text)
    # the cursor goes elsewhere: what follows does not stand against what came before
    text = re.sub(r"\x1b\[[0-9;?<>=]*[ABCDEFGHJKdf]", "\n", text)
    text = re.sub(r"\x1b\[[0-9;:?<>=$]*[A-Za-z]", "", text)
    return "\n".join([text, *(base64.b64decode(data).decode("utf-8", "replace") for data in copied)])
