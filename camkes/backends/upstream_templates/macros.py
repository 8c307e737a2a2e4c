# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
# ruff: noqa: N802 -- names that templates use
"""The object `macros` of templates: small computations about C types, memory, badges and device trees."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from camkes.backends.upstream_templates.view import CompositionView, EndView, IncludeView, StructView
from camkes.model.architectures import ARCHITECTURES
from camkes.model.connectors import VIRTUAL_QUEUES, support
from camkes.model.limits import WORDS
from camkes.model.units import PAGE, round_up

PAGE_SIZE = PAGE

_K, _M, _G = 1 << 10, 1 << 20, 1 << 30

#: sizes of frames by seL4's name of the architecture, the smallest first
PAGES = {
    "ia32": (4 * _K, 4 * _M),
    "x86_64": (4 * _K, 2 * _M, _G),
    "aarch32": (4 * _K, 64 * _K, _M, 16 * _M),
    "arm_hyp": (4 * _K, 64 * _K, 2 * _M, 32 * _M),
    "aarch64": (4 * _K, 2 * _M, _G),
    "riscv32": (4 * _K, 4 * _M),
    "riscv64": (4 * _K, 2 * _M, _G),
}
_ARM = frozenset({"aarch32", "arm_hyp", "aarch64"})


class TemplateError(Exception):
    """The exception that a template raises for an error in the system."""


# C


def generated_file_notice() -> str:
    return "Generated: edits are lost."


def show_includes(includes: Iterable[IncludeView], prefix: str = "") -> str:
    lines = (f'#include "{prefix}{i.source}"' if i.relative else f"#include <{i.source}>" for i in includes)
    return "".join(f"{line}\n" for line in lines)


_C_TYPES = {"string": "char *", "character": "char", "boolean": "bool"}


def show_type(kind: str | StructView) -> str:
    return f"struct {kind.name}" if isinstance(kind, StructView) else _C_TYPES.get(kind, kind)


def dataport_size(kind: str) -> str:
    """A C expression."""
    sized = re.fullmatch(r"Buf\((\d+)\)", kind)
    return sized.group(1) if sized else f"sizeof({show_type(kind)})"


def dataport_type(kind: str) -> str:
    return "void" if re.fullmatch(r"Buf\((\d+)\)", kind) else show_type(kind)


def type_to_fit_integer(value: int) -> str:
    """The smallest unsigned type that can count so many."""
    for bits in (8, 16, 32, 64):
        if value <= 1 << bits:
            return f"uint{bits}_t"
    raise TemplateError(f"no C type has {value} values")


def shared_buffer_symbol(sym: str, shmem_size: int | str, page_size: int) -> str:
    """A variable of whole pages, in the section that the linker aligns so; the size may be C."""
    bits = int(page_size).bit_length() - 1
    whole = f"ROUND_UP_UNSAFE({shmem_size}, {page_size})"
    attributes = f'aligned({page_size}), section("align_{bits}bit"), visibility("default"), used'
    return f"struct {{ char content[{whole}]; }} {sym} __attribute__(({attributes}));\n"


_SIZES = {"Buf": PAGE} | {f"{sign}int{bits}_t": bits // 8 for sign in ("", "u") for bits in (8, 16, 32, 64)}


def sizeof(arch: str, kind: Any) -> int:
    """Bytes of a type or parameter, where they are known."""
    return _SIZES[kind if isinstance(kind, str) else kind.type]


# numbers and pages


def ROUND_UP(x: int, y: int) -> int:
    return round_up(x, y)


def ROUND_DOWN(x: int, y: int) -> int:
    return x // y * y


def page_sizes(arch: str) -> list[int]:
    return list(PAGES[arch])


def get_page_size(size: int | str, arch: str) -> int:
    """The largest frames that `size` bytes are a whole number of; 0: there are none. dataport_size() gives
    the size of a Buf as a string."""
    whole = [page for page in PAGES[arch] if int(size) >= page and int(size) % page == 0]
    return max(whole, default=0)


def next_page_multiple(size: int, arch: str) -> int:
    return max(PAGES[arch][0], ROUND_UP(size, PAGES[arch][0]))


def align_page_address(address: int, arch: str) -> int:
    return ROUND_DOWN(address, PAGES[arch][0])


def get_word_size(arch: str) -> int:
    """Bytes."""
    return ARCHITECTURES[arch].word_bits // 8


def get_untypeds_from_range(start: int, size: int) -> list[tuple[int, int]]:
    """Aligned blocks, as (address, bits), that are together the range."""
    blocks = []
    while size > 0:
        bits = size.bit_length() - 1
        if start:
            bits = min(bits, (start & -start).bit_length() - 1)
        blocks.append((start, bits))
        start += 1 << bits
        size -= 1 << bits
    return blocks


# settings


def get_perm(configuration: Mapping[str, Mapping[str, Any]], instance_name: str, interface_name: str) -> str:
    """The access rights that a setting gives a dataport, else all."""
    rights = configuration[instance_name].get(f"{interface_name}_access") or "RWXP"
    if not isinstance(rights, str) or not re.fullmatch("R?W?X?P?", rights):
        raise TemplateError(
            f"{instance_name}.{interface_name}_access must be letters out of RWXP in this order"
        )
    return rights


# badges


def _badge_bits(arch: str | None) -> int:
    return WORDS[32 if arch is None else ARCHITECTURES[arch].word_bits].badge_bits


def _single_bits(mask: int) -> Iterator[int]:
    return (1 << bit for bit in range(mask.bit_length()) if mask >> bit & 1)


def _flag(connection: Any, name: str) -> bool:
    attribute = connection.type.get_attribute(name)
    return attribute is not None and bool(attribute.default)


def global_endpoint_badges(
    composition: CompositionView, end: EndView, configuration: Mapping[str, Mapping[str, Any]], arch: str
) -> int | list[int]:
    """Badges with which the one notification of an instance is signalled for `end`: a bit for each end of
    the instance that uses it (for a device: each interrupt), out of the instance's mask, and its base."""
    instance = end.instance
    settings = configuration[instance.name]
    base: int = settings.get("global_endpoint_base", 1)
    mask = settings.get("global_endpoint_mask", ((1 << _badge_bits(arch)) - 1) & ~base)
    bits = _single_bits(mask)
    try:
        for connection in composition.connections:
            if support(connection.type.name).tree_interrupts:
                for other in connection.to_ends:
                    own = configuration[str(other)]
                    if other.instance is not instance or not own.get("generate_interrupts"):
                        continue
                    node = own["dtb"]["query"][0]
                    badges = [next(bits) | base for _ in parse_dtb_node_interrupts(node, -1, arch)]
                    if other is end:
                        return badges
            for flag, ends in (("from", connection.from_ends), ("to", connection.to_ends)):
                if not _flag(connection, f"{flag}_global_endpoint"):
                    continue
                for other in ends:
                    if other.instance is instance:
                        badge = next(bits) | base
                        if other is end:
                            return badge
    except StopIteration:
        pass
    raise TemplateError(f"no badge is left for {end}")


