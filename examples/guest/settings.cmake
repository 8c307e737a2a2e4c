# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
set(KernelNumDomains 2 CACHE STRING "" FORCE)
set(KernelTimerTickMS 1 CACHE STRING "" FORCE)
# releases of tasks are driven by the physical timer of the core
set(KernelArmExportPTMRUser ON CACHE BOOL "" FORCE)
set(LibUSB OFF CACHE BOOL "" FORCE)
if("${PLATFORM}" STREQUAL "qemu-arm-virt")
    set(QEMU_MEMORY "2048")
    set(KernelArmCPU cortex-a53 CACHE STRING "" FORCE)
    set(VmInitRdFile ON CACHE BOOL "" FORCE)
endif()
