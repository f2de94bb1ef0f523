import ast
import operator

OPS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}


def evaluate(text):
    def value(node):
        if isinstance(node, ast.Constant):
            return float(node.value)
        if isinstance(node, ast.UnaryOp):
            return OPS[type(node.op)](value(node.operand))
        if isinstance(node, ast.BinOp):
            return OPS[type(node.op)](value(node.left), value(node.right))
        raise SyntaxError("not an expression")

    if "**" in text or "_" in text:
        raise SyntaxError(text)
    return value(ast.parse(text.strip().replace("^", "**"), mode="eval").body)
