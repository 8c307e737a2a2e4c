# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Small faults in Python: each is one place in a file and the text that replaces it."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

COMPARISONS: dict[type[ast.cmpop], tuple[str, ...]] = {
    ast.Lt: ("<=", ">="),
    ast.LtE: ("<", ">"),
    ast.Gt: (">=", "<="),
    ast.GtE: (">", "<"),
    ast.Eq: ("!=",),
    ast.NotEq: ("==",),
    ast.In: ("not in",),
    ast.NotIn: ("in",),
    ast.Is: ("is not",),
    ast.IsNot: ("is",),
}
SIGNS = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.Is: "is",
    ast.IsNot: "is not",
}
ARITHMETIC: dict[type[ast.operator], ast.operator] = {
    ast.Add: ast.Sub(),
    ast.Sub: ast.Add(),
    ast.Mult: ast.FloorDiv(),
    ast.FloorDiv: ast.Mult(),
    ast.Mod: ast.FloorDiv(),
    ast.BitOr: ast.BitAnd(),
    ast.BitAnd: ast.BitOr(),
    ast.LShift: ast.RShift(),
    ast.RShift: ast.LShift(),
}
NAMES = {
    "any": "all",
    "all": "any",
    "min": "max",
    "max": "min",
    "sorted": "list",
    "reversed": "list",
    "startswith": "endswith",
    "endswith": "startswith",
    "removeprefix": "removesuffix",
    "removesuffix": "removeprefix",
    "partition": "rpartition",
    "rpartition": "partition",
    "union": "intersection",
    "intersection": "union",
    "issubset": "issuperset",
    "issuperset": "issubset",
}

#: the operators that replace a statement; the others replace an expression
STATEMENTS = ("return None", "delete statement", "loop")


@dataclass(frozen=True, order=True)
class Mutant:
    """`line` is where the changed expression or statement begins; `start` and `end` are offsets in bytes."""

    file: str
    line: int
    start: int
    end: int
    before: str
    after: str
    operator: str

    def apply(self, source: bytes) -> bytes:
        assert source[self.start : self.end].decode() == self.before
        return source[: self.start] + self.after.encode() + source[self.end :]


def offsets_of(source: bytes) -> list[int]:
    """Where each line begins."""
    return [0, *accumulate(len(line) for line in source.splitlines(keepends=True))]


