# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What CMake passes to the tool for an application, without CMake."""

from __future__ import annotations

from pathlib import Path

#: a PC, every option as it is by itself, nothing declared
USUAL: dict[str, object] = {
    "architecture": "x86_64",
    "platform": "pc99",
    "generic_timer": False,
    "three_levels": False,
    "kernel_settings": {},
    "timer_frequency": "",
    "kernel_dtb": "",
    "import_paths": [],
    "cpp": True,
    "cpp_flags": [],
    "allow_forward_references": False,
    "dtb": "",
    "gpio_list": "",
    "fault_handlers": True,
    "heap_size": 65536,
    "trace": True,
    "mcs": False,
    "large_frames": True,
    "tcb_caps": True,
    "verbose": False,
    "verification": False,
    "priority": 254,
    "stack_size": 16384,
    "affinity": 0,
    "builds": [],
    "template_paths": [],
    "connectors": {},
    "large_dma_frames": False,
}


def project(adl: Path, output: Path, **given: object) -> dict[str, object]:
    """The description of an application; `given` is what is not as usual."""
    return {"adl": str(adl), "output": str(output), **USUAL, **given}
