# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The name of a class has one meaning in `camkes` and `camkes.parser`."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Mapping

import pytest

from tests.repository.statements import statements
from tests.repository.test_layers import modules

pytestmark = pytest.mark.requirement("TOOL-28")


def class_names(text: str) -> list[str]:
    """Classes, nested ones too, and aliases of types. The underscore of a private name does not tell it from
    a public one."""
    names = []
    for node in statements(text):
        match node:
            case ast.ClassDef(name=name):
                names.append(name)
            case ast.AnnAssign(target=ast.Name(id=name), annotation=ast.Name(id="TypeAlias")):
                names.append(name)
    return [name.lstrip("_") for name in names]


def used_twice(names: Iterable[tuple[str, Iterable[str]]]) -> Mapping[str, list[str]]:
    """The names with the modules that define them, if these are several, or one does so twice."""
    found = defaultdict(list)
    for module, defined in names:
        for name in defined:
            found[name].append(module)
    return {name: places for name, places in found.items() if len(places) > 1}


def test_a_second_class_of_a_name_is_noticed() -> None:
    texts = {
        "a": "class Job: pass\nclass Task:\n    class Part: pass",
        "b": "class _Job: pass\nif x:\n    Part: TypeAlias = int\nTask = Job",
    }
    names = [(module, class_names(text)) for module, text in texts.items()]
    assert used_twice(names) == {"Job": ["a", "b"], "Part": ["a", "b"]}


def test_each_class_has_a_name_of_its_own() -> None:
    assert used_twice((name, class_names(path.read_text("utf-8"))) for name, path in modules()) == {}
