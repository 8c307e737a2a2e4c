# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The C code of images, and how checkers of code compile it without seL4's libraries."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from camkes.capdl.model import DmaPool, PoolEntry, Pools
from camkes.generate.render import Renderer
from camkes.resources import HOST_KERNEL, RUNTIME, SEL4_KERNEL
from tests.runtime.generated import Code, flags
from tests.written import write_files

_LIBRARIES = Path(__file__).parent / "sel4_libraries.h"
_PLATFORM = RUNTIME / "src" / "platform" / "sel4"
_CLOCK = _PLATFORM / "clock_sel4.c"
_TIMERS = SEL4_KERNEL / "timer"
#: headers of seL4's libraries of which nothing is needed but that they are there
_EMPTY = (
    *("arch_stdio.h", "autoconf.h", "camkes/pid.h", "camkes/syscalls.h", "sel4camkes/gen_config.h"),
    *("sel4runtime.h", "sel4runtime/gen_config.h", "sel4runtime/start.h"),
)
#: definitions of a machine, and the code that only such a machine has
_MACHINES = (
    (("CONFIG_ARCH_X86", "CONFIG_ARCH_X86_64"), (_CLOCK, _TIMERS / "pit.c")),
    (
        ("CONFIG_ARCH_ARM", "CONFIG_ARCH_AARCH64", "CONFIG_EXPORT_VCNT_USER"),
        (_CLOCK, _TIMERS / "arm_generic.c"),
    ),
    (("CONFIG_ARCH_ARM", "CONFIG_PLAT_IMX6"), (_CLOCK, _TIMERS / "imx_gpt.c")),
    (("CONFIG_ARCH_RISCV", "__riscv_xlen=64"), (_CLOCK, _TIMERS / "goldfish.c")),
)
_OF_POOLS = ("autoconf.h", "camkes.h", "camkes/allocator.h", "camkes/dma.h", "muslcsys/vsyscall.h")
_OF_POOLS += ("sel4muslcsys/gen_config.h", "utils/util.h")
#: all that settings of an instance can ask for
_POOLS = Pools(
    "client",
    DmaPool(8192, 4096, False, (5, 6)),
    4096,
    ((1, 7), (2, 8)),
    (PoolEntry("seL4_TCBObject", 9), PoolEntry("seL4_UntypedObject", 10, 4096, 1)),
)
#: an image that prints what it records
RECORDED = ("CAMKES_TRACE_SEL4", "CONFIG_DEBUG_BUILD", "CONFIG_PRINTING")


def of_host(*, mcs: bool) -> list[Code]:
    """The runtime, for the host kernel."""
    sources = sorted((RUNTIME / "src").rglob("*.c"))
    return [Code(source, flags(mcs)) for source in sources if not source.name.endswith("_sel4.c")]


def of_sel4(headers: Path, *, mcs: bool, defined: tuple[str, ...] = ()) -> Iterator[Code]:
    """The runtime and the drivers, for seL4; folder `headers` gets headers that are not there otherwise."""
    write_files(headers, dict.fromkeys(_EMPTY, ""))

    def code(source: Path, *machine: str) -> Code:
        definitions = ("CAMKES_KERNEL_HOST=0", *(("CONFIG_KERNEL_MCS",) if mcs else ()), *machine, *defined)
        folders = (RUNTIME / "include", SEL4_KERNEL, _PLATFORM, HOST_KERNEL / "include", headers)
        words = (*(f"-D{each}" for each in definitions), *(f"-I{each}" for each in folders))
        return Code(source, ("-std=gnu11", *words, "-include", str(_LIBRARIES)))

    machine, _ = _MACHINES[0]
    sources = [s for s in sorted((RUNTIME / "src").rglob("*.c")) if "host" not in s.parts and s != _CLOCK]
    sources += [_TIMERS / "timer.c", *sorted((SEL4_KERNEL / "heap").glob("*.c"))]
    sources += [SEL4_KERNEL / "trace" / "printer.c"] if "CONFIG_PRINTING" in defined else []
    yield from (code(source, *machine) for source in sources)
    yield from (code(source, *machine) for machine, sources in _MACHINES for source in sources)


def pools(folder: Path) -> Code:
    """What is generated for the pools of an instance on seL4; folder `folder` gets it, and its headers."""
    write_files(folder, dict.fromkeys(_OF_POOLS, ""))
    write_files(folder, {"camkes.sel4.c": Renderer().render("pools.template.c", _POOLS)})
    definitions = ("-DCAMKES_KERNEL_HOST=0", "-DCONFIG_ALLOW_SMC_CALLS")
    folders = (f"-I{RUNTIME / 'include'}", f"-I{HOST_KERNEL / 'include'}", f"-I{folder}")
    return Code(folder / "camkes.sel4.c", ("-std=gnu11", *definitions, *folders, "-include", str(_LIBRARIES)))
