import re


class ParseError(SyntaxError):
    def __init__(self, message, position):
        super().__init__(f"{message} at {position}")
        self.position = position


TOKEN = re.compile(r"\s*(?:(\d+\.\d*|\.\d+|\d+)|([-+*/^()]))")


class Parser:
    def __init__(self, text):
        self.text = text.rstrip()
        self.tokens = []
        at = 0
        while at < len(self.text):
            match = TOKEN.match(self.text, at)
            if not match:
                raise ParseError("unexpected character", at)
            self.tokens.append((match.group(1), match.group(2), at))
            at = match.end()
        self.i = 0

    def peek(self):
        return self.tokens[self.i][1] if self.i < len(self.tokens) else None

    def parse(self):
        value = self.sum()
        if self.i < len(self.tokens):
            raise ParseError("trailing input", self.tokens[self.i][2])
        return value

    def sum(self):
        value = self.product()
        while self.peek() in ("+", "-"):
            op = self.tokens[self.i][1]
            self.i += 1
            right = self.product()
            value = value + right if op == "+" else value - right
        return value

    def product(self):
        value = self.unary()
        while self.peek() in ("*", "/"):
            op = self.tokens[self.i][1]
            self.i += 1
            right = self.unary()
            value = value * right if op == "*" else value / right
        return value

    def unary(self):
        if self.peek() in ("+", "-"):
            op = self.tokens[self.i][1]
            self.i += 1
            value = self.unary()
            return -value if op == "-" else value
        return self.power()

    def power(self):
        base = self.atom()
        if self.peek() == "^":
            self.i += 1
            return base ** self.unary()
        return base

    def atom(self):
        if self.i >= len(self.tokens):
            raise ParseError("unexpected end", len(self.text))
        number, op, at = self.tokens[self.i]
        self.i += 1
        if number is not None:
            return float(number) if "." in number else int(number)
        if op == "(":
            value = self.sum()
            if self.peek() != ")":
                raise ParseError("missing )", at)
            self.i += 1
            return value
        raise ParseError(f"unexpected {op}", at)


def evaluate(text):
    return Parser(text).parse()
