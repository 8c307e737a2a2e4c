# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Queries of the device tree and of the list of pins."""

import struct
import sys
from pathlib import Path
from typing import Any

import pytest

from camkes.resolve import LoadOptions, codes
from camkes.resolve.values.devicetree import BadTreeError, read_tree

from .systems import resolve


def blob(root: dict[str, Any]) -> bytes:
    """A flattened device tree: dictionaries are nodes, the rest are properties."""
    structure, strings = bytearray(), bytearray()

    def word(value: int) -> None:
        structure.extend(struct.pack(">I", value))

    def padded(data: bytes) -> None:
        structure.extend(data + bytes(-len(data) % 4))

    def node(name: str, content: dict[str, Any]) -> None:
        word(1)
        padded(name.encode() + b"\0")
        for key, value in content.items():
            if isinstance(value, dict):
                continue
            if isinstance(value, str):
                value = [value]
            if all(isinstance(v, str) for v in value):
                data = b"".join(v.encode() + b"\0" for v in value)
            else:
                data = struct.pack(f">{len(value)}I", *value)
            word(3)
            word(len(data))
            word(len(strings))
            strings.extend(key.encode() + b"\0")
            padded(data)
        for key, value in content.items():
            if isinstance(value, dict):
                word(4)
                node(key, value)
        word(2)

    node("", root)
    word(9)
    size = 40 + len(structure) + len(strings)
    header = struct.pack(">10I", 0xD00DFEED, size, 40, 40 + len(structure), 0, 17, 16, 0, len(strings), 0)
    return header + structure + strings


TREE = {
    "#address-cells": [1],
    "#size-cells": [1],
    "chosen": {"stdout-path": "uart:115200"},
    "aliases": {"uart": "/soc/serial@100", "gone": "/nowhere"},
    "soc": {
        "#address-cells": [1],
        "#size-cells": [1],
        "ranges": [0x0, 0x40000000, 0x10000],
        "serial@100": {"compatible": ["acme,uart", "uart"], "reg": [0x100, 0x10], "interrupts": [0, 26, 4]},
        "Timer@200": {"compatible": "acme,timer", "reg": [0x200, 0x20], "always-on": []},
    },
}

SYSTEM = """
component A {{ control; }}
assembly {{ composition {{ component A a; }} configuration {{ a.dtb = {}; }} }}
"""


def ask(folder: Path, query: str, **files: Path) -> Any:
    system, diagnostics = resolve(folder, SYSTEM.format(query), LoadOptions(cpp=False, **files))  # type: ignore[arg-type]
    if system is None:
        assert [d.code for d in diagnostics] == [codes.QUERY_FAILED]
        return diagnostics[0].message
    return system.instances[0].settings["dtb"].value


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    path = tmp_path / "tree.dtb"
    path.write_bytes(blob(TREE))
    return path


SERIAL = {
    "compatible": ["acme,uart", "uart"],
    "reg": [0x40000100, 0x10],
    "interrupts": [0, 26, 4],
    "this_address_cells": [1],
    "this_size_cells": [1],
    "this_node_path": "/soc/serial@100",
}


@pytest.mark.parametrize(
    "query",
    [
        'dtb({"path": "serial"})',
        'dtb({"path": "/SOC/s.*@"})',
        'dtb({"aliases": "uart"})',
        'dtb({"chosen": "stdout-path"})',
        'dtb([{"properties": {"compatible[1]": "uart"}}])',
        'dtb({"properties": {"interrupts[*]": [0, 26, 4]}})',
        'dtb({"path": "nothing", "properties": {"interrupts[0x1]": 26}})',
    ],
)
def test_nodes(tmp_path: Path, tree: Path, query: str) -> None:
    answer = ask(tmp_path, query, dtb=tree)
    assert answer == {"query": [SERIAL], "dtb_size": [tree.stat().st_size]}


