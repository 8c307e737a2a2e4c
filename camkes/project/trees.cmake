# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
# cmake -P: writes to CAMKES_OUTPUT which files are the device tree of a platform, as the kernel of CAMKES_WORKSPACE
# puts them together for PLATFORM and other definitions of a build.

cmake_minimum_required(VERSION 3.16)
set(kernel "${CAMKES_WORKSPACE}/kernel")
list(APPEND CMAKE_MODULE_PATH "${kernel}" "${CAMKES_WORKSPACE}/tools/seL4/cmake-tool/helpers")
include(application_settings)
correct_platform_strings()
include("${kernel}/configs/seL4Config.cmake")
if(KernelCustomDTS)
    set(KernelDTSList "${KernelCustomDTS}")
endif()
list(APPEND KernelDTSList ${KernelCustomDTSOverlay})
set(files "")
foreach(file IN LISTS KernelDTSList)
    get_filename_component(file "${file}" ABSOLUTE BASE_DIR "${kernel}")
    list(APPEND files "${file}")
endforeach()
list(JOIN files "\n" files)
file(WRITE "${CAMKES_OUTPUT}" "${files}")
