import ast
import re
import sys

sys.setrecursionlimit(20000)


class _Eval(ast.NodeVisitor):
    def visit_Expression(self, node):
        return self.visit(node.body)

    def visit_Constant(self, node):
        return node.value

    def visit_UnaryOp(self, node):
        v = self.visit(node.operand)
        return -v if isinstance(node.op, ast.USub) else v

    def visit_BinOp(self, node):
        a, b = self.visit(node.left), self.visit(node.right)
        match node.op:
            case ast.Add():
                return a + b
            case ast.Sub():
                return a - b
            case ast.Mult():
                return a * b
            case ast.Div():
                return a / b
            case ast.Pow():
                return a**b
        raise SyntaxError("operator")

    def generic_visit(self, node):
        raise SyntaxError(type(node).__name__)


def evaluate(src: str):
    if not re.fullmatch(r"[\d\s.+*/^()-]*", src) or "**" in src or "//" in src:
        raise SyntaxError(src)
    src = re.sub(r"\b0+(?=\d)", "", " ".join(src.split()))
    if "()" in src.replace(" ", ""):
        raise SyntaxError("()")
    return _Eval().visit(ast.parse(src.replace("^", "**"), mode="eval"))