def test_keys_and_several_questions(tmp_path: Path, tree: Path) -> None:
    query = 'dtb([{"path": "serial"}, {"path": "timer"}])["compatible"]'
    assert ask(tmp_path, query, dtb=tree) == [["acme,uart", "uart"], ["acme,timer"]]
    assert ask(tmp_path, 'dtb({"path": "timer"})["always-on"]', dtb=tree) == [[]]


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ("dtb()", "dictionary"),
        ('dtb({"alias": "uart"})', "aliases"),
        ('dtb({"aliases": "urt"})', "uart"),
        ('dtb({"aliases": "gone"})', "/nowhere"),
        ('dtb({"path": "("})', "regular expression"),
        ('dtb({"path": "serial"})["regs"]', "reg"),
        ('gpio({"pins": [1]})', "--gpio-list"),
    ],
)
def test_no_answer(tmp_path: Path, tree: Path, query: str, word: str) -> None:
    assert word in ask(tmp_path, query, dtb=tree)


def test_no_tree(tmp_path: Path) -> None:
    assert "--dtb" in ask(tmp_path, 'dtb({"path": "serial"})')
    assert "cannot read" in ask(tmp_path, 'dtb({"path": "serial"})', dtb=tmp_path / "none.dtb")
    (tmp_path / "bad.dtb").write_bytes(b"no tree")
    assert "not a flattened device tree" in ask(tmp_path, 'dtb({"path": "s"})', dtb=tmp_path / "bad.dtb")


def test_broken_trees_are_no_trees() -> None:
    whole = blob(TREE)
    for end in range(0, len(whole) - 200, 7):
        with pytest.raises(BadTreeError):
            read_tree(whole[:end])
    for at in range(0, len(whole), 5):
        try:
            read_tree(whole[:at] + b"\xff" + whole[at + 1 :])
        except BadTreeError:
            continue


def test_pins(tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    pins = tmp_path / "pins.yaml"
    pins.write_text("gpio_list: [{name: A, id: 1}]\n", encoding="utf-8")
    answer = ask(tmp_path, 'gpio({"pins": ["A"]})', gpio_list=pins)
    assert answer == {"query": [{"desired_pins": ["A"]}], "all_pins": [{"name": "A", "id": 1}]}


ODD = {
    "#address-cells": [1],
    "#size-cells": [1],
    "narrow": {
        "#address-cells": [1],
        "#size-cells": [1],
        "ranges": [0x0, 0x1000, 0x100],
        "inside@10": {"reg": [0x10, 0x10], "flag": [], "words": [1, 2]},
        "across@f0": {"reg": [0xF0, 0x20]},
        "outside@2000": {"reg": [0x2000, 0x10]},
    },
    "wide": {
        "#address-cells": [1],
        "#size-cells": [0],
        "ranges": [],
        "bus": {
            "#address-cells": [1],
            "#size-cells": [1],
            "ranges": [0x0, 0x10, 0x100],
            "part@1": {"reg": [1, 1]},
        },
    },
    "bare": {"child": {"reg": [1, 2, 3]}},
}


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    path = tmp_path / "odd.dtb"
    path.write_bytes(blob(ODD))
    return path


def test_addresses_are_those_of_the_processor(tmp_path: Path, odd: Path) -> None:
    def reg(path: str) -> Any:
        return ask(tmp_path, f'dtb({{"path": "{path}"}})["reg"]', dtb=odd)

    assert reg("inside") == [[0x1010, 0x10]]
    assert reg("outside") == [[0x2000, 0x10]]
    assert reg("part@1") == [[0x11, 1]]
    assert reg("bare/child") == [[1, 2, 3]]
    assert "is not within the range" in reg("across")


@pytest.mark.parametrize(
    ("properties", "found"),
    [
        ('{"flag": ""}', True),
        ('{"flag[*]": []}', True),
        ('{"flag": 1}', False),
        ('{"words": 1}', True),
        ('{"words[1]": 2}', True),
        ('{"words[2]": 2}', False),
        ('{"words[*]": [1, 2]}', True),
        ('{"words[*]": [1]}', False),
        ('{"nothing": 1}', False),
    ],
)
def test_properties(tmp_path: Path, odd: Path, properties: str, found: bool) -> None:
    answer = ask(tmp_path, f'dtb({{"path": "inside", "properties": {properties}}})', dtb=odd)
    assert bool(answer["query"][0]) is found


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ('dtb({"aliases": "uart"})', "no node /aliases"),
        ('dtb({"chosen": "stdout-path"})', "no node /chosen"),
        ('dtb({"path": "inside", "properties": {"a[b]": 1}})', "not a valid property"),
        ('dtb({"path": "inside"})["reg"]["reg"]', 'no key "reg"'),
    ],
)
def test_no_answer_of_an_odd_tree(tmp_path: Path, odd: Path, query: str, word: str) -> None:
    assert word in ask(tmp_path, query, dtb=odd)


