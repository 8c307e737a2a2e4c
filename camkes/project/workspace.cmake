# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
# Included after the first project() if a workspace is named (CAMKES_WORKSPACE): its packages set the variables by
# which applications include their helpers, and packages of components declare these. Packages of the kernel, of
# libraries and of the tool are not read: recorder.cmake has what they would define.

file(GLOB camkes_folders "${CAMKES_WORKSPACE}/projects/*")
list(
    APPEND
    CMAKE_MODULE_PATH
    ${camkes_folders}
    "${CAMKES_WORKSPACE}/kernel"
    "${CAMKES_WORKSPACE}/tools/seL4/cmake-tool/helpers"
)
include("${CAMKES_WORKSPACE}/kernel/tools/helpers.cmake" OPTIONAL)
include("${CMAKE_CURRENT_LIST_DIR}/config.cmake") # without the programs of the workspace
foreach(folder IN LISTS camkes_folders)
    file(GLOB camkes_found "${folder}/Find*.cmake")
    foreach(file IN LISTS camkes_found)
        get_filename_component(name "${file}" NAME_WE)
        string(REGEX REPLACE "^Find" "" name "${name}")
        if(NOT name MATCHES "^(camkes-tool|capdl|musllibc|seL4.*|sel4.*|util_libs|projects_libs)$")
            list(APPEND camkes_packages "${name}")
        endif()
    endforeach()
endforeach()
include("${CAMKES_WORKSPACE}/tools/camkes-tool/components/components.cmake" OPTIONAL)
# parts of templates that other packages use
foreach(folder IN ITEMS tools/camkes-tool projects/camkes-tool)
    if(EXISTS "${CAMKES_WORKSPACE}/${folder}/camkes/templates/rpc-connector.c")
        CAmkESAddTemplatesPath("${CAMKES_WORKSPACE}/${folder}/camkes/templates")
        break()
    endif()
endforeach()
foreach(name IN LISTS camkes_packages)
    _find_package(${name} QUIET)
endforeach()
foreach(name IN LISTS camkes_packages)
    string(REPLACE "-" "_" name "${name}")
    if(name MATCHES "_arm_" AND NOT KernelArch STREQUAL "arm")
        continue()
    elseif(COMMAND ${name}_import_project)
        cmake_language(CALL ${name}_import_project)
        cmake_language(EVAL CODE "macro(${name}_import_project)\nendmacro()") # once, whoever asks
    endif()
endforeach()

# Queues in shared memory are plain C, in libraries that are packages on seL4.
set(camkes_queues "${CAMKES_WORKSPACE}/projects/projects_libs/libvirtqueue")
file(
    GLOB
    camkes_found
    "${CAMKES_WORKSPACE}/*/camkes-tool/libsel4camkes/src/virtqueue*.c"
    "${CAMKES_WORKSPACE}/*/camkes-tool/libsel4camkes/src/msgqueue*.c"
)
if(camkes_found AND EXISTS "${camkes_queues}/CMakeLists.txt" AND NOT TARGET virtqueue)
    add_subdirectory("${camkes_queues}" "${CMAKE_CURRENT_BINARY_DIR}/camkes_queues" EXCLUDE_FROM_ALL)
    target_sources(
        virtqueue PRIVATE ${camkes_found} "${CAMKES_HOST_KERNEL}/workspace/malloc_ops.c"
    )
endif()
