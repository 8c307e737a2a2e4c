# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""`camkes size` counts what is planned, and draws it to scale."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camkes.showing.draw.treemap import Box, squarified
from tests.command import camkes
from tests.documents import conforming

pytestmark = pytest.mark.requirement("PLAN-13")

SYSTEM = """\
import <std_connector.camkes>;
procedure Store { int store(in int value); }
component Task { control; requestor; uses Store s; dataport Buf(8192) d; emits E e; attribute int heap_size; }
component Server { provides Store s with priority_protocol inherited; dataport Buf(8192) d; consumes E e; }
assembly {
    composition {
        component Task one;
        component Task two;
        component Server server;
        connection seL4RPCCall s(from one.s, from two.s, to server.s);
        connection seL4SharedData d(from one.d, to server.d);
        connection seL4SharedData f(from two.d, to server.d);
        connection seL4Notification e(from one.e, to server.e);
    }
    configuration {
        one._priority = 10;
        two._priority = 20;
        two._stack_size = 65536;
        two.heap_size = 4096;
    }
}
"""


@pytest.fixture
def system(tmp_path: Path) -> Path:
    (tmp_path / "system.camkes").write_text(SYSTEM)
    return tmp_path / "system.camkes"


def test_what_the_text_states_is_counted(system: Path) -> None:
    found = conforming("size", camkes("size", system, "--json").output)
    each = {component["name"]: component for component in found["components"]}
    assert list(each) == ["one", "two", "server", "(shared)"] and found["counted"] == "plan"
    assert each["one"]["memory"] == {"stacks": 16384, "IPC buffers": 4096, "heap": 1 << 20}
    assert each["two"]["memory"] == {"stacks": 65536, "IPC buffers": 4096, "heap": 4096}
    assert each["(shared)"]["memory"] == {"shared memory": 8192}
    assert each["two"]["threads"] == [{"name": "two", "stack": 65536}]
    assert each["one"]["objects"]["TCB"] == 1 and each["server"]["objects"]["TCB"] == len(
        each["server"]["threads"]
    )
    assert each["one"]["objects"]["frame"] == 4 + 1 + 256 and each["two"]["objects"]["frame"] == 16 + 1 + 1
    # requests go to the server, and it alone receives the event
    assert each["server"]["objects"]["endpoint"] >= 2 and each["server"]["objects"]["notification"] >= 1
    assert "endpoint" not in each["one"]["objects"]
    assert each["(shared)"]["objects"] == {"frame": 2}
    total = found["total"]
    assert total["bytes"] == sum(component["bytes"] for component in found["components"])
    assert all(c["bytes"] == sum(c["memory"].values()) for c in (*found["components"], total))
    assert any("code and data" in text for text in found["not_counted"])


def test_the_picture_is_to_scale_and_has_its_texts(system: Path, tmp_path: Path) -> None:
    found = conforming("size", camkes("size", system, "--json", "--svg", tmp_path / "s.svg").output)
    root = ElementTree.fromstring((tmp_path / "s.svg").read_text())
    written = " ".join(each.text or "" for each in root.iter("{http://www.w3.org/2000/svg}text"))
    assert f"Not counted: {'; '.join(found['not_counted'])}." in written
    name = "{http://www.w3.org/2000/svg}"
    assert root.get("role") == "img" and root.get("aria-label") == root.findtext(f"{name}title")
    areas = {}
    for group in root.iter(f"{name}g"):
        if group.get("role") != "img":
            continue
        box = group.find(f"{name}rect")
        assert box is not None and group.findtext(f"{name}title") == group.get("aria-label")
        label = str(group.get("aria-label")).partition(":")[0]
        areas[label] = float(box.get("width", "")) * float(box.get("height", ""))
    parts = {
        f"{each['name']}, {part}": size
        for each in found["components"]
        for part, size in each["memory"].items()
    }
    assert areas.keys() == parts.keys()
    for component in ("one", "server"):  # parts of one component are as large as they are to each other
        scale = areas[f"{component}, heap"] / parts[f"{component}, heap"]
        for part in ("stacks", "IPC buffers"):
            shown, real = areas[f"{component}, {part}"], parts[f"{component}, {part}"]
            assert shown == pytest.approx(scale * real, rel=0.05)


@given(
    st.lists(st.integers(1, 1 << 30), min_size=1, max_size=30),
    st.floats(1, 1000),
    st.floats(1, 1000),
)
def test_rectangles_fill_the_whole_and_are_as_large_as_their_sizes(
    sizes: list[int], width: float, height: float
) -> None:
    sizes.sort(reverse=True)
    boxes = squarified(sizes, Box(0, 0, width, height))
    scale = width * height / sum(sizes)
    for size, box in zip(sizes, boxes, strict=True):
        assert box.width * box.height == pytest.approx(size * scale, rel=1e-6, abs=1e-6)
        assert box.x >= -1e-6 and box.x + box.width <= width * (1 + 1e-6) + 1e-6
        assert box.y >= -1e-6 and box.y + box.height <= height * (1 + 1e-6) + 1e-6
    overlaps = [
        (a, b)
        for i, a in enumerate(boxes)
        for b in boxes[:i]
        if min(a.x + a.width, b.x + b.width) - max(a.x, b.x) > 1e-6 * width
        and min(a.y + a.height, b.y + b.height) - max(a.y, b.y) > 1e-6 * height
    ]
    assert overlaps == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--svg", "a.txt"), "must end in one of .svg"),
        (("--sdk", "a.sdk"), "--sdk is for a build"),
        (("--kernel", "sel4", "--stacks"), "--stacks of a build for seL4 needs --sdk"),
        (("-o", "out"), "--output is for a build"),
    ],
)
def test_words_that_do_not_go_together(words: tuple[str, ...], message: str, system: Path) -> None:
    result = camkes("size", system, *words)
    assert result.status == 2 and message in result.errors


def test_an_instance_can_be_called_shared(system: Path) -> None:
    system.write_text(SYSTEM.replace("server", "shared"))
    found = conforming("size", camkes("size", system, "--json").output)
    assert found["total"]["objects"]["TCB"] == len(found["total"]["threads"])
    assert [component["name"] for component in found["components"]] == ["one", "two", "shared", "(shared)"]


def test_a_system_with_errors_has_no_size(tmp_path: Path) -> None:
    (tmp_path / "a.camkes").write_text("component A { control; } assembly { composition { component B b; } }")
    result = camkes("size", tmp_path / "a.camkes", "--svg", tmp_path / "a.svg")
    assert result.status == 1 and result.output == "" and not (tmp_path / "a.svg").exists()
