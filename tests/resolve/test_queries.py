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
from tests.golden import compare_part, names_of_parts

from .systems import resolve

pytestmark = pytest.mark.requirement("LANG-14")


def blob(root: dict[str, Any]) -> bytes:
    """A flattened device tree: dictionaries are nodes, the rest are properties: strings, words or bytes."""
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
            if isinstance(value, bytes):
                data = value
            elif all(isinstance(v, str) for v in value):
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
def test_errors_of_queries(tmp_path: Path, tree: Path, query: str, word: str) -> None:
    assert word in ask(tmp_path, query, dtb=tree)


def test_no_tree(tmp_path: Path) -> None:
    assert "--dtb" in ask(tmp_path, 'dtb({"path": "serial"})')
    assert "cannot read" in ask(tmp_path, 'dtb({"path": "serial"})', dtb=tmp_path / "none.dtb")
    (tmp_path / "bad.dtb").write_bytes(b"no tree")
    assert "not a flattened device tree" in ask(tmp_path, 'dtb({"path": "s"})', dtb=tmp_path / "bad.dtb")


def test_damaged_trees_are_refused() -> None:
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
def test_errors_of_queries_of_an_unusual_tree(tmp_path: Path, odd: Path, query: str, word: str) -> None:
    assert word in ask(tmp_path, query, dtb=odd)


def test_properties_are_those_of_a_node_whose_path_matches(tmp_path: Path, odd: Path) -> None:
    """The root has the property, too."""
    query = 'dtb({"path": "bus", "properties": {"#size-cells": 1}})["ranges"]'
    assert ask(tmp_path, query, dtb=odd) == [[0, 0x10, 0x100]]


def test_an_empty_dictionary_of_properties_adds_no_condition(tmp_path: Path, odd: Path) -> None:
    assert ask(tmp_path, 'dtb({"path": "zzz", "properties": {}})', dtb=odd)["query"] == [{}]


def test_the_root_is_not_an_answer(tmp_path: Path) -> None:
    path = tmp_path / "root.dtb"
    path.write_bytes(blob({"reg": [0, 0x100, 0x20], "aliases": {"top": "/"}}))
    assert ask(tmp_path, 'dtb({"path": "^/$"})', dtb=path)["query"] == [{}]
    assert ask(tmp_path, 'dtb({"properties": {"reg[2]": 32}})', dtb=path)["query"] == [{}]
    assert "no such node" in ask(tmp_path, 'dtb({"aliases": "top"})', dtb=path)


def test_a_query_without_a_match_has_an_empty_answer(tmp_path: Path, odd: Path) -> None:
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
def test_queries_without_a_meaning(tmp_path: Path, odd: Path, query: str, code: object) -> None:
    _, diagnostics = resolve(tmp_path, SYSTEM.format(query), LoadOptions(cpp=False, dtb=odd))
    assert [d.code for d in diagnostics] == [code]


def test_errors_of_queries_of_pins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_cells_that_do_not_fill_a_region_are_left_out(tmp_path: Path) -> None:
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


@pytest.mark.parametrize(
    ("data", "cells"),
    [
        (b"", []),
        (b"\0", [0]),
        (b"a\0", ["a"]),
        (b"ab\0cd\0", ["ab", "cd"]),
        (b"ab\0\0", [0x61620000]),
        (b"a\0\0", [97, 0, 0]),
        (b"abc", [97, 98, 99]),
        (b"abcd", [0x61626364]),
        (b"\x1f\0", [31, 0]),
        (b" \0", [" "]),
        (b"~\0", ["~"]),
        (b"\x7f\0", [127, 0]),
        (b"\t\v\f\0", ["\t\v\f"]),
        (b"\n\0", [10, 0]),
        (b"\xff\x80\x01", [-1, -128, 1]),
        (b"\xff\xff\xff\xff\0\0\0\x01", [0xFFFFFFFF, 1]),
        (b"\0\0\0\0", [0]),
    ],
)
def test_the_kind_of_a_value_is_seen_in_its_bytes(data: bytes, cells: list[Any]) -> None:
    root = read_tree(blob({"n": {"p": data, "after": [7]}}))
    assert root.children[0].properties == {"p": cells, "after": [7]}


BEGIN, END_NODE, PROPERTY, NOP, END = 1, 2, 3, 4, 9


@pytest.mark.parametrize(
    ("words", "good"),
    [
        ((BEGIN, 0, END_NODE, END), True),
        ((NOP, BEGIN, 0, NOP, END_NODE, NOP, END), True),
        ((BEGIN, 0, PROPERTY, 0, 0, END_NODE, END), True),
        ((END,), False),
        ((PROPERTY, 0, 0, BEGIN, 0, END_NODE, END), False),
        ((END_NODE, BEGIN, 0, END_NODE, END), False),
        ((BEGIN, 0, END_NODE, END_NODE, END), False),
        ((BEGIN, 0, 5, END_NODE, END), False),
        ((BEGIN, 0, 0, END_NODE, END), False),
        ((BEGIN, 0, END_NODE), False),
    ],
)
def test_the_order_of_the_parts_of_a_tree(words: tuple[int, ...], good: bool) -> None:
    structure = struct.pack(f">{len(words)}I", *words)
    header = struct.pack(">10I", 0xD00DFEED, 0, 40, 40 + len(structure), 0, 17, 16, 0, 1, 0)
    if good:
        assert read_tree(header + structure + b"p\0").path == ""
        with pytest.raises(BadTreeError):
            read_tree(b"\xd0\x0d\xfe\xec" + header[4:] + structure + b"p\0")
    else:
        with pytest.raises(BadTreeError):
            read_tree(header + structure + b"p\0")


