import operator
from collections import deque

OPS = {
    "+": (1, "L", operator.add),
    "-": (1, "L", operator.sub),
    "*": (2, "L", operator.mul),
    "/": (2, "L", operator.truediv),
    "neg": (3, "R", operator.neg),
    "pos": (3, "R", operator.pos),
    "^": (4, "R", operator.pow),
}


def tokenize(s):
    i = 0
    while i < len(s):
        c = s[i]
        if c.isspace():
            i += 1
        elif c in "0123456789.":
            j = i
            while j < len(s) and s[j] in "0123456789.":
                j += 1
            word = s[i:j]
            if word.count(".") > 1 or word == ".":
                raise SyntaxError("bad number " + word)
            yield float(word) if "." in word else int(word)
            i = j
        elif c in "+-*/^()":
            yield c
            i += 1
        else:
            raise SyntaxError("bad character " + repr(c))


def evaluate(expression):
    out, stack = [], deque()
    operand_next = True

    def apply():
        name = stack.pop()
        if name == "(":
            raise SyntaxError("unbalanced")
        fn = OPS[name][2]
        if name in ("neg", "pos"):
            out.append(fn(out.pop()))
        else:
            b = out.pop()
            out.append(fn(out.pop(), b))

    for token in tokenize(expression):
        if operand_next:
            if token == "(":
                stack.append(token)
            elif token == "-" or token == "+":
                stack.append("neg" if token == "-" else "pos")
            elif isinstance(token, str):
                raise SyntaxError(token)
            else:
                out.append(token)
                operand_next = False
        elif token == ")":
            while stack and stack[-1] != "(":
                apply()
            if not stack:
                raise SyntaxError("unbalanced")
            stack.pop()
        elif isinstance(token, str) and token != "(":
            prec, assoc, _ = OPS[token]
            while stack and stack[-1] != "(" and (
                OPS[stack[-1]][0] > prec or (OPS[stack[-1]][0] == prec and assoc == "L")
            ):
                apply()
            stack.append(token)
            operand_next = True
        else:
            raise SyntaxError("operator expected")
    if operand_next:
        raise SyntaxError("unexpected end")
    while stack:
        apply()
    (value,) = out
    return value
