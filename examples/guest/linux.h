/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The memory and the devices of the virtual machine vm0, which has Linux */
#pragma once

#include <configurations/vm.h>

#define LINUX_COMPOSITION()                                                                                \
    VM_GENERAL_COMPOSITION_DEF()                                                                           \
    VM_COMPOSITION_DEF(0)                                                                                  \
    connection seL4VMDTBPassthrough vm_dtb(from vm0.dtb_self, to vm0.dtb);

#define LINUX_CONFIGURATION()                                                                              \
    VM_GENERAL_CONFIGURATION_DEF()                                                                         \
    VM_CONFIGURATION_DEF(0)                                                                                \
    vm0.num_extra_frame_caps = 0;                                                                          \
    vm0.extra_frame_map_address = 0;                                                                       \
    vm0.cnode_size_bits = 23;                                                                              \
    vm0.simple_untyped24_pool = 12;                                                                        \
    vm0.linux_address_config = {                                                                           \
        "linux_ram_base": "0x40000000",                                                                    \
        "linux_ram_paddr_base": "0x40000000",                                                              \
        "linux_ram_size": "0x20000000",                                                                    \
        "linux_ram_offset": "0x00000000",                                                                  \
        "dtb_addr": "0x4F000000",                                                                          \
        "initrd_max_size": "0x1900000",                                                                    \
        "initrd_addr": "0x4D700000"                                                                        \
    };                                                                                                     \
    vm0.linux_image_config = {"linux_bootcmdline": "", "linux_stdout": "/pl011@9000000"};                  \
    vm0.num_vcpus = 1;                                                                                     \
    vm0.dtb = dtb([{"path": "/pl011@9000000"}]);                                                           \
    vm0.untyped_mmios = ["0x8040000:12", "0x40000000:29"];
