# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Resources that settings of an instance request: DMA memory, a device tree, objects to allocate from.

Only a build for seL4 has these; `templates/pools.template.c` writes them down.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from camkes.capdl.details import Details, Domain, Rights
from camkes.capdl.fill import BootRecord, Fill
from camkes.capdl.model import (
    DMA_VARIABLE,
    TREE_VARIABLE,
    Cap,
    CapabilityModel,
    DmaPool,
    KernelObject,
    Mapping,
    ObjectKind,
    ObjectUse,
    PoolEntry,
    Pools,
    Purpose,
    Space,
)
from camkes.model.codes import SETTING_RANGE
from camkes.model.setting_reader import SettingReader, effective
from camkes.model.settings import (
    ALLOWED_SMC_FUNCTIONS,
    DMA_POOL,
    DMA_POOL_CACHED,
    DMA_POOL_PADDR,
    DTB,
    EP_POOL,
    NOTIFICATION_POOL,
    TCB_POOL,
    TCB_POOL_DOMAINS,
    UNTYPED_POOL,
)
from camkes.model.system import Instance, System
from camkes.model.units import PAGE, round_up

_TREE = BootRecord("FDT")

#: log2 of the bytes of an untyped object
_UNTYPED_BITS = range(4, 29)

#: settings of an instance, or of its interfaces, that ask for something here
_UNTYPED_POOL = UNTYPED_POOL.name.replace("_", r"(\d+)_")
_NAMES = (DMA_POOL, TCB_POOL, EP_POOL, NOTIFICATION_POOL, DTB, ALLOWED_SMC_FUNCTIONS)
_ASKING = re.compile("|".join((_UNTYPED_POOL, *(known.name for known in _NAMES))))


def allocate_pools(
    system: System, model: CapabilityModel, frames: tuple[int, ...], reader: SettingReader
) -> CapabilityModel:
    """The model with what settings ask for besides. `frames` are the sizes that memory for devices may be
    made of, the smallest first."""
    allocation = _PoolAllocator(system, model, frames, reader)
    asking = (i for i in system.instances if not i.type.hardware and _asks(system, i))
    return allocation.model(tuple(allocation.instance(i) for i in asking))


def _asks(system: System, instance: Instance) -> bool:
    names = {*instance.settings, *(a.name for a in instance.type.attributes if a.default is not None)}
    for interface in instance.type.interfaces:
        names.update(system.other_settings.get(f"{instance.name}.{interface.name}", ()))
    return any(_ASKING.fullmatch(name) for name in names)


