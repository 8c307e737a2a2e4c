# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Changes of formulas, one at a time: each comparison, term, ceiling and maximum of a module of the analysis.

A change runs in a fresh copy of the modules, so nothing of it stays.
"""

from __future__ import annotations

import ast
import copy
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import camkes.analysis
import camkes.analysis.assignment
import camkes.analysis.feasibility
import camkes.analysis.limits
import camkes.analysis.profiles
import camkes.analysis.sensitivity

FOLDER = Path(camkes.analysis.__file__).parent
#: In the order of their imports.
MODULES = (
    "platform",
    "profiles",
    "workload",
    "demand",
    "sections",
    "solver",
    "blocking",
    "response",
    "deadlines",
    "bounds",
    "verdict",
    "assignment",
    "limits",
    "overruns",
    "budgets",
    "criticality",
    "sensitivity",
    "feasibility",
)


class Change:
    """One changed expression; `where` says which."""

    def __init__(self, module: str, index: int, where: str) -> None:
        self.module, self.index, self.where = module, index, where


_OTHER: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
}  # fmt: skip

_OTHER_FUNCTION = {"max": "min", "min": "max", "ceil": "int"}


def alternatives(node: ast.AST) -> Iterator[ast.AST]:
    """What can stand in the place of an expression."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _OTHER:
        yield ast.Compare(node.left, [_OTHER[type(node.ops[0])]()], node.comparators)
    elif isinstance(node, ast.Compare) and len(node.ops) == 2:
        for place, op in enumerate(node.ops):
            if type(op) in _OTHER:
                ops = [*node.ops]
                ops[place] = _OTHER[type(op)]()
                yield ast.Compare(node.left, ops, node.comparators)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub | ast.Mult):
        yield node.left
        if not isinstance(node.op, ast.Sub):
            yield node.right
    elif isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.BinOp):
        inner = node.operand
        if isinstance(inner.op, ast.FloorDiv) and isinstance(inner.left, ast.UnaryOp):
            yield ast.BinOp(inner.left.operand, ast.FloorDiv(), inner.right)  # rounds down instead of up
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _OTHER_FUNCTION:
        yield ast.Call(ast.Name(_OTHER_FUNCTION[node.func.id], ast.Load()), node.args, node.keywords)
    elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
        yield ast.AugAssign(node.target, node.op, ast.Constant(0))


def changes(module: str) -> Iterator[tuple[Change, ast.Module]]:
    tree = ast.parse((FOLDER / f"{module}.py").read_text("utf-8"))
    nodes = [node for node in ast.walk(tree) if list(alternatives(node))]
    for index, node in enumerate(nodes):
        if any(isinstance(each, ast.Constant) and isinstance(each.value, str) for each in ast.walk(node)):
            continue
        for number, _ in enumerate(alternatives(node)):
            changed = copy.deepcopy(tree)
            place = [each for each in ast.walk(changed) if list(alternatives(each))][index]
            other = list(alternatives(place))[number]
            where = f"{module}: {type(node).__name__} {ast.unparse(node)!r} -> {ast.unparse(other)!r}"
            yield Change(module, index, where), _replaced(changed, place, other)


def _replaced(tree: ast.Module, old: ast.AST, new: ast.AST) -> ast.Module:
    class Replace(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> Any:
            return new if node is old else self.generic_visit(node)

    result = Replace().visit(tree)
    ast.fix_missing_locations(result)
    assert isinstance(result, ast.Module)
    return result


def analysis_with(module: str, tree: ast.Module) -> SimpleNamespace:
    """All names of a copy of the analysis in which one module is another, and its `modules`."""
    prefix = "camkes.analysis."
    kept = {name: sys.modules.pop(prefix + name) for name in MODULES}
    package = camkes.analysis
    names: dict[str, Any] = {}
    modules: dict[str, ModuleType] = {}
    try:
        for name in MODULES:
            if name == module:
                made = ModuleType(prefix + name)
                made.__file__ = str(FOLDER / f"{name}.py")
                sys.modules[prefix + name] = made
                exec(compile(tree, made.__file__, "exec"), made.__dict__)
            else:
                made = import_module(prefix + name)
            modules[name] = made
            names = vars(made) | names  # the first of a name counts
        return SimpleNamespace(**names, modules=modules)
    finally:
        for name, value in kept.items():
            sys.modules[prefix + name] = value
            setattr(package, name, value)


def text(found: list[Any]) -> str:
    return "".join(f"{each}\n" for each in found).replace("Fraction", "")


class DifferentError(Exception):
    """A figure is not that of the file."""


class Expected(list[Any]):
    """Figures that are compared with those of a file one by one, so that none is computed after the first
    difference."""

    def __init__(self, expected: str) -> None:
        super().__init__()
        self._expected, self._length = expected, 0

    def append(self, figure: Any) -> None:
        line = text([figure])
        if not self._expected.startswith(line, self._length):
            raise DifferentError
        self._length += len(line)

    def end(self) -> None:
        if self._length < len(self._expected):
            raise DifferentError


def survivors(
    module: str,
    compute: Callable[[SimpleNamespace, list[Any]], None],
    golden: Path,
    same: Mapping[str, str],
) -> list[str]:
    """The changes of a module with which the figures are those of a file, but for the `same`, which make no
    difference, for a reason. Without a change the figures have to be those of the file: else each change
    would be found."""
    expected = golden.read_text("utf-8")
    unchanged = Expected(expected)
    compute(analysis_with(module, ast.parse((FOLDER / f"{module}.py").read_text("utf-8"))), unchanged)
    unchanged.end()
    kept, all_changes = [], list(changes(module))
    assert all_changes
    for change, tree in all_changes:
        if change.where.partition(" -> ")[0] in same:
            continue
        found = Expected(expected)
        try:
            compute(analysis_with(module, tree), found)
            found.end()
        except Exception:  # a formula that fails is found, too
            continue
        kept.append(change.where)
    return kept
