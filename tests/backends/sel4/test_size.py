# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What `camkes size` counts of a build is what its capability distribution has, object for object."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from camkes.backends.sel4.complete import complete
from camkes.backends.sel4.devices import device_of
from camkes.backends.sel4.link import link
from camkes.backends.sel4.size import count_objects
from camkes.backends.sel4.spec import unlinked
from camkes.capdl.size import BUFFERS, CODE, FRAME, HEAP, PARTS, SHARED, STACKS, SystemSize
from camkes.capdl.text import capdl_text
from camkes.model.units import PAGE
from tests.backends.sel4.test_spec import MACHINES, MODELS, Cdl, images_of, parse

pytestmark = pytest.mark.requirement("SEL4-18")

#: different, so that none can be taken for another
SIZES = {
    "seL4_Slot": 5,
    "seL4_TCBObject": 11,
    "seL4_EndpointObject": 4,
    "seL4_NotificationObject": 6,
    "seL4_PageTableObject": 12,
}
HEAP_BYTES = PAGE + 1


def counted(name: str, architecture: str) -> tuple[SystemSize, Cdl]:
    model = MODELS[name]
    heaps = {space.name: HEAP_BYTES for space in model.spaces}
    device = device_of(MACHINES[architecture]) if model.timers else None
    spec = unlinked(complete(model, device), architecture, heaps=heaps)
    images = images_of(spec)
    return count_objects(spec, images, SIZES), parse(capdl_text(link(spec, images)))


def memory_of(what: str) -> int:
    """The bytes of an object, read from its declaration."""
    kind = what.partition(" ")[0]
    if kind == "frame":
        size = re.search(r"\((\d+)([kM])", what)
        assert size is not None
        return 0 if "paddr" in what else int(size[1]) << {"k": 10, "M": 20}[size[2]]
    if kind == "cnode":
        bits = re.search(r"\((\d+) bits\)", what)
        assert bits is not None
        return 1 << int(bits[1]) + SIZES["seL4_Slot"]
    own = {"tcb": "seL4_TCBObject", "ep": "seL4_EndpointObject", "notification": "seL4_NotificationObject"}
    if kind in own:
        return 1 << SIZES[own[kind]]
    return 1 << SIZES["seL4_PageTableObject"] if kind in ("pt", "pd", "pdpt", "pml4", "pud", "pgd") else 0


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("architecture", ["x86_64", "aarch64", "riscv32"])
def test_all_objects_and_all_bytes_are_counted_once(name: str, architecture: str) -> None:
    size, cdl = counted(name, architecture)
    found: Counter[str] = Counter()
    for component in size.components:
        found.update({each.kind: each.count for each in component.objects})
    assert found.total() == len(cdl.objects)
    declared = Counter(what.partition(" ")[0] for what in cdl.objects.values())
    assert found[FRAME] == declared["frame"] and found["TCB"] == declared["tcb"]
    assert found["endpoint"] == declared["ep"] and found["notification"] == declared["notification"]
    assert sum(each.bytes for each in size.components) == sum(map(memory_of, cdl.objects.values()))
    assert {part.part for each in size.components for part in each.memory} <= set(PARTS)


def test_what_a_component_has() -> None:
    size, cdl = counted("nested", "x86_64")
    each = {component.name: component for component in size.components}
    assert list(each)[-1] == SHARED
    for space in MODELS["nested"].spaces:
        own = each[space.name]
        assert own.instances == space.instances
        assert len(own.threads) == len(space.threads) + 1  # that of faults
        assert {thread.stack for thread in own.threads} == {16384}
        assert own.part(STACKS) == 16384 * len(own.threads)
        assert own.part(BUFFERS) == PAGE * len(own.threads)
        assert own.part(HEAP) == 2 * PAGE
        frames = [name for name in cdl.objects if re.fullmatch(rf"{space.name}-([0-9a-f]+|boot-clock)", name)]
        image = sum(memory_of(cdl.objects[name]) for name in frames)
        assert own.part(CODE) + own.part(STACKS) + own.part(HEAP) == image
        assert own.slots == 1 << int(re.findall(r"\((\d+) bits\)", cdl.objects[f"{space.name}-cnode"])[0])


def test_a_build_that_does_not_tell_its_heaps() -> None:
    spec = unlinked(complete(MODELS["nested"]), "x86_64")
    size = count_objects(spec, images_of(spec), SIZES)
    assert any(text.startswith("heaps") for text in size.not_counted)
    assert not any(component.part(HEAP) for component in size.components)
