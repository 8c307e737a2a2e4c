# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
#
# find_package(camkes-tool): the functions with which an application declares its components, and
# camkes_tool_setup_camkes_build_environment(), which brings in kernel, libraries and this tool.

cmake_minimum_required(VERSION 3.18)

set(CAMKES_TOOL_DIR "${CMAKE_CURRENT_LIST_DIR}" CACHE PATH "Where camkes-rt is")

# libsel4camkes, device components and hardware connectors are camkes-tool's own, in a folder that no
# find_package looks into.
get_filename_component(_camkes_workspace "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
set(CAMKES_UPSTREAM_DIR "${_camkes_workspace}/tools/camkes-tool" CACHE PATH "Where camkes-tool is")
unset(_camkes_workspace)
mark_as_advanced(CAMKES_TOOL_DIR CAMKES_UPSTREAM_DIR)

option(CAmkESNoFPUByDefault "Compile without use of the floating-point unit (x86 only)" OFF)
mark_as_advanced(CAmkESNoFPUByDefault)

macro(camkes_tool_import_libraries)
    add_subdirectory("${CAMKES_UPSTREAM_DIR}/libsel4camkes" camkes-tool/libsel4camkes)
    add_subdirectory("${CAMKES_TOOL_DIR}/kernel/sel4" camkes-tool/runtime)
endmacro()

# A macro: what it finds and sets is for the whole project.
macro(camkes_tool_setup_camkes_build_environment)
    foreach(
        _camkes_package
        seL4
        elfloader-tool
        musllibc
        util_libs
        seL4_libs
        projects_libs
        capdl
    )
        find_package(${_camkes_package} REQUIRED)
    endforeach()
    include("${CAMKES_TOOL_DIR}/cmake/workspace.cmake")
    camkes_check_workspace()
    include("${CAMKES_TOOL_DIR}/cmake/options.cmake")
    camkes_set_platform_defaults()
    if(CAmkESCapDLStaticAlloc)
        SetCapDLLoaderStaticAlloc()
        # at the end of memory, so that what the kernel leaves below it does not depend on its size
        SetElfloaderRootserversLast()
    endif()

    add_compile_options(${CAMKES_FILE_NAMES}) # if the project gives files other names
    sel4_import_kernel()
    elfloader_import_project()

    include("${CAMKES_TOOL_DIR}/cmake/camkes.cmake")

    # The C library calls constructors of this and later priorities once system calls work.
    config_set(LibSel4MuslcSysConstructorPriority LIB_SEL4_MUSLC_SYS_CONSTRUCTOR_PRIORITY 201)
    # The C library is kept for other builds by its options, and has no names of files.
    camkes_remove_compile_options(${CAMKES_FILE_NAMES})
    musllibc_setup_build_environment_with_sel4runtime()
    add_compile_options(${CAMKES_FILE_NAMES})
    camkes_add_compile_options_beside(sel4runtime ${CAMKES_FILE_NAMES}) # it came with the C library
    if(CAmkESNoFPUByDefault AND KernelArchX86)
        add_compile_options(-mgeneral-regs-only -mno-sse -mno-80387 -mno-fp-ret-in-387)
    endif()
    # in the order of their dependencies
    foreach(
        _camkes_import
        sel4_import_libsel4
        util_libs_import_libraries
        sel4_libs_import_libraries
        projects_libs_import_libraries
        camkes_tool_import_libraries
        capdl_import_project
    )
        cmake_language(CALL ${_camkes_import})
    endforeach()
endmacro()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(camkes-tool DEFAULT_MSG CAMKES_TOOL_DIR)