class _PoolAllocator:
    def __init__(
        self, system: System, model: CapabilityModel, frames: tuple[int, ...], reader: SettingReader
    ) -> None:
        self.system = system
        self.base = model
        self.frames = frames
        self.reader = reader
        self.objects: list[KernelObject] = []
        self.spaces: dict[str, Space] = {space.name: space for space in model.spaces}
        self.used = model.slots_used()
        self.slots = dict(model.slots)
        self.with_tree: set[str] = set()

    def model(self, pools: tuple[Pools, ...]) -> CapabilityModel:
        return replace(
            self.base,
            objects=(*self.base.objects, *self.objects),
            spaces=tuple(self.spaces.values()),
            slots=self.slots,
            pools=pools,
        )

    def instance(self, instance: Instance) -> Pools:
        dma = self._dma(instance)
        tree = self._tree(instance)
        return Pools(
            instance.name, dma, tree, tuple(self._secure_calls(instance)), tuple(self._entries(instance))
        )

    def _dma(self, instance: Instance) -> DmaPool | None:
        size = self.reader.number(instance, DMA_POOL)
        if size == 0:
            return None
        page = max((p for p in self.frames if p <= size), default=self.frames[0])
        size = round_up(size, page)
        cached = bool(self.reader.number(instance, DMA_POOL_CACHED))
        paddr = self.reader.number(instance, DMA_POOL_PADDR) or None
        region = KernelObject(f"shared::{instance.name}_dma", ObjectKind.REGION, size, paddr, page)
        self.objects.append(region)
        use = ObjectUse(instance.name, Purpose.VARIABLE, DMA_VARIABLE)
        self._map(instance, Mapping(use, region.name, Rights.RW, cached))
        slots = tuple(
            self._cap(
                instance,
                DMA_POOL.name,
                n,
                region.name,
                Rights.RW,
                frame=n,
                mapped=True,
                cached=cached,
            )
            for n in range(size // page)
        )
        return DmaPool(size, page, cached, slots)

    def _tree(self, instance: Instance) -> int:
        """One for the address space, where the variable has one value: the largest that an instance in it
        asks for, and a page more for the header that the kernel puts before it."""
        space = instance.address_space
        if space in self.with_tree or _tree_size(self.system, instance) == 0:
            return 0
        self.with_tree.add(space)
        sharing = (other for other in self.system.instances if other.address_space == space)
        size = max(_tree_size(self.system, other) for other in sharing)
        size = round_up(size) + PAGE
        region = f"shared::{instance.name}.{TREE_VARIABLE}"
        self.objects.append(KernelObject(region, ObjectKind.REGION, size, fill=(Fill(0, size, _TREE),)))
        self._map(instance, Mapping(ObjectUse("", Purpose.VARIABLE, TREE_VARIABLE), region, Rights.READ))
        return size

    def _secure_calls(self, instance: Instance) -> Iterator[tuple[int, int]]:
        for number in self.reader.numbers(instance, ALLOWED_SMC_FUNCTIONS):
            item = self._object(instance, f"smc_{number}", ObjectKind.SECURE_CALL)
            yield number, self._cap(instance, ALLOWED_SMC_FUNCTIONS.name, number, item, badge=number)

    def _entries(self, instance: Instance) -> Iterator[PoolEntry]:
        domains = self.reader.numbers(instance, TCB_POOL_DOMAINS)
        for n in range(self.reader.number(instance, TCB_POOL)):
            domain = Domain(domains[n]) if n < len(domains) else None
            item = self._object(instance, f"{TCB_POOL.name}_{n}", ObjectKind.TCB, details=domain)
            yield PoolEntry("seL4_TCBObject", self._cap(instance, TCB_POOL.name, n, item))
        for pool, type, kind in (
            (EP_POOL, "seL4_EndpointObject", ObjectKind.ENDPOINT),
            (NOTIFICATION_POOL, "seL4_NotificationObject", ObjectKind.NOTIFICATION),
        ):
            for n in range(self.reader.number(instance, pool)):
                item = self._object(instance, f"{pool.name}_{n}", kind)
                yield PoolEntry(type, self._cap(instance, pool.name, n, item, Rights.RW), 0, 3)
        for name in dict.fromkeys((*instance.settings, *(a.name for a in instance.type.attributes))):
            found = re.fullmatch(_UNTYPED_POOL, name)
            setting = effective(instance, name)
            if found is None or setting is None:
                continue
            bits = int(found.group(1))
            if bits not in _UNTYPED_BITS:
                self.reader.sink.report(
                    SETTING_RANGE,
                    f"{instance.name}.{name}: an untyped has {_UNTYPED_BITS[0]} to {_UNTYPED_BITS[-1]} bits",
                    setting.span,
                    f"asks for objects of 2 to the power of {bits} bytes",
                )
                continue
            for n in range(self.reader.number(instance, UNTYPED_POOL, name)):
                item = self._object(instance, f"untyped_{bits}_pool_{n}", ObjectKind.UNTYPED, 1 << bits)
                slot = self._cap(instance, name, n, item)
                yield PoolEntry("seL4_UntypedObject", slot, 1 << bits, 3)

    def _object(
        self,
        instance: Instance,
        name: str,
        kind: ObjectKind,
        size: int = 0,
        details: Details | None = None,
    ) -> str:
        item = KernelObject(f"{instance.name}::{name}", kind, size, details=details)
        self.objects.append(item)
        return item.name

    def _cap(
        self,
        instance: Instance,
        pool: str,
        number: int,
        name: str,
        rights: Rights = Rights.NONE,
        *,
        badge: int = 0,
        frame: int = 0,
        mapped: bool = False,
        cached: bool = True,
    ) -> int:
        space = self.spaces[instance.address_space]
        self.used[space.name] += 1
        slot = self.used[space.name]
        cap = Cap(slot, name, rights, badge, frame, mapped, cached)
        self.spaces[space.name] = replace(space, caps=(*space.caps, cap))
        self.slots[ObjectUse(instance.name, Purpose.POOL, pool, number=number)] = slot
        return slot

    def _map(self, instance: Instance, mapping: Mapping) -> None:
        space = self.spaces[instance.address_space]
        self.spaces[space.name] = replace(space, mappings=(*space.mappings, mapping))


def _tree_size(system: System, instance: Instance) -> int:
    """Bytes of the device tree that a setting of the instance, or of an interface of its that is connected to
    another of its own, was made from."""
    found = effective(instance, DTB.name)
    settings = [] if found is None else [found]
    for connection in system.connections:
        if connection.from_ends and connection.from_ends[0].instance == instance.name:
            for end in connection.to_ends:
                own = system.other_settings.get(end.name, {})
                settings += [own[DTB.name]] if end.instance == instance.name and DTB.name in own else []
    sizes = [0]
    for setting in settings:
        match setting.value:
            case {"dtb_size": [int(size), *_]}:
                sizes.append(size)
    return sizes[-1]
