import re


def evaluate(text):
    tokens = re.findall(r"\d+\.\d*|\.\d+|\d+|\S", text)[::-1]

    def total():
        value = product()
        if tokens and tokens[-1] in "+-":
            return value + total() if tokens.pop() == "+" else value - total()
        return value

    def product():
        value = power()
        if tokens and tokens[-1] in "*/":
            return value * product() if tokens.pop() == "*" else value / product()
        return value

    def power():
        if tokens and tokens[-1] in "+-":
            return -power() if tokens.pop() == "-" else power()
        value = atom()
        if tokens and tokens[-1] == "^":
            tokens.pop()
            return value ** power()
        return value

    def atom():
        word = tokens.pop() if tokens else ""
        if word == "(":
            value = total()
            if not tokens or tokens.pop() != ")":
                raise SyntaxError("missing )")
            return value
        if not re.fullmatch(r"\d+\.?\d*|\.\d+", word):
            raise SyntaxError(word)
        return float(word) if "." in word else int(word)

    value = total()
    if tokens:
        raise SyntaxError(tokens[-1])
    return value
