# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
# ruff: noqa: E501 -- templates
"""The small computations that templates know as `macros`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from camkes.backends.upstream_templates import macros
from camkes.backends.upstream_templates.macros import TemplateError
from camkes.backends.upstream_templates.view import CompositionView, ConfigurationView, EndView
from tests.resolve.systems import good

pytestmark = pytest.mark.requirement("LANG-27")


def test_c_types() -> None:
    assert [macros.show_type(t) for t in ("int", "string", "character", "boolean")] == [
        "int",
        "char *",
        "char",
        "bool",
    ]
    assert macros.dataport_type("Buf(4096)") == "void"
    assert macros.dataport_size("Buf(8192)") == "8192"
    assert macros.dataport_size("frame_t") == "sizeof(frame_t)"
    counts = {256: "uint8_t", 257: "uint16_t", 2**16 + 1: "uint32_t", 2**64: "uint64_t"}
    assert {n: macros.type_to_fit_integer(n) for n in counts} == counts
    with pytest.raises(TemplateError):
        macros.type_to_fit_integer(2**64 + 1)


@pytest.mark.parametrize(
    ("size", "architecture", "page"),
    [
        (4096, "x86_64", 4096),
        (0x200000, "x86_64", 0x200000),
        (0x201000, "x86_64", 4096),
        (0x1000000, "aarch32", 0x1000000),
        (0x20000, "aarch32", 0x10000),
        ("4096", "x86_64", 4096),
        (0x400000, "ia32", 0x400000),
        (100, "ia32", 0),
        (0, "ia32", 0),
    ],
)
def test_the_largest_page(size: int | str, architecture: str, page: int) -> None:
    assert macros.get_page_size(size, architecture) == page


def test_multiples() -> None:
    assert (macros.ROUND_UP(5, 4), macros.ROUND_DOWN(5, 4), macros.ROUND_UP(8, 4)) == (8, 4, 8)
    assert macros.next_page_multiple(1, "x86_64") == 4096
    assert macros.next_page_multiple(4097, "x86_64") == 8192
    assert (macros.get_word_size("ia32"), macros.get_word_size("riscv64")) == (4, 8)


@pytest.mark.parametrize(("start", "size"), [(0x1000, 0x3000), (0, 0x5000), (0x40000000, 0x20000000)])
def test_untypeds_cover_a_range(start: int, size: int) -> None:
    blocks = macros.get_untypeds_from_range(start, size)
    at = start
    for address, bits in blocks:
        assert address == at
        assert address % (1 << bits) == 0
        at += 1 << bits
    assert at == start + size


def test_buffers_are_whole_aligned_pages() -> None:
    text = macros.shared_buffer_symbol(sym="b", shmem_size="MAX(sizeof(t), 5000)", page_size=4096)
    assert "content[ROUND_UP_UNSAFE(MAX(sizeof(t), 5000), 4096)]" in text
    assert "align_12bit" in text


INTERRUPTS = [
    ("aarch32", {"interrupts": [0, 55, 4]}, [(87, 0)]),
    ("aarch32", {"interrupts": [0, 55, 1, 1, 9, 8]}, [(87, 1), (9, 0)]),
    ("aarch64", {"interrupts_extended": [5, 0, 1, 4]}, [(33, 0)]),
    ("riscv64", {"interrupts": [7]}, [(7, 1)]),
    ("riscv64", {"interrupts": [7, 8]}, [(7, 1), (8, 1)]),
    ("riscv64", {"interrupts_extended": [3, 9]}, [(9, 1)]),
    ("riscv64", {}, []),
]


@pytest.mark.parametrize(("architecture", "node", "expected"), INTERRUPTS)
def test_interrupts_of_a_device(
    architecture: str, node: dict[str, list[int]], expected: list[tuple[int, int]]
) -> None:
    found = macros.parse_dtb_node_interrupts(node, -1, architecture)
    assert [(i["irq"], i["trigger"]) for i in found] == expected


def test_too_many_interrupts() -> None:
    with pytest.raises(TemplateError, match="has 2 interrupts; at most 1"):
        macros.parse_dtb_node_interrupts({"interrupts": [7, 8]}, 1, "riscv64")


BADGES = """
connector Signal { from Event with 0 threads; to Events with 0 threads; attribute bool to_global_endpoint = True; }
connector Call { from Procedures with 0 threads; to Procedure with 0 threads; attribute bool to_global_rpc_endpoint = True; }
connector seL4VirtQueues { from Procedures with 0 threads; to Procedure with 0 threads; }
procedure P { void f(); }
component Client { control; emits E e; uses P p; uses P q1; uses P q2; uses P q3; }
component Server { consumes E one; consumes E two; provides P p; provides P q; }
assembly { composition {
    component Client a; component Client b; component Server server;
    connection Signal s1(from a.e, to server.one);
    connection Signal s2(from b.e, to server.two);
    connection Call c(from a.p, from b.p, to server.p);
    connection seL4VirtQueues v(from a.q1, from a.q2, from a.q3, from b.q1, from b.q2, from b.q3, to server.q);
} configuration { a.q2_id = 0; %s } }
"""


def wired(folder: Path, settings: str = "") -> tuple[CompositionView, ConfigurationView, dict[str, EndView]]:
    system = good(folder, BADGES % settings)
    composition = CompositionView(system)
    ends = {str(e): e for c in composition.connections for e in (*c.from_ends, *c.to_ends)}
    return composition, ConfigurationView(system), ends


def signals(made: tuple[CompositionView, ConfigurationView, dict[str, EndView]]) -> list[Any]:
    composition, configuration, ends = made
    return [
        macros.global_endpoint_badges(composition, ends[name], configuration, "x86_64")
        for name in ("server.one", "server.two")
    ]


def test_a_bit_for_each_signal(tmp_path: Path) -> None:
    assert signals(wired(tmp_path)) == [0b11, 0b101]
    assert signals(wired(tmp_path, "server.global_endpoint_base = 8;")) == [0b1001, 0b1010]
    assert signals(wired(tmp_path, "server.global_endpoint_mask = 48;")) == [0b10001, 0b100001]


def test_a_mask_without_free_bits_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TemplateError, match=r"no badge is left for server\.two"):
        signals(wired(tmp_path, "server.global_endpoint_mask = 4;"))


def test_a_number_for_each_caller(tmp_path: Path) -> None:
    composition, configuration, ends = wired(tmp_path)
    assert macros.global_rpc_endpoint_badges(composition, ends["server.p"], configuration) == [2, 4]


def test_numbers_of_queues_go_around_those_that_are_set(tmp_path: Path) -> None:
    composition, configuration, ends = wired(tmp_path)
    names = [f"{i}.q{n}" for i in "ab" for n in (1, 2, 3)]
    found = [macros.virtqueue_get_client_id(composition, ends[name], configuration) for name in names]
    assert found == [1, 0, 2, 0, 1, 2]


def test_access_rights() -> None:
    settings = {"a": {"d_access": "RW"}, "b": {"d_access": "WR"}}
    assert macros.get_perm(settings, "a", "d") == "RW"
    assert macros.get_perm(settings, "a", "e") == "RWXP"
    with pytest.raises(TemplateError, match=r"b\.d_access"):
        macros.get_perm(settings, "b", "d")