def test_no_property_is_asked_for_by_an_empty_dictionary(tmp_path: Path, odd: Path) -> None:
    assert ask(tmp_path, 'dtb({"path": "zzz", "properties": {}})', dtb=odd)["query"] == [{}]


def test_the_root_is_no_answer(tmp_path: Path) -> None:
    path = tmp_path / "root.dtb"
    path.write_bytes(blob({"reg": [0, 0x100, 0x20], "aliases": {"top": "/"}}))
    assert ask(tmp_path, 'dtb({"path": "^/$"})', dtb=path)["query"] == [{}]
    assert ask(tmp_path, 'dtb({"properties": {"reg[2]": 32}})', dtb=path)["query"] == [{}]
    assert "no such node" in ask(tmp_path, 'dtb({"aliases": "top"})', dtb=path)


def test_a_query_about_nothing_has_an_empty_answer(tmp_path: Path, odd: Path) -> None:
    assert ask(tmp_path, 'dtb({"path": "zzz"})', dtb=odd)["query"] == [{}]
    assert ask(tmp_path, "dtb({})", dtb=odd)["query"] == [{}]


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ('dtb({"path": 1 / 0})', codes.BAD_EXPRESSION),
        ('dtb({"path": "a"})[1 / 0]', codes.BAD_EXPRESSION),
        ('dtd({"path": "a"})', codes.UNKNOWN_QUERY),
    ],
)
def test_questions_that_mean_nothing(tmp_path: Path, odd: Path, query: str, code: object) -> None:
    _, diagnostics = resolve(tmp_path, SYSTEM.format(query), LoadOptions(cpp=False, dtb=odd))
    assert [d.code for d in diagnostics] == [code]


def test_pins_that_cannot_be_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pins = tmp_path / "pins.yaml"
    pins.write_text("gpio_list: [", encoding="utf-8")
    assert '"pins"' in ask(tmp_path, 'gpio({"pin": []})', gpio_list=pins)
    assert '"pins"' in ask(tmp_path, 'gpio([{"pins": []}, {"pins": []}])', gpio_list=pins)
    monkeypatch.setitem(sys.modules, "yaml", None)
    assert "pyyaml" in ask(tmp_path, 'gpio({"pins": []})', gpio_list=pins)


def test_a_list_of_pins_that_is_none(tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    pins = tmp_path / "pins.yaml"
    for text in ("gpio_list: [", "pins: []\n", "[]\n"):
        pins.write_text(text, encoding="utf-8")
        assert "is not a valid list of pins" in ask(tmp_path, 'gpio({"pins": []})', gpio_list=pins)
    assert "is not a valid list of pins" in ask(tmp_path, 'gpio({"pins": []})', gpio_list=tmp_path / "none")


def test_words_that_fill_no_region_are_left_out(tmp_path: Path) -> None:
    """An address and a size are two words here; the third belongs to nothing."""
    bus = {"#address-cells": [1], "#size-cells": [1]}
    path = tmp_path / "tree.dtb"
    path.write_bytes(
        blob({**bus, "bus": {**bus, "ranges": [0, 0x1000, 0x100], "part": {"reg": [0x10, 0x10, 0x20]}}})
    )
    assert ask(tmp_path, 'dtb({"path": "part"})', dtb=path)["query"][0]["reg"] == [0x1010, 0x10]


def test_the_cells_of_a_node_are_those_of_the_bus_it_is_on(tmp_path: Path) -> None:
    """And a word holds every address of 32 bits."""
    device = {"reg": [0xF0000000, 0, 0x1000]}
    bus = {"#address-cells": [1], "#size-cells": [2], "ranges": [], "device@f0000000": device}
    tree = tmp_path / "cells.dtb"
    tree.write_bytes(blob({"#address-cells": [1], "#size-cells": [1], "bus": bus}))
    found = {
        name: ask(tmp_path, f'dtb({{"path": "device"}})["{name}"]', dtb=tree)
        for name in ("this-address-cells", "this-size-cells", "reg")
    }
    assert found == {
        "this-address-cells": [[1]],
        "this-size-cells": [[2]],
        "reg": [[0xF0000000, 0, 0x1000]],
    }
