r"""Formulas of a statement as a line of text: ``$\frac{1}{N}\sum_{i=1}^{N} x_i^2$`` is ``(1/N)∑ᵢ₌₁ᴺ xᵢ²``.

Usual macros alone: a formula that holds any other stays as it was written, whole, so that nothing is left out
and no grouping is lost.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

__all__ = ["readable"]

#: A formula is no longer, and stands no deeper in itself.
_LONGEST, _DEEPEST = 4_000, 30
_PIECE = re.compile(
    r"(?P<code>^(?P<fence>```|~~~).*?(?:^(?P=fence)|\Z)|^(?: {4}|\t)[^\n]*|`[^`\n]*`)"
    rf"|\$\$(?P<shown>[^$]{{1,{_LONGEST}}})\$\$"
    # another opening sign ends the search: a text of nothing else is read in one go
    rf"|(?<!\\)\\\[(?P<bracketed>(?:[^\\]|\\[^\[\]]){{1,{_LONGEST}}})\\\]"
    rf"|(?<!\\)\\\((?P<within>(?:[^\\]|\\[^()]){{1,{_LONGEST}}})\\\)"
    # as Pandoc tells it from a price: no blank inside the signs, no digit behind them
    rf"|(?<![\\$\w])\$(?P<inline>(?=\S)(?:[^$\n]|\n(?!\n)){{1,{_LONGEST}}})(?<=\S)\$(?!\d)",
    re.DOTALL | re.MULTILINE,
)
_TOKEN = re.compile(r"\\[A-Za-z]+\*?|\\.|\s+|[^\\]", re.DOTALL)
#: Two prices in a sentence are no formula.
_PROSE = re.compile(r"[A-Za-z]{2,}\s|\s[A-Za-z]{2,}")
_SIMPLE = re.compile(r"[\w.∞′]+|.")
#: Around the name of a function, and around a fraction, until all of a formula is read.
_NAME, _FROM, _TO = "\0", "\1", "\2"
_FRACTION = re.compile(f"{_FROM}([^{_FROM}{_TO}]*){_TO}")
#: Signs that multiply what stands behind them, or are multiplied.
_BESIDE = "√∑∏∫([{|"

#: Macros that are one sign, or nothing; blanks are macros of their own.
_TABLE = """
    alpha=α beta=β gamma=γ delta=δ epsilon=ε varepsilon=ε zeta=ζ eta=η theta=θ vartheta=θ iota=ι kappa=κ
    lambda=λ mu=μ nu=ν xi=ξ pi=π rho=ρ varrho=ρ sigma=σ varsigma=ς tau=τ upsilon=υ phi=φ varphi=φ chi=χ psi=ψ
    omega=ω
    Gamma=Γ Delta=Δ Theta=Θ Lambda=Λ Xi=Ξ Pi=Π Sigma=Σ Upsilon=Υ Phi=Φ Psi=Ψ Omega=Ω
    le=≤ leq=≤ leqslant=≤ ge=≥ geq=≥ geqslant=≥ ne=≠ neq=≠ ll=≪ gg=≫ lt=< gt=> approx=≈ equiv=≡ sim=∼ propto=∝
    in=∈ notin=∉ ni=∋ subset=⊂ subseteq=⊆ cup=∪ cap=∩ setminus=∖ emptyset=∅ varnothing=∅ infty=∞
    partial=∂ nabla=∇
    sum=∑ prod=∏ int=∫ to=→ rightarrow=→ leftarrow=← gets=← mapsto=↦ leftrightarrow=↔ Rightarrow=⇒
    Leftarrow=⇐
    implies=⇒ iff=⇔ forall=∀ exists=∃ neg=¬ lnot=¬ land=∧ wedge=∧ lor=∨ vee=∨ coloneqq=≔ triangleq=≜ colon=:
    pm=± mp=∓ times=× cdot=· div=÷ ast=* star=⋆ circ=∘ bullet=• odot=⊙ otimes=⊗ oplus=⊕ prime=′ ell=ℓ hbar=ℏ
    ldots=… dots=… cdots=⋯ vdots=⋮ ddots=⋱ lfloor=⌊ rfloor=⌋ lceil=⌈ rceil=⌉ langle=⟨ rangle=⟩ lbrace={
    rbrace=}
    lVert=‖ rVert=‖ Vert=‖ lvert=| rvert=| vert=| mid=| top=⊤ bot=⊥ perp=⊥ degree=° Re=ℜ
    Im=ℑ
    displaystyle= textstyle= limits= nolimits= !=
    |=‖ %=% $=$ #=# &=& _=_ {={ }=}
