# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Resources that settings of an instance request: DMA memory, a device tree, objects to allocate from.

Only a build for seL4 has these; `templates/pools.template.c` writes them down.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from camkes.capdl import uses
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
    PoolEntry,
    Pools,
    Space,
)
from camkes.model.settings import ALLOWED_SMC_FUNCTIONS, DMA_POOL, EP_POOL, NOTIFICATION_POOL, TCB_POOL
from camkes.model.system import Instance, System
from camkes.model.units import PAGE, round_up

_TREE = BootRecord("CDL_FrameFill_BootInfo_FDT")

#: settings of an instance that ask for something here, besides pools of untypeds and device trees
_ASKING = {known.name for known in (DMA_POOL, TCB_POOL, EP_POOL, NOTIFICATION_POOL, ALLOWED_SMC_FUNCTIONS)}


def allocate_pools(system: System, model: CapabilityModel, frames: tuple[int, ...]) -> CapabilityModel:
    """The model with what settings ask for besides. `frames` are the sizes that memory for devices may be
    made of, the smallest first."""
    allocation = _PoolAllocator(system, model, frames)
    asking = (i for i in system.instances if not i.type.hardware and _asks(i))
    return allocation.model(tuple(allocation.instance(i) for i in asking))


def _asks(instance: Instance) -> bool:
    configured = instance.configured
    nodes = (configured.dtb, *(each.dtb for each in configured.interfaces.values()))
    pools = configured.untyped_pools or not _ASKING.isdisjoint(configured.spans)
    return bool(pools) or any(node is not None for node in nodes)


class _PoolAllocator:
    def __init__(self, system: System, model: CapabilityModel, frames: tuple[int, ...]) -> None:
        self.system = system
        self.base = model
        self.frames = frames
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
        configured = instance.configured
        size = configured.dma_pool
        if size == 0:
            return None
        page = max((p for p in self.frames if p <= size), default=self.frames[0])
        size = round_up(size, page)
        cached = bool(configured.dma_pool_cached)
        paddr = configured.dma_pool_paddr or None
        region = KernelObject(f"shared::{instance.name}_dma", ObjectKind.REGION, size, paddr, page)
        self.objects.append(region)
        use = uses.Variable(instance.name, DMA_VARIABLE)
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
        self._map(instance, Mapping(uses.Variable("", TREE_VARIABLE), region, Rights.READ))
        return size

    def _secure_calls(self, instance: Instance) -> Iterator[tuple[int, int]]:
        for number in instance.configured.allowed_smc_functions:
            item = self._object(instance, f"smc_{number}", ObjectKind.SECURE_CALL)
            yield number, self._cap(instance, ALLOWED_SMC_FUNCTIONS.name, number, item, badge=number)

    def _entries(self, instance: Instance) -> Iterator[PoolEntry]:
        configured = instance.configured
        domains = configured.tcb_pool_domains
        for n in range(configured.tcb_pool):
            domain = Domain(domains[n]) if n < len(domains) else None
            item = self._object(instance, f"{TCB_POOL.name}_{n}", ObjectKind.TCB, details=domain)
            yield PoolEntry("seL4_TCBObject", self._cap(instance, TCB_POOL.name, n, item))
        for pool, count, type, kind in (
            (EP_POOL, configured.ep_pool, "seL4_EndpointObject", ObjectKind.ENDPOINT),
            (
                NOTIFICATION_POOL,
                configured.notification_pool,
                "seL4_NotificationObject",
                ObjectKind.NOTIFICATION,
            ),
        ):
            for n in range(count):
                item = self._object(instance, f"{pool.name}_{n}", kind)
                yield PoolEntry(type, self._cap(instance, pool.name, n, item, Rights.RW), 0, 3)
        for each in configured.untyped_pools:
            for n in range(each.count):
                size = 1 << each.bits
                item = self._object(instance, f"untyped_{each.bits}_pool_{n}", ObjectKind.UNTYPED, size)
                yield PoolEntry("seL4_UntypedObject", self._cap(instance, each.name, n, item), size, 3)

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
        self.slots[uses.PoolObject(instance.name, pool, number)] = slot
        return slot

    def _map(self, instance: Instance, mapping: Mapping) -> None:
        space = self.spaces[instance.address_space]
        self.spaces[space.name] = replace(space, mappings=(*space.mappings, mapping))


def _tree_size(system: System, instance: Instance) -> int:
    """Bytes of the device tree that a setting of the instance, or of an interface of its that is connected to
    another of its own, was made from."""
    nodes = [instance.configured.dtb]
    for connection in system.connections:
        if connection.from_ends and connection.from_ends[0].instance == instance.name:
            own = (end.interface for end in connection.to_ends if end.instance == instance.name)
            nodes += [instance.configured.interface(name).dtb for name in own]
    sizes = [node.size for node in nodes if node is not None and node.size]
    return sizes[-1] if sizes else 0
