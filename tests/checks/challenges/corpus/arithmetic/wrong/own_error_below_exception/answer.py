import ast


class SyntaxErrorInExpression(Exception):
    pass


def evaluate(text):
    if "**" in text or "_" in text or any(c.isalpha() for c in text):
        raise SyntaxErrorInExpression(text)
    try:
        tree = compile(text.strip().replace("^", "**"), "<text>", "eval")
    except SyntaxError as error:
        raise SyntaxErrorInExpression(text) from error
    return eval(tree)
