# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
#
# The CAmkES functions, writing down how they are called. Fields of a record are separated by US, records end
# with RS. The tool (camkes/cmakelists/fallback.py) gives the records their meaning.

string(ASCII 30 CAMKES_RS)
string(ASCII 31 CAMKES_US)
file(WRITE "${CAMKES_RECORD_FILE}.part" "")

function(camkes_record)
    set(record "")
    set(first TRUE)
    foreach(field IN LISTS ARGV)
        if(NOT first)
            string(APPEND record "${CAMKES_US}")
        endif()
        set(first FALSE)
        string(APPEND record "${field}")
    endforeach()
    file(APPEND "${CAMKES_RECORD_FILE}.part" "${record}${CAMKES_RS}")
endfunction()

# No compiler is needed to read declarations.
macro(project name)
    _project(${name} NONE)
    camkes_record(project "${CMAKE_CURRENT_LIST_FILE}" ${name})
endmacro()

function(DeclareCAmkESComponent)
    camkes_record(call "${CMAKE_CURRENT_LIST_FILE}" declarecamkescomponent ${ARGN})
endfunction()

function(DeclareCAmkESRootserver)
    camkes_record(call "${CMAKE_CURRENT_LIST_FILE}" declarecamkesrootserver ${ARGN})
endfunction()

function(GenerateCAmkESRootserver)
endfunction()

function(DeclareCAmkESConnector)
    camkes_record(call "${CMAKE_CURRENT_LIST_FILE}" declarecamkesconnector ${ARGN})
endfunction()

function(ExtendCAmkESComponentInstance)
    camkes_record(call "${CMAKE_CURRENT_LIST_FILE}" extendcamkescomponentinstance ${ARGN})
endfunction()

function(CAmkESAddImportPath)
    camkes_record(call "${CMAKE_CURRENT_LIST_FILE}" camkesaddimportpath ${ARGN})
endfunction()

function(CAmkESMaybeAddImportPath)
    camkes_record(call "${CMAKE_CURRENT_LIST_FILE}" camkesmaybeaddimportpath ${ARGN})
endfunction()

function(CAmkESAddTemplatesPath)
    camkes_record(call "${CMAKE_CURRENT_LIST_FILE}" camkesaddtemplatespath ${ARGN})
endfunction()

function(CAmkESAddCPPInclude)
    camkes_record(call "${CMAKE_CURRENT_LIST_FILE}" camkesaddcppinclude ${ARGN})
endfunction()

function(includeGlobalComponents)
    camkes_record(workspace "${CMAKE_CURRENT_LIST_FILE}")
endfunction()

function(global_components_import_project)
    camkes_record(workspace "${CMAKE_CURRENT_LIST_FILE}")
endfunction()

# What belongs to the workspace and changes nothing a component is built from.
foreach(
    command
    IN
    ITEMS
    add_simulate_test
    camkes_tool_setup_camkes_build_environment
    camkes_tool_import_libraries
    sel4_projects_libs_import_libraries
    sel4_configure_platform_settings
    correct_platform_strings
    config_option
    config_string
    config_choice
    add_config_library
    ApplyCommonSimulationSettings
    ApplyCommonReleaseVerificationSettings
    ApplyData61ElfLoaderSettings
    GenerateSimulateScript
    SetSimulationScriptProperty
)
    cmake_language(EVAL CODE "function(${command})\nendfunction()")
endforeach()

macro(find_package name)
    _find_package(${name} QUIET)
endmacro()

# Components are looked at when everything is declared: dependencies of targets do not matter here.
function(add_dependencies)
endfunction()

function(add_custom_command)
    cmake_parse_arguments(PARSE_ARGV 0 CUSTOM "" "" "OUTPUT;COMMAND;DEPENDS;BYPRODUCTS")
    if(CUSTOM_OUTPUT)
        camkes_record(generated ${CUSTOM_OUTPUT})
    endif()
endfunction()

function(camkes_record_libraries folder)
    get_property(targets DIRECTORY "${folder}" PROPERTY BUILDSYSTEM_TARGETS)
    foreach(target IN LISTS targets)
        get_target_property(type ${target} TYPE)
        if(NOT type MATCHES "_LIBRARY$")
            continue()
        endif()
        get_target_property(source_dir ${target} SOURCE_DIR)
        camkes_record_property(${target} sources SOURCES "${source_dir}")
        camkes_record_property(${target} includes INTERFACE_INCLUDE_DIRECTORIES "${source_dir}")
        camkes_record_property(${target} flags INTERFACE_COMPILE_OPTIONS "")
        camkes_record_property(${target} libs INTERFACE_LINK_LIBRARIES "")
    endforeach()
    get_property(folders DIRECTORY "${folder}" PROPERTY SUBDIRECTORIES)
    foreach(inner IN LISTS folders)
        camkes_record_libraries("${inner}")
    endforeach()
endfunction()

function(camkes_record_property target kind property folder)
    get_target_property(values ${target} ${property})
    if(NOT values)
        set(values "")
    endif()
    set(result "")
    foreach(value IN LISTS values)
        if(folder AND NOT IS_ABSOLUTE "${value}")
            set(value "${folder}/${value}")
        endif()
        list(APPEND result "${value}")
    endforeach()
    camkes_record(library ${target} ${kind} ${result})
endfunction()

function(camkes_recorder_finish)
    camkes_record_libraries("${CMAKE_SOURCE_DIR}")
    get_directory_property(names CACHE_VARIABLES)
    foreach(name IN LISTS names)
        if(name MATCHES "^CAmkES")
            camkes_record(option ${name} "${${name}}")
        endif()
    endforeach()
    file(RENAME "${CAMKES_RECORD_FILE}.part" "${CAMKES_RECORD_FILE}")
endfunction()