def global_rpc_endpoint_badges(
    composition: CompositionView, end: EndView, configuration: Mapping[str, Mapping[str, Any]]
) -> list[int]:
    """Badges with which the one endpoint of an instance is called through `end`, one for each end on the
    other side: counted from 1 within the instance's mask, and its base."""
    instance = end.instance
    settings = configuration[instance.name]
    base = settings.get("global_rpc_endpoint_base", 0)
    numbers = _within(settings.get("global_rpc_endpoint_mask", (1 << _badge_bits(None)) - 2))
    try:
        for connection in composition.connections:
            sides = (
                ("from", connection.from_ends, connection.to_ends),
                ("to", connection.to_ends, connection.from_ends),
            )
            for flag, ends, others in sides:
                if not _flag(connection, f"{flag}_global_rpc_endpoint"):
                    continue
                for own in ends:
                    if own.instance is instance:
                        badges = [next(numbers) | base for _ in others]
                        if own is end:
                            return badges
    except StopIteration:
        pass
    raise TemplateError(f"no badge is left for {end}")


def _within(mask: int) -> Iterator[int]:
    """The numbers whose bits are all in a mask, the smallest first, without 0."""
    number = 0
    while True:
        number = ((number | ~mask) + 1) & mask
        if number == 0:
            return
        yield number


