# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
#
# cmake -C: the platform of an application outside of the workspace, built in the workspace CAMKES_WORKSPACE.

cmake_minimum_required(VERSION 3.16)

set(CAMKES_WORKSPACE "" CACHE PATH "A workspace as repo-init.sh makes it")
set(CAMKES_APPLICATION "" CACHE PATH "The folder of the application")
set(PLATFORM "x86_64" CACHE STRING "Platform as seL4 names it")
option(SIMULATION "Build for QEMU" ON)
option(RELEASE "Optimise, without debugging; output only with KernelPrinting=ON" OFF)

foreach(folder CAMKES_WORKSPACE CAMKES_APPLICATION)
    if(NOT IS_DIRECTORY "${${folder}}")
        message(FATAL_ERROR "${folder} must be a folder, not '${${folder}}'")
    endif()
endforeach()

set(project_dir "${CAMKES_WORKSPACE}")
file(GLOB packages "${CAMKES_WORKSPACE}/projects/*")
list(
    APPEND
    CMAKE_MODULE_PATH
    "${CAMKES_WORKSPACE}/kernel"
    "${CAMKES_WORKSPACE}/tools/seL4/cmake-tool/helpers"
    "${CAMKES_WORKSPACE}/tools/seL4/elfloader-tool"
    ${packages}
)
set(OPENSBI_PATH "${CAMKES_WORKSPACE}/tools/opensbi" CACHE PATH "Firmware of RISC-V machines")
set(PICOTCP_PATH "${CAMKES_WORKSPACE}/projects/picotcp" CACHE PATH "Network stack of components that want it")
set(SEL4_CACHE_DIR "${CAMKES_WORKSPACE}/.sel4_cache" CACHE PATH "Where libraries are kept that were built")
set(SEL4_CONFIG_DEFAULT_ADVANCED ON)

include(application_settings)
correct_platform_strings()
find_package(seL4 REQUIRED)
sel4_configure_platform_settings()
if(SIMULATION)
    ApplyCommonSimulationSettings(${KernelSel4Arch})
endif()
# A release kernel prints nothing by default; what components print and a recorded run go through it.
if(KernelPrinting OR CAmkESTrace)
    set(printing ON)
else()
    set(printing OFF)
endif()
ApplyCommonReleaseVerificationSettings(${RELEASE} FALSE)
if(RELEASE)
    set(KernelPrinting ${printing} CACHE BOOL "" FORCE)
endif()
if(KernelSel4ArchAarch32)
    # where the C library of 32-bit Arm looks for thread-local data
    set(KernelArmTLSReg tpidruro CACHE STRING "Register of thread-local data" FORCE)
endif()
set(overlay "${CMAKE_CURRENT_LIST_DIR}/without-seeds.dts")
if(KernelPlatform MATCHES "^qemu-" AND NOT overlay IN_LIST KernelCustomDTSOverlay)
    list(APPEND KernelCustomDTSOverlay "${overlay}")
    set(KernelCustomDTSOverlay "${KernelCustomDTSOverlay}" CACHE STRING "Added to the device tree" FORCE)
endif()
if(CAmkESTrace AND SIMULATION AND KernelPlatform STREQUAL "pc99")
    # QEMU counts instructions then, and time-stamp counter and local timer both have 1 GHz. Measured, the counter has
    # 999 MHz, from which an MCS kernel concludes that the timer compares with the counter, and the end of a budget
    # causes no interrupt.
    set(KernelPC99TSCFrequency 1000000000 CACHE STRING "Frequency of the time-stamp counter" FORCE)
endif()

# Settings of the application.
include("${CAMKES_APPLICATION}/settings.cmake" OPTIONAL)
