# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""All mutants of some files in one program, in which a number selects one.

`x < y` becomes `(x <= y if camkes_mutant == 7 else x >= y if camkes_mutant == 8 else x < y)`. So pytest
collects the tests once, and each mutant is tried in a fork that sets the number: this takes a tenth of a
second where a start of pytest takes two seconds. What runs when a module is imported cannot be tried like
this, nor can the patterns of `case`.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import os
import resource
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from mutation.operators import STATEMENTS, Mutant, offsets_of, skipped
from mutation.trials import Attempt, Runner

SELECTED = "camkes_mutant"
#: bytes of address space of a trial: a mutant may collect things without end
MEMORY = 4 << 30


class _Switches(ast.NodeTransformer):
    """Puts mutants into a syntax tree, where it is executed by a call."""

    def __init__(self, tree: ast.Module, source: bytes, numbered: dict[int, Mutant]) -> None:
        self.offsets = offsets_of(source)
        self.skipped = skipped(tree)
        self.calls = 0
        self.done: set[int] = set()
        self.found: dict[tuple[int, int, bool], list[tuple[int, Mutant]]] = {}
        for number, mutant in numbered.items():
            place = mutant.start, mutant.end, mutant.operator in STATEMENTS
            self.found.setdefault(place, []).append((number, mutant))

    def visit(self, node: ast.AST) -> ast.AST:
        if id(node) in self.skipped or isinstance(node, ast.pattern):
            return node
        mutants = self._at(node) if self.calls and isinstance(node, ast.expr | ast.stmt) else []
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            self.visit(node.args)
            self.calls += 1
            if isinstance(node, ast.Lambda):
                node.body = self.visit(node.body)
            else:
                node.body = [self.visit(each) for each in node.body]
            self.calls -= 1
        else:
            self.generic_visit(node)
        for number, mutant in mutants:
            node = ast.copy_location(_switched(number, mutant, node), node)
            self.done.add(number)
        return node

    def _at(self, node: ast.expr | ast.stmt) -> list[tuple[int, Mutant]]:
        start = self.offsets[node.lineno - 1] + node.col_offset
        end = self.offsets[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        return self.found.get((start, end, isinstance(node, ast.stmt)), [])


def _switched(number: int, mutant: Mutant, node: ast.AST) -> ast.expr | ast.stmt:
    selected = ast.Compare(ast.Name(SELECTED, ast.Load()), [ast.Eq()], [ast.Constant(number)])
    if isinstance(node, ast.stmt):
        return ast.If(selected, ast.parse(mutant.after).body, [node])
    changed = ast.parse(mutant.after.replace("\n", " "), mode="eval").body
    return ast.IfExp(selected, changed, node)


class _Loader(SourceFileLoader):
    """Loads a module with all its mutants; `done` are those that a switch selects."""

    def __init__(self, name: str, path: str, numbered: dict[int, Mutant]) -> None:
        super().__init__(name, path)
        self.numbered = numbered
        self.done: set[int] = set()

    def get_code(self, fullname: str) -> CodeType:
        source = Path(self.path).read_bytes()
        tree = ast.parse(source)
        switches = _Switches(tree, source, self.numbered)
        tree = ast.fix_missing_locations(switches.visit(tree))
        self.done = switches.done
        return compile(tree, self.path, "exec", dont_inherit=True)


class _Finder:
    """Finds the modules that have mutants."""

    def __init__(self, root: Path, mutants: Sequence[Mutant]) -> None:
        self.files: dict[str, dict[int, Mutant]] = {}
        self.loaders: dict[str, _Loader] = {}
        self.modules = sorted({mutant.file for mutant in mutants})
        for number, mutant in enumerate(mutants, 1):
            self.files.setdefault(str(root / mutant.file), {})[number] = mutant

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target) if name.startswith("camkes.") else None
        if spec is not None and spec.origin in self.files:
            spec.loader = self.loaders[name] = _Loader(name, spec.origin, self.files[spec.origin])
        return spec

    def selectable(self) -> set[int]:
        """The numbers of mutants that a switch selects, once all modules are loaded."""
        for file in self.modules:
            importlib.import_module(file.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
        return {number for loader in self.loaders.values() for number in loader.done}


def run(
    root: Path,
    mutants: Sequence[Mutant],
    folders: list[str],
    body: Callable[[set[int], Attempt], None],
    jobs: int,
) -> None:
    """Call `body` with the numbers (from 1) of those mutants that a switch selects, and with what tries them
    with the tests of these folders."""
    setattr(builtins, SELECTED, 0)
    finder = _Finder(root, mutants)
    sys.meta_path.insert(0, finder)  # type: ignore[arg-type]

    def select(number: int) -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        setattr(builtins, SELECTED, number)

    os.chdir(root)
    runner = Runner(lambda attempt: body(finder.selectable(), attempt), select, jobs)
    runner.run(["-m", "not long", *folders])