"""
_SIGNS = dict(pair.split("=", 1) for pair in _TABLE.split()) | dict.fromkeys(
    (",", ";", ":", ">", " ", "quad", "qquad"), " "
)
_WORDS = """
    log ln exp sin cos tan tanh sinh cosh min max sup inf lim arg det dim ker gcd deg Pr mod bmod
    argmin argmax
"""
_NAMES = frozenset(_WORDS.split())
_AS_IT_IS = frozenset(
    ("mathrm", "mathbf", "mathit", "mathsf", "mathtt", "mathcal", "boldsymbol", "bm", "operatorname")
)
_TEXTS = frozenset(("text", "textrm", "textbf", "textit", "texttt", "mbox"))
_SIZES = frozenset(("left", "right", "big", "Big", "bigl", "bigr", "Bigl", "Bigr", "bigg", "Bigg"))
_DOUBLE = {"R": "ℝ", "N": "ℕ", "Z": "ℤ", "Q": "ℚ", "C": "ℂ", "P": "ℙ", "E": "𝔼"}
_MARKS = {"hat": "\u0302", "widehat": "\u0302", "bar": "\u0304", "overline": "\u0304", "tilde": "\u0303",
          "widetilde": "\u0303", "dot": "\u0307", "ddot": "\u0308", "vec": "\u20d7"}  # fmt: skip
_HIGH = str.maketrans("0123456789+-=()nixyabcdefghjklmoprstuvwzABDEGHIJKLMNOPRTUVW",
                      "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱˣʸᵃᵇᶜᵈᵉᶠᵍʰʲᵏˡᵐᵒᵖʳˢᵗᵘᵛʷᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂ")  # fmt: skip
_POWERS = frozenset(map(chr, _HIGH.values()))
_LOW = str.maketrans("0123456789+-=()aeijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ")
_MATRICES = {"pmatrix": "()", "bmatrix": "[]", "matrix": "  ", "vmatrix": "||", "smallmatrix": "  "}
_ROWS = frozenset(("aligned", "align", "align*", "gathered", "gather", "gather*", "split", "equation"))


class _OtherError(Exception):
    """A formula holds what is none of the usual."""


def readable(text: str) -> str:
    """A text whose formulas are readable where they can be; code stays as it is.

    Args:
        text: Markdown.
    """
    return _PIECE.sub(_shown, text)


def _shown(match: re.Match[str]) -> str:
    source = next((match[name] for name in ("shown", "bracketed", "within", "inline") if match[name]), None)
    if source is None or any(character < " " and not character.isspace() for character in source):
        return match[0]
    if match["inline"] and "\\" not in source and _PROSE.search(source):
        return match[0]
    try:
        return _Formula(source).whole()
    except _OtherError:
        return match[0]


class _Formula:
    """Reads one formula.

    Args:
        source: LaTeX, without the signs around it.
    """

    def __init__(self, source: str) -> None:
        self._tokens = _TOKEN.findall(source)
        self._at = 0
        self._depth = 0

    def whole(self) -> str:
        """All of it.

        Raises:
            _OtherError: It holds what is none of the usual.
        """
        return _settled(self._until(""))

    def _next(self) -> str:
        token = self._tokens[self._at] if self._at < len(self._tokens) else ""
        self._at += 1
        return token

    def _until(self, *ends: str) -> str:
        """What comes before one of some tokens, which is taken as well."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise _OtherError
        made = ""
        while (token := self._next()) not in ends:
            if not token or token in "}":
                raise _OtherError
            made = _joined(made, self._made(token))
        self._depth -= 1
        return made

    def _made(self, token: str) -> str:
        if token[0] == "\\":
            return self._macro(token[1:])
        if token == "{":
            return self._until("}")
        if token in "^_":
            return _raised(self._argument(), _HIGH if token == "^" else _LOW, token)
        if token in "&%#":
            raise _OtherError
        return {"~": " ", "'": "′"}.get(token, token)

    def _argument(self) -> str:
        """The next group, or what stands in place of one."""
        while (token := self._next()).isspace():
            pass
        if not token or token in "}^_":
            raise _OtherError
        if not (made := self._made(token)).strip():
            raise _OtherError
        return made

    def _macro(self, name: str) -> str:
        if name in _SIGNS:
            return _SIGNS[name]
        if name in _NAMES:
            return f"{_NAME}{name}{_NAME}"
        if name in _AS_IT_IS:
            return self._argument()
        if name in _TEXTS:
            return self._text()
        if name in _SIZES:
            return self._delimiter()
        if name in _MARKS:
            return _marked(self._argument(), name)
        if name == "mathbb":
            letter = self._argument()
            return _DOUBLE.get(letter, letter)
        if name in ("frac", "dfrac", "tfrac"):
            return f"{_FROM}{_grouped(self._argument())}/{_grouped(self._argument())}{_TO}"
        if name == "sqrt":
            return self._root()
        if name == "begin":
            return self._environment(self._text())
        raise _OtherError

    def _text(self) -> str:
        """A group of plain text."""
        if self._next() != "{":
            raise _OtherError
        made = ""
        while (token := self._next()) != "}":
            if not token or token == "{" or (token[0] == "\\" and token[1:] not in "_%&# "):
                raise _OtherError
            made += token.lstrip("\\")
        return made

    def _delimiter(self) -> str:
        token = self._next()
        if not token or token in "{}":
            raise _OtherError
        return "" if token == "." else self._made(token)

    def _root(self) -> str:
        degree = ""
        if self._tokens[self._at : self._at + 1] == ["["]:
            self._at += 1
            degree = _raised(self._until("]"), _HIGH, "")
        under = _grouped(self._argument())
        # the root of a power is no power of a root
        return f"{degree}√({under})" if under[-1] in _POWERS else f"{degree}√{under}"

    def _environment(self, name: str) -> str:
        if name not in ("cases", *_MATRICES, *_ROWS):
            raise _OtherError
        rows = list(self._rows(name))
        if name == "cases":
            return "{ " + "; ".join(", ".join(filter(None, row)) for row in rows)
        if name in _ROWS:
            return "; ".join("".join(row).strip() for row in rows)
        around = _MATRICES[name]
        return around[0] + "; ".join(" ".join(row) for row in rows) + around[1]

    def _rows(self, name: str) -> Iterator[list[str]]:
        """The rows of an environment up to its end, cell by cell."""
        row: list[str] = []
        while True:
            cell = self._until("&", "\\\\", "\\end")
            row.append(_settled(cell))
            end = self._tokens[self._at - 1]
            if end == "&":
                continue
            if any(row):
                yield row
            row = []
            if end == "\\end":
                if self._text() != name:
                    raise _OtherError
                return