MACHINE = {
    "#address-cells": [2],
    "#size-cells": [1],
    "compatible": ["acme,board", "acme"],
    "chosen": {
        "stdout-path": "/soc/uart@10:115200n8",
        "alias": "second",
        "number": [1],
        "two": ["/soc", "/x"],
    },
    "aliases": {"second": "/soc/uart@20", "flag": [], "number": [5], "gone": "/none"},
    "soc": {
        "#address-cells": [1],
        "#size-cells": [1],
        "ranges": [0, 0, 0x80000000, 0x1000, 0x2000, 0, 0x90000000, 0x10, 0x3000, 1, 0, 0x10],
        "uart@10": {"compatible": ["acme,uart", "uart"], "reg": [0x10, 0x10, 0xFF0, 0x10], "status": "okay"},
        "uart@20": {"compatible": "uart", "reg": [0x2000, 0x10], "clock-names": ["a", "b"], "empty": []},
        "uart@30": {"compatible": "uart", "reg": [0x2001, 0x10]},
        "uart@40": {"reg": [0x2010, 1, 5], "dma-ranges": b"\x01\x02\x03"},
        "uart@50": {"reg": [0xFF8, 9]},
        "uart@60": {"reg": [0x3000, 1]},
        "none": {"reg": [], "#address-cells": [], "child": {"reg": [1, 2, 3]}},
    },
    "bus": {
        "#address-cells": [1],
        "#size-cells": [0],
        "i2c@5": {"reg": [5]},
        "nothing": {"#address-cells": [0], "#size-cells": [0], "x": {"reg": [1, 2]}},
    },
    "memory@0": {"reg": [0x0, 0x80000000, 0x1000, 0x1, 0x0, 0x2000]},
}

QUERIES = (
    *(
        f'dtb({{"path": "{path}"}})'
        for path in ("uart@10", "UART@20", "uart@30", "uart@40", "uart@50", "uart@60", "i2c", "memory")
    ),
    *(
        f'dtb({{"path": "{path}"}})'
        for path in ("none$", "child", "nothing/x", "^/soc$", "^soc", "nowhere", "[")
    ),
    *(
        f'dtb({{"aliases": "{name}"}})["this-node-path"]'
        for name in ("second", "flag", "number", "gone", "secnd", "")
    ),
    *(
        f'dtb({{"chosen": "{name}"}})["this-node-path"]'
        for name in ("stdout-path", "alias", "number", "two", "stdout")
    ),
    *(
        f'dtb({{"properties": {{{text}}}}})["this-node-path"]'
        for text in (
            '"compatible": "uart"',
            '"compatible[0]": "uart"',
            '"compatible[1]": "uart"',
            '"compatible[2]": "uart"',
            '"compatible[0x1]": "uart"',
            '"compatible[*]": ["uart"]',
            '"compatible[*]": "uart"',
            '"reg": 8192',
            '"reg": 8192, "compatible": "uart"',
            '"empty": 0',
            '"empty": []',
            '"empty": 1',
            '"status": "okay", "gone": 1',
            '"a[": 1',
            '"[0]": 1',
            '"a[-1]": 1',
            '"a[0xg]": 1',
        )
    ),
    'dtb({"path": "uart", "properties": {"compatible": "uart"}})["this-node-path"]',
    'dtb({"path": "uart", "properties": "compatible"})["this-node-path"]',
    'dtb({"path": "", "aliases": "", "properties": {"status": "okay"}})["this-node-path"]',
    'dtb([{"path": "uart@10"}, {"path": "none"}, {"path": "i2c"}])["this-node-path"]',
    'dtb({"path": "uart@10"})["reg"][1]',
    'dtb({"path": "uart@10"})["reg"][9]',
    'dtb({"path": "uart@10"})["reg"][0]["x"]',
    'dtb({"path": "uart@10"})["regs"]',
    'dtb({"path": "nowhere"})["reg"]',
    'dtb({"propertys": 1})',
    'dtb({"zzz": 1})',
    "dtb([])",
    "gpio({})",
)


@pytest.mark.parametrize("query", QUERIES)
def test_answers_to_the_letter(tmp_path: Path, query: str) -> None:
    tree = tmp_path / "tree.dtb"
    tree.write_bytes(blob(MACHINE))
    answer = str(ask(tmp_path, query, dtb=tree))
    compare_part(answer, query, Path(__file__).parent / "neighbours" / "queries.txt")


def test_each_answer_has_a_query() -> None:
    assert names_of_parts(Path(__file__).parent / "neighbours" / "queries.txt") == set(QUERIES)
