# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
set(KernelArmCPU cortex-a53 CACHE STRING "" FORCE)
set(QEMU_MEMORY "2048")
set(LibUSB OFF CACHE BOOL "" FORCE)
foreach(option VmInitRdFile VmPCISupport VmVirtioNetVirtqueue)
    set(${option} ON CACHE BOOL "" FORCE)
endforeach()
