# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Settings that templates and the tool read by well-known names, though no component declares them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from camkes.model.settings import TABLE, UNTYPED_POOL, WCET, WCETS
from camkes.resolve.words.nearest import nearest


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _of(*owners: str) -> frozenset[str]:
    """The settings that the tool reads of these."""
    return frozenset(known.name for known in TABLE.values() if known.owner in owners)


#: Suffixes for a thread: `_x` is the control thread's, `IFACE_x` an interface's, `x` everyone's.
_THREAD = _of("thread")

#: Suffixes for an interface, a mutex or a semaphore: `NAME_x`; after the tool's, those of templates.
_MEMBER = _of("interface", "semaphore", "condition", "connection") | _words(
    """
    cache_op dma_pool dma_pool_cached global_endpoint hardware_cached id irq_handle irq_ioapic
    irq_ioapic_pin irq_level irq_number irq_pci_bus irq_pci_dev irq_pci_fun irq_polarity irq_target
    irq_trigger irq_type irq_vector mac partitions pins port ports shmem_size spi_number topology
    """
)

#: Names for an instance as a whole; after the tool's, those of templates.
_INSTANCE = (
    _of("instance") - {UNTYPED_POOL.name}  # its names have a size in them
    | _words(
        """
        allocator_mempool_size asid_pool cnode_size_bits connection_name debug dtb dtb_irqs enable_tracing
        environment exclude_paddr faultbudget faultdata faultperiod faultsize_bits fdt_bind_driver_paths
        global_endpoint_base global_endpoint_mask global_rpc_endpoint_base global_rpc_endpoint_mask
        guest_mappings init_cons integrity_label iospace_domain iospace_id iospaces ioports irqs mmios
        num_client_recv_bufs number_tracepoints pci_bdf pci_devices pci_devices_iospace plat_keep_devices
        plat_keep_devices_and_subtree ram rump_config sched_ctrl simple simple_extra_bootinfo
        single_threaded smmu untyped_mmios vm_ioports vm_irqs
        """
    )
)

_POOLS = r"(simple_)?untyped\d+_pool"

_WHOLE = _INSTANCE | _THREAD | {f"_{name}" for name in _THREAD}
_SUFFIXES = _MEMBER | _THREAD


def is_known(setting: str, members: Iterable[str], methods: Iterable[str] = ()) -> bool:
    """Whether `setting` is a well-known name for an instance with these interfaces and locks. `methods` are
    those that it provides: IFACE_METHOD."""
    if setting in _WHOLE or re.fullmatch(_POOLS, setting) or setting in _of_methods(methods):
        return True
    return any(
        setting.startswith(member) and setting[len(member) :].startswith("_") and _suffix(setting, member)
        for member in members
    )


def _suffix(setting: str, member: str) -> bool:
    """Templates of an application can read `NAME_anything`; only a slip of a known word is suspicious."""
    suffix = setting[len(member) + 1 :]
    if suffix in _SUFFIXES:
        return True
    return nearest(suffix, _SUFFIXES) is None


def candidates(members: Iterable[str], methods: Iterable[str] = ()) -> list[str]:
    """Well-known names for an instance with these interfaces, locks and methods, in no order."""
    named = [f"{member}_{suffix}" for member in members for suffix in _SUFFIXES]
    return [*_WHOLE, *named, *_of_methods(methods)]


def _of_methods(methods: Iterable[str]) -> list[str]:
    return [known.of(f"{method}_") for method in methods for known in (WCET, *WCETS)]