def mutants(file: str, source: bytes) -> list[Mutant]:
    """Every mutant of a file, in order of their places; not of annotations, docstrings and messages."""
    offsets = offsets_of(source)
    found: set[Mutant] = set()
    for node, after, operator in _changes(ast.parse(source)):
        start = offsets[node.lineno - 1] + node.col_offset
        end = offsets[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        # a replacement keeps the number of lines, so that what tests covered stays where it was
        before = source[start:end].decode()
        lost = before.count("\n")
        if lost and isinstance(node, ast.expr):
            after = f"{after[:-1]}{chr(10) * lost})"
        found.add(Mutant(file, node.lineno, start, end, before, after, operator))
    return sorted(found)


def _changes(tree: ast.Module) -> Iterator[tuple[ast.expr | ast.stmt, str, str]]:
    left_out = skipped(tree)
    first = _only_assignments(tree)
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        if id(node) in left_out:
            continue
        stack += ast.iter_child_nodes(node)
        if isinstance(node, ast.expr):
            yield from ((node, f"({text})", name) for text, name in _expression(node))
        elif isinstance(node, ast.stmt) and id(node) not in first:
            yield from ((node, text, name) for text, name in _statement(node))
        for test in _conditions(node):
            yield test, f"(not ({ast.unparse(test)}))", "negate condition"


def skipped(tree: ast.Module) -> set[int]:
    """What is not code, or what mypy checks: annotations, aliases, keywords of classes, docstrings, texts;
    and `strict` of `zip`, which asserts what is so."""
    found: set[int] = set()
    for node in ast.walk(tree):
        for name in ("annotation", "returns", "type_params", "format_spec"):
            part = getattr(node, name, None)
            if isinstance(part, ast.AST):
                found.add(id(part))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            found.add(id(node))
        match node:
            case ast.ClassDef():
                found.update(id(each) for each in node.keywords)
            case ast.AnnAssign(annotation=ast.Name("TypeAlias")):
                found.add(id(node))
            case ast.keyword(arg="strict"):
                found.add(id(node))
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            found.update(id(each) for each in node.decorator_list)
        if isinstance(node, ast.JoinedStr):
            # Python 3.11 does not know where the expressions of a format string begin
            found.add(id(node))
    return found


def _only_assignments(tree: ast.Module) -> set[int]:
    """Assignments to names that have no other: without them nothing runs, which any test sees."""
    found: set[int] = set()
    for scope in ast.walk(tree):
        if not isinstance(scope, ast.FunctionDef | ast.ClassDef | ast.Module):
            continue
        nodes = list(ast.walk(scope))
        stores = Counter(n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
        stores.update(n.arg for n in nodes if isinstance(n, ast.arg))
        for node in nodes:
            match node:
                case ast.Assign([ast.Name(name)]) if stores[name] == 1:
                    found.add(id(node))
    return found


def _conditions(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        yield node.test
    elif isinstance(node, ast.comprehension):
        yield from node.ifs
    elif isinstance(node, ast.match_case) and node.guard is not None:
        yield node.guard


def _expression(node: ast.expr) -> Iterator[tuple[str, str]]:
    match node:
        case ast.BoolOp(op, values):
            other = ast.And() if isinstance(op, ast.Or) else ast.Or()
            yield ast.unparse(ast.BoolOp(other, values)), "and/or"
            for left_out in range(len(values)):
                rest = [value for number, value in enumerate(values) if number != left_out]
                yield ast.unparse(rest[0] if len(rest) == 1 else ast.BoolOp(op, rest)), "drop operand"
        case ast.UnaryOp(ast.Not(), operand):
            yield ast.unparse(operand), "drop not"
        case ast.Compare(left, [op], [right]):
            for sign in COMPARISONS[type(op)]:
                yield f"({ast.unparse(left)}) {sign} ({ast.unparse(right)})", "comparison"
            for which, side in enumerate((left, right)):
                if isinstance(side, ast.Constant) and isinstance(side.value, str):
                    sides = [f"({ast.unparse(left)})", f"({ast.unparse(right)})"]
                    sides[which] = repr(side.value + "X")
                    yield f"{sides[0]} {SIGNS[type(op)]} {sides[1]}", "string"
        case ast.Compare(left, ops, rights):
            for number, op in enumerate(ops):
                for sign in COMPARISONS[type(op)]:
                    signs = [sign if i == number else SIGNS[type(o)] for i, o in enumerate(ops)]
                    parts = [f"({ast.unparse(left)})"]
                    parts += [f"{s} ({ast.unparse(r)})" for s, r in zip(signs, rights, strict=True)]
                    yield " ".join(parts), "comparison"
        case ast.BinOp(left, op, right) if type(op) in ARITHMETIC:
            yield ast.unparse(ast.BinOp(left, ARITHMETIC[type(op)], right)), "arithmetic"
        case ast.Constant(bool() as value):
            yield str(not value), "constant"
        case ast.Constant(int() as value):
            yield str(value + 1), "constant"
            yield str(value - 1), "constant"
        case ast.Call(ast.Name(name), arguments, keywords) if name in NAMES:
            if NAMES[name] == "list":
                keywords = []
            yield ast.unparse(ast.Call(ast.Name(NAMES[name]), arguments, keywords)), "call"
        case ast.Call(ast.Attribute(value, name), arguments, keywords) if name in NAMES:
            yield ast.unparse(ast.Call(ast.Attribute(value, NAMES[name]), arguments, keywords)), "call"


def _statement(node: ast.stmt) -> Iterator[tuple[str, str]]:
    match node:
        case ast.Return(ast.expr() as value) if not (isinstance(value, ast.Constant) and value.value is None):
            yield "return None", "return None"
        case ast.Expr() | ast.Assign() | ast.AugAssign() | ast.Raise() | ast.Delete():
            yield "pass", "delete statement"
        case ast.Continue():
            yield "break", "loop"
        case ast.Break():
            yield "continue", "loop"
