# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The platforms for which tests build images, with the QEMU that each needs and its settings."""

PLATFORMS: dict[str, tuple[str, dict[str, str]]] = {
    "x86_64": ("qemu-system-x86_64", {"PLATFORM": "x86_64"}),
    "ia32": ("qemu-system-i386", {"PLATFORM": "ia32"}),
    "qemu-arm-virt": ("qemu-system-aarch64", {"PLATFORM": "qemu-arm-virt"}),
    "qemu-arm-virt-32": ("qemu-system-arm", {"PLATFORM": "qemu-arm-virt", "AARCH32": "1"}),
    "sabre": ("qemu-system-arm", {"PLATFORM": "sabre", "AARCH32": "1"}),
    "qemu-riscv-virt": ("qemu-system-riscv64", {"PLATFORM": "qemu-riscv-virt", "RISCV64": "1"}),
}

#: those for which images for an MCS kernel are built
MCS_PLATFORMS = ("x86_64", "qemu-arm-virt", "qemu-riscv-virt")

#: those of which the images of an SDK are compared and booted
SDK_PLATFORMS = ("x86_64", "qemu-arm-virt", "qemu-riscv-virt")
