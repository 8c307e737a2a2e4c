# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""How deep and how large a system may be."""

from pathlib import Path

import pytest

from camkes.model.dump import dump
from camkes.resolve import LoadOptions, codes
from camkes.resolve.program import hierarchy

from .systems import good, numbers, resolve

pytestmark = pytest.mark.requirement("LANG-23")


@pytest.mark.mostly_long("100-False-False", "101-True-False")
@pytest.mark.parametrize("innermost_first", [False, True])
@pytest.mark.parametrize(("levels", "deep"), [(100, False), (101, True), (10_000, True)])
def test_components_nested_too_deeply(tmp_path: Path, levels: int, deep: bool, innermost_first: bool) -> None:
    last = levels - 1
    chain = [f"component A{i} {{ composition {{ component A{i + 1} a; }} }}" for i in range(last)]
    chain.append(f"component A{last} {{ }}")
    text = "".join(reversed(chain) if innermost_first else chain)
    text += "assembly { composition { component A0 a; } }"
    options = LoadOptions(cpp=False, allow_forward_references=True)
    system, found = resolve(tmp_path, text, options)
    assert {each.code.number for each in found} == ({codes.TOO_DEEP.number} if deep else set())
    if system is not None:
        assert len(dump(system)["instances"]) == levels


@pytest.mark.long
def test_long_chains_are_resolved(tmp_path: Path) -> None:
    instances = "".join(f"component A a{i};" for i in range(3000))
    settings = "".join(f"a{i}.x <- a{i + 1}.x;" for i in range(2999)) + "a2999.x = 1 + 2" + " + 1" * 100 + ";"
    text = f"component A {{ attribute int x; }} assembly {{ composition {{ {instances} }}"
    system = good(tmp_path, text + f"configuration {{ {settings} }} }}")
    assert system.instances[0].settings["x"].value == 103


def test_the_number_of_instances_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hierarchy, "_MOST_INSTANCES", 3)
    for count, found in ((3, []), (4, [codes.TOO_DEEP.number])):
        parts = "".join(f"component A a{i};" for i in range(count))
        assert numbers(tmp_path, f"component A {{ }} assembly {{ composition {{ {parts} }} }}") == found


def test_a_component_that_contains_itself_through_one_without_a_name(tmp_path: Path) -> None:
    text = """component A { composition { component { composition { component A inner; } } middle; } }
              assembly { composition { component A a; } }"""
    options = LoadOptions(cpp=False, allow_forward_references=True)
    assert codes.CONTAINS_ITSELF.number in numbers(tmp_path, text, options)


def test_the_number_of_definitions_side_by_side_is_unlimited(tmp_path: Path) -> None:
    """Each component uses a procedure that is defined after it."""
    items = "".join(f"component C{i} {{ uses P{i} p; }} procedure P{i} {{ void f(); }}" for i in range(60))
    text = f"{items} component A {{ }} assembly {{ composition {{ component A a; }} }}"
    assert numbers(tmp_path, text, LoadOptions(cpp=False, allow_forward_references=True)) == []
