# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers

function(get_absolute_list_source_or_binary output path)
    get_filename_component(source "${path}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_LIST_DIR}")
    if(NOT EXISTS "${source}")
        get_filename_component(source "${path}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")
    endif()
    set(${output} "${source}" PARENT_SCOPE)
endfunction()

function(CapDLToolInstall target program)
    add_custom_target(${target})
    set(${program} parse-capDL PARENT_SCOPE)
endfunction()

function(CapDLToolCFileGen target)
    add_custom_target(${target})
    message(STATUS "standin: CapDLToolCFileGen ${ARGN}")
endfunction()

function(BuildCapDLApplication)
    message(STATUS "standin: BuildCapDLApplication ${ARGN}")
endfunction()