def virtqueue_get_client_id(
    composition: CompositionView, end: EndView, configuration: Mapping[str, Mapping[str, Any]]
) -> int:
    """The number of `end` among its instance's ends of virtual queues: the setting's, else the next free."""
    ends = [
        other
        for connection in composition.connections
        if connection.type.name == VIRTUAL_QUEUES.name
        for other in (*connection.from_ends, *connection.to_ends)
        if other.instance is end.instance
    ]
    settings = configuration[end.instance.name]
    chosen = [settings.get(f"{other.interface.name}_id") for other in ends]
    free = (number for number in range(len(ends) + len(chosen)) if number not in chosen)
    for other, number in zip(ends, chosen, strict=True):
        own = next(free) if number is None else int(number)
        if other is end:
            return own
    raise TemplateError(f"{end} is not an end of a virtual queue")


# device trees


def parse_dtb_node_interrupts(
    node: Mapping[str, Sequence[int]], max_num_interrupts: int, arch: str
) -> list[dict[str, int]]:
    """The interrupts of a device: their numbers, and 1 where an edge triggers them.

    On Arm an interrupt is three cells, a type, a number and flags. Elsewhere it is one cell, or three of the
    same meaning if their number allows that. In `interrupts-extended`, the controller comes first.
    """
    cells = node.get("interrupts")
    extended = cells is None
    if cells is None:
        cells = node.get("interrupts_extended")
    if not cells:
        return []
    arm = arch in _ARM
    if extended:
        cells = [c for i, c in enumerate(cells) if i % 4] if arm else cells[1:]
    size = 3 if arm or len(cells) >= 3 else 1
    if not arm and len(cells) % size:
        raise TemplateError(f"{len(cells)} cells are not a multiple of the {size} cells of an interrupt")
    count = len(cells) // size
    if max_num_interrupts not in (-1, None) and count > max_num_interrupts:
        raise TemplateError(f"the device has {count} interrupts; at most {max_num_interrupts} are possible")
    return [_interrupt(cells[i * size : (i + 1) * size], arm) for i in range(count)]


def _interrupt(cells: Sequence[int], arm: bool) -> dict[str, int]:
    for cell in cells:
        if not isinstance(cell, int):
            raise TemplateError(f'"{cell}" in an interrupt is not a number')
    if len(cells) == 1:
        return {"irq": cells[0], "trigger": 1}
    kind, number, flags = cells
    shared = arm and kind == 0
    edge = flags < 4 if arm else bool(flags & 3)
    return {"irq": number + 32 if shared else number, "trigger": int(edge)}


def min_untyped_size(arch: str) -> int:
    return 4


def max_untyped_size(arch: str) -> int:
    return 29 if ARCHITECTURES[arch].word_bits == 32 else 47


def is_arch_arm(arch: str) -> bool:
    return arch in _ARM


# proofs


def check_isabelle_outfile(theory: str, file: str) -> str:
    if theory != file.rpartition("/")[2].removesuffix(".thy"):
        raise TemplateError(f"theory {theory} cannot be in a file of another name")
    return ""


def isabelle_ident(name: str) -> str:
    """A name as capDL-tool writes it in theories."""
    return name.replace(".", "'")


def integrity_group_labels(
    composition: CompositionView, configuration: Mapping[str, Mapping[str, Any]]
) -> dict[str, str]:
    """The labels of instances and connections that are not their names: of instances in an address space of
    another name or with an `integrity_label`, and of connections between ends of one label."""
    direct = {i.name: i.address_space for i in composition.instances if i.address_space != i.name}
    for instance in composition.instances:
        label = configuration[instance.name].get("integrity_label")
        if label is not None:
            direct[instance.name] = str(label)

    def last(name: str) -> str:
        seen = [name]
        while seen[-1] in direct and direct[seen[-1]] != seen[-1]:
            seen.append(direct[seen[-1]])
            if seen[-1] in seen[:-1]:
                raise TemplateError(f"integrity labels refer to each other: {', '.join(seen)}")
        return seen[-1]

    labels = {name: last(name) for name in direct}
    for connection in composition.connections:
        ends = {last(end.instance.name) for end in (*connection.from_ends, *connection.to_ends)}
        if len(ends) == 1:
            labels[connection.name] = ends.pop()
    return labels