def _joined(before: str, part: str) -> str:
    """Two parts one after the other; a function's name stands apart from letters and digits beside it."""
    if not before or not part:
        return before + part
    ends, begins = before[-1] == _NAME, part[0] == _NAME
    apart = (ends and (begins or part[0].isalnum())) or (begins and before[-1].isalnum())
    return before + (" " if apart else "") + part


def _settled(text: str) -> str:
    """A text without the marks of what stands in it: a fraction is in brackets where it multiplies."""
    text = _FRACTION.sub(_fraction, text).replace(_NAME, "")
    return re.sub(r"\s+", " ", text).strip()


def _fraction(match: re.Match[str]) -> str:
    before, after = match.string[: match.start()].rstrip()[-1:], match.string[match.end() :].lstrip()[:1]
    multiplies = before.isalnum() or after.isalnum() or before in (")", _NAME, _TO)
    multiplies = multiplies or after in (_NAME, _FROM) or bool(after and after in _BESIDE)
    return f"({match[1]})" if multiplies else match[1]


def _raised(text: str, table: dict[int, int], sign: str) -> str:
    """A text as an index, where all of it can be small; else behind its sign."""
    text = _settled(text)
    plain = text.replace(" ", "")
    if text == "⊤":
        return "ᵀ"
    if plain and all(ord(character) in table for character in plain):
        return plain.translate(table)
    if text in ("′", "*") and sign != "_":
        return text
    return sign + _grouped(text)


def _grouped(text: str) -> str:
    """A part as it stands, where it is one name or number; else in brackets."""
    text = _settled(text)
    return text if _SIMPLE.fullmatch(text) else f"({text})"


def _marked(text: str, name: str) -> str:
    """A letter with a sign above it, where there is one such character; else as a function of it."""
    text = _settled(text)
    one = unicodedata.normalize("NFC", text + _MARKS[name])
    return one if len(one) == 1 else f"{name.removeprefix('wide').replace('overline', 'bar')}({text})"
