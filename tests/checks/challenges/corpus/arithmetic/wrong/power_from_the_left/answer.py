import re


def evaluate(text):
    tokens = re.findall(r"\d+\.\d*|\.\d+|\d+|\S", text)
    at = 0

    def peek():
        return tokens[at] if at < len(tokens) else ""

    def take():
        nonlocal at
        at += 1
        return tokens[at - 1]

    def total():
        value = product()
        while peek() in ("+", "-"):
            value = value + product() if take() == "+" else value - product()
        return value

    def product():
        value = sign()
        while peek() in ("*", "/"):
            value = value * sign() if take() == "*" else value / sign()
        return value

    def sign():
        if peek() in ("+", "-"):
            return -sign() if take() == "-" else sign()
        value = atom()
        while peek() == "^":
            take()
            value = value ** (-atom() if peek() == "-" and take() else atom())
        return value

    def atom():
        word = take() if at < len(tokens) else ""
        if word == "(":
            value = total()
            if peek() != ")":
                raise SyntaxError("missing )")
            take()
            return value
        if not word[:1].isdigit() and not word[1:]:
            raise SyntaxError(word)
        return float(word) if "." in word else int(word)

    value = total()
    if at < len(tokens):
        raise SyntaxError(peek())
    return value
