# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
# CAmkES functions that record their calls. CMake includes this file at each project() of an
# application (CMAKE_PROJECT_INCLUDE_BEFORE), after cache.cmake. Fields of a record are separated by US, records
# end with RS. camkes/project/records.py interprets them.

cmake_policy(SET CMP0079 NEW) # libraries are linked to targets of other folders
list(APPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}/modules")
include_guard(GLOBAL)

if(CMAKE_VERSION VERSION_LESS 3.19)
    message(FATAL_ERROR "CMake 3.19 or newer is needed; this is ${CMAKE_VERSION}")
endif()

string(ASCII 30 CAMKES_RS)
string(ASCII 31 CAMKES_US)
set_property(GLOBAL PROPERTY CAMKES_RS "${CAMKES_RS}")
set_property(GLOBAL PROPERTY CAMKES_US "${CAMKES_US}")

function(camkes_record)
    get_property(rs GLOBAL PROPERTY CAMKES_RS)
    get_property(us GLOBAL PROPERTY CAMKES_US)
    list(JOIN ARGV "${us}" record)
    # how a library is linked does not affect how it is compiled
    string(REGEX REPLACE "[$]<LINK_LIBRARY:[A-Za-z_]+,([^<>,]*)>" "\\1" record "${record}")
    camkes_evaluable("${record}" evaluable)
    if(evaluable)
        get_property(number GLOBAL PROPERTY CAMKES_EVALUATED)
        math(EXPR number "0${number} + 1")
        set_property(GLOBAL PROPERTY CAMKES_EVALUATED ${number})
        string(REPLACE "$<COMPILE_LANGUAGE:C>" "1" content "${record}")
        string(REPLACE "$<COMPILE_LANGUAGE:CXX>" "0" content "${content}")
        string(REPLACE "$<COMPILE_LANGUAGE:ASM>" "0" content "${content}")
        file(GENERATE OUTPUT "${CAMKES_RECORDS}.${number}" CONTENT "${content}")
        string(PREPEND record "evaluated${us}${number}${us}")
    endif()
    file(APPEND "${CAMKES_RECORDS}" "${record}${rs}")
endfunction()

# Whether a record has generator expressions, and only such as have a value without a target.
function(camkes_evaluable record result)
    set(languages "[$]<COMPILE_LANGUAGE:(C|CXX|ASM)>")
    string(REGEX REPLACE "${languages}" "" rest "${record}")
    set(others "[$]<(COMPILE_|LINK_|DEVICE_|INSTALL_PREFIX|TARGET_OBJECTS|TARGET_PROPERTY:[^,>]*>)")
    set(${result} OFF PARENT_SCOPE)
    if(record MATCHES "[$]<" AND NOT rest MATCHES "${others}")
        set(${result} ON PARENT_SCOPE)
    endif()
endfunction()

# Names of libraries in place of their aliases.
function(camkes_unaliased result)
    set(names "")
    foreach(name IN LISTS ARGN)
        if(TARGET "${name}")
            get_target_property(aliased "${name}" ALIASED_TARGET)
            if(aliased)
                set(name "${aliased}")
            endif()
        endif()
        list(APPEND names "${name}")
    endforeach()
    set(${result} "${names}" PARENT_SCOPE)
endfunction()

function(camkes_record_call function)
    camkes_unaliased(arguments ${ARGN})
    camkes_record(
        call
        ${function}
        "${CMAKE_CURRENT_LIST_DIR}"
        "${CMAKE_CURRENT_SOURCE_DIR}"
        "${CMAKE_CURRENT_BINARY_DIR}"
        ${arguments}
    )
endfunction()

# Sources that the build makes need not be there. Which they are is known when everything is declared.
function(camkes_record_sources)
    set_property(GLOBAL APPEND PROPERTY CAMKES_SOURCE_FOLDERS "${CMAKE_CURRENT_SOURCE_DIR}")
    foreach(name IN LISTS ARGN)
        foreach(folder IN ITEMS "${CMAKE_CURRENT_SOURCE_DIR}" "${CMAKE_CURRENT_BINARY_DIR}")
            get_filename_component(path "${name}" ABSOLUTE BASE_DIR "${folder}")
            set_property(GLOBAL APPEND PROPERTY CAMKES_SOURCES "${path}")
        endforeach()
    endforeach()
endfunction()

# A component has a target, as in a build: applications set properties of it.
function(camkes_make_target name)
    if(NOT TARGET CAmkESComponent_${name})
        add_custom_target(CAmkESComponent_${name})
        set_property(GLOBAL APPEND PROPERTY CAMKES_COMPONENTS "${name}")
    endif()
endfunction()

# Each component, and each instance that is extended, is also a library of CMake, from which it says how each
# source is compiled: see camkes_fill_unit(). Here its arguments are kept until everything is declared. `unit` is
# COMPONENT or COMPONENT.INSTANCE.
function(camkes_keep unit)
    set(others CXX_FLAGS LD_FLAGS TEMPLATE_SOURCES TEMPLATE_HEADERS LINKER_LANGUAGE)
    list(APPEND others CAKEML_SOURCES CAKEML_DEPENDS CAKEML_INCLUDES CAKEML_HEAP_SIZE CAKEML_STACK_SIZE)
    cmake_parse_arguments(PARSE_ARGV 1 C "" "" "SOURCES;INCLUDES;LIBS;C_FLAGS;${others}")
    get_property(number GLOBAL PROPERTY CAMKES_KEPT)
    math(EXPR number "0${number} + 1")
    set_property(GLOBAL PROPERTY CAMKES_KEPT ${number})
    set_property(GLOBAL APPEND PROPERTY CAMKES_UNITS ${unit})
    set_property(GLOBAL APPEND PROPERTY "CAMKES_KEPT_OF_${unit}" ${number})
    set(folders "${CMAKE_CURRENT_LIST_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}" "${CMAKE_CURRENT_BINARY_DIR}")
    set_property(GLOBAL PROPERTY CAMKES_${number}_FOLDERS "${folders}")
    foreach(kind IN ITEMS SOURCES INCLUDES LIBS)
        set_property(GLOBAL PROPERTY CAMKES_${number}_${kind} "${C_${kind}}")
    endforeach()
endfunction()

# In the folder of the root server, whose flags hold for all components.
function(camkes_make_units)
    get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
    set(stand_ins "")
    foreach(language IN ITEMS C CXX)
        if(language IN_LIST languages)
            string(TOLOWER "${language}" suffix)
            list(APPEND stand_ins "${CAMKES_RECORDS}.${suffix}")
            file(WRITE "${CAMKES_RECORDS}.${suffix}" "")
        endif()
    endforeach()
    get_property(units GLOBAL PROPERTY CAMKES_UNITS)
    list(REMOVE_DUPLICATES units)
    foreach(unit IN LISTS units)
        if(stand_ins AND NOT TARGET camkes_unit.${unit})
            add_library(camkes_unit.${unit} STATIC EXCLUDE_FROM_ALL ${stand_ins})
            camkes_compile_apart(camkes_unit.${unit})
        endif()
    endforeach()
endfunction()

# Each source is compiled by itself, to code that can be looked at.
function(camkes_compile_apart target)
    set_target_properties(${target} PROPERTIES UNITY_BUILD OFF INTERPROCEDURAL_OPTIMIZATION OFF)
endfunction()

function(camkes_fill_units)
    camkes_make_units()
    get_property(units GLOBAL PROPERTY CAMKES_UNITS)
    list(REMOVE_DUPLICATES units)
    foreach(unit IN LISTS units)
        if(NOT TARGET camkes_unit.${unit})
            continue()
        endif()
        set(includes "")
        string(REGEX REPLACE "[.].*" "" component "${unit}")
        foreach(name IN ITEMS ${component} ${unit})
            get_property(numbers GLOBAL PROPERTY "CAMKES_KEPT_OF_${name}")
            foreach(number IN LISTS numbers)
                camkes_fill_unit(camkes_unit.${unit} ${number})
                camkes_folders_of(more ${number})
                list(PREPEND includes ${more})
            endforeach()
            if("${name}" STREQUAL "${unit}")
                break()
            endif()
        endforeach()
        target_include_directories(camkes_unit.${unit} PRIVATE ${includes})
        if(TARGET CAmkESComponent_${component})
            _add_dependencies(camkes_unit.${unit} CAmkESComponent_${component})
        endif()
    endforeach()
endfunction()

# The include folders that one call declares; those of a later call come first.
function(camkes_folders_of result number)
    get_property(folders GLOBAL PROPERTY CAMKES_${number}_FOLDERS)
    get_property(names GLOBAL PROPERTY CAMKES_${number}_INCLUDES)
    set(includes "")
    foreach(name IN LISTS names)
        camkes_find(path "${name}" ${folders})
        if(NOT path)
            list(GET folders 0 folder)
            get_filename_component(path "${name}" ABSOLUTE BASE_DIR "${folder}")
        endif()
        if(NOT name MATCHES "[$]<")
            list(APPEND includes "${path}")
        endif()
    endforeach()
    set(${result} "${includes}" PARENT_SCOPE)
endfunction()

# Add the sources and libraries that one call declares.
function(camkes_fill_unit target number)
    get_property(folders GLOBAL PROPERTY CAMKES_${number}_FOLDERS)
    list(GET folders 1 source_dir)
    get_property(names GLOBAL PROPERTY CAMKES_${number}_SOURCES)
    foreach(name IN LISTS names)
        if(name MATCHES "[$]<")
            continue()
        endif()
        camkes_find(path "${name}" ${folders})
        if(NOT path)
            foreach(folder IN LISTS folders)
                get_filename_component(candidate "${name}" ABSOLUTE BASE_DIR "${folder}")
                get_source_file_property(generated "${candidate}" DIRECTORY "${source_dir}" GENERATED)
                if(generated)
                    set(path "${candidate}")
                    set_source_files_properties(
                        "${path}"
                        TARGET_DIRECTORY
                        ${target}
                        PROPERTIES
                        GENERATED
                        TRUE
                    )
                    break()
                endif()
            endforeach()
        endif()
        if(path)
            target_sources(${target} PRIVATE "${path}")
        endif()
    endforeach()
    get_property(names GLOBAL PROPERTY CAMKES_${number}_LIBS)
    foreach(name IN LISTS names)
        set(type "")
        if(TARGET "${name}")
            get_target_property(type "${name}" TYPE)
        endif()
        if(type MATCHES "_LIBRARY$" OR name MATCHES "[$]<")
            target_link_libraries(${target} PRIVATE "${name}")
        endif()
    endforeach()
endfunction()

# The file or folder `name`, seen from the first of the folders that has it.
function(camkes_find result name)
    set(${result} "" PARENT_SCOPE)
    foreach(folder IN LISTS ARGN)
        get_filename_component(path "${name}" ABSOLUTE BASE_DIR "${folder}")
        if(EXISTS "${path}")
            set(${result} "${path}" PARENT_SCOPE)
            return()
        endif()
    endforeach()
endfunction()

function(camkes_record_properties)
    get_property(names GLOBAL PROPERTY CAMKES_COMPONENTS)
    foreach(name IN LISTS names)
        foreach(keyword IN ITEMS SOURCES INCLUDES C_FLAGS CXX_FLAGS LD_FLAGS LIBS)
            get_target_property(values CAmkESComponent_${name} COMPONENT_${keyword})
            if(values)
                camkes_record_call(declarecamkescomponent ${name} ${keyword} ${values})
                camkes_keep(${name} ${keyword} ${values})
            endif()
        endforeach()
    endforeach()
endfunction()

function(DeclareCAmkESComponent)
    camkes_record_call(declarecamkescomponent ${ARGN})
    if(ARGC GREATER 0 AND ARGV0 MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
        camkes_make_target(${ARGV0})
        camkes_keep(${ARGV})
    endif()
    camkes_record_sources(${ARGN})
endfunction()

function(ExtendCAmkESComponentInstance)
    camkes_record_call(extendcamkescomponentinstance ${ARGN})
    if("${ARGV0}.${ARGV1}" MATCHES "^[A-Za-z_][A-Za-z0-9_]*[.][A-Za-z0-9_.]+$")
        list(SUBLIST ARGV 2 -1 arguments)
        camkes_keep(${ARGV0}.${ARGV1} ${arguments})
    endif()
    camkes_record_sources(${ARGN})
endfunction()

function(DeclareCAmkESRootserver)
    camkes_record_call(declarecamkesrootserver ${ARGN})
    camkes_record_folder()
    cmake_language(DEFER CALL camkes_make_units)
endfunction()

function(GenerateCAmkESRootserver)
    camkes_record_folder()
    cmake_language(DEFER CALL camkes_make_units)
endfunction()

function(DeclareCAmkESConnector)
    camkes_record_call(declarecamkesconnector ${ARGN})
endfunction()

function(CAmkESAddImportPath)
    camkes_record_call(camkesaddimportpath ${ARGN})
endfunction()

function(CAmkESMaybeAddImportPath)
    camkes_record_call(camkesmaybeaddimportpath ${ARGN})
endfunction()

function(CAmkESAddTemplatesPath)
    camkes_record_call(camkesaddtemplatespath ${ARGN})
endfunction()

function(CAmkESAddCPPInclude)
    camkes_record_call(camkesaddcppinclude ${ARGN})
endfunction()

# What every component is compiled with: the flags of the folder that makes the components.
function(camkes_record_folder)
    string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
    foreach(language IN ITEMS C CXX)
        separate_arguments(flags UNIX_COMMAND "${CMAKE_${language}_FLAGS} ${CMAKE_${language}_FLAGS_${type}}")
        camkes_record(flags ${language} ${flags})
    endforeach()
    foreach(kind IN ITEMS COMPILE_DEFINITIONS COMPILE_OPTIONS INCLUDE_DIRECTORIES)
        get_directory_property(values ${kind})
        camkes_record(folder ${kind} ${values})
    endforeach()
endfunction()

# The components of the workspace, where the application is in one.
function(camkes_find_global_components result)
    set(${result} "" PARENT_SCOPE)
    set(folder "${CMAKE_CURRENT_LIST_DIR}")
    while(NOT folder STREQUAL "/")
        foreach(candidate IN ITEMS global-components projects/global-components)
            set(file "${folder}/${candidate}/global-components.cmake")
            if(EXISTS "${file}")
                set(${result} "${file}" PARENT_SCOPE)
                return()
            endif()
        endforeach()
        get_filename_component(folder "${folder}" DIRECTORY)
    endwhile()
endfunction()

macro(includeGlobalComponents)
    global_components_import_project()
endmacro()

# Where a workspace is named, its package has been imported, and workspace.cmake has an empty macro in place of this.
macro(global_components_import_project)
    camkes_find_global_components(camkes_global_components)
    if(camkes_global_components)
        include("${camkes_global_components}")
    endif()
endmacro()

include("${CMAKE_CURRENT_LIST_DIR}/config.cmake")

# Functions of the workspace that do not affect how components are built.
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
    ApplyCommonSimulationSettings
    ApplyCommonReleaseVerificationSettings
    ApplyData61ElfLoaderSettings
    GenerateSimulateScript
    SetSimulationScriptProperty
)
    cmake_language(EVAL CODE "function(${command})\nendfunction()")
endforeach()

# The packages of a workspace are not available, or were found before (workspace.cmake).
macro(find_package)
    set(camkes_package ${ARGV})
    list(REMOVE_ITEM camkes_package REQUIRED)
    if(NOT "${ARGV0}" IN_LIST camkes_packages)
        _find_package(${camkes_package} QUIET)
    endif()
endmacro()

# Targets of a workspace are not available.
function(add_dependencies target)
    foreach(other IN LISTS ARGN)
        if(TARGET "${target}" AND TARGET "${other}")
            _add_dependencies("${target}" "${other}")
        endif()
    endforeach()
endfunction()

function(camkes_record_libraries folder)
    get_property(targets DIRECTORY "${folder}" PROPERTY BUILDSYSTEM_TARGETS)
    foreach(target IN LISTS targets)
        get_target_property(type ${target} TYPE)
        if(NOT type MATCHES "_LIBRARY$")
            continue()
        endif()
        if(target MATCHES "^camkes_unit[.]")
            continue()
        endif()
        camkes_compile_apart(${target})
        get_target_property(source_dir ${target} SOURCE_DIR)
        camkes_record_property(${target} sources SOURCES "${source_dir}")
        camkes_record_property(${target} sources INTERFACE_SOURCES "${source_dir}")
        foreach(interface IN ITEMS "" INTERFACE_)
            camkes_record_property(${target} includes ${interface}INCLUDE_DIRECTORIES "${source_dir}")
            camkes_record_property(${target} flags ${interface}COMPILE_OPTIONS "")
            camkes_record_property(${target} definitions ${interface}COMPILE_DEFINITIONS "")
        endforeach()
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
        if(folder AND NOT IS_ABSOLUTE "${value}" AND NOT value MATCHES "^[$]<")
            set(value "${folder}/${value}")
        endif()
        list(APPEND result "${value}")
    endforeach()
    camkes_unaliased(result ${result})
    camkes_record(library ${target} ${kind} ${result})
endfunction()

function(camkes_finish)
    camkes_record_properties()
    camkes_fill_units()
    camkes_record_libraries("${CMAKE_SOURCE_DIR}")
    get_property(sources GLOBAL PROPERTY CAMKES_SOURCES)
    get_property(folders GLOBAL PROPERTY CAMKES_SOURCE_FOLDERS)
    list(REMOVE_DUPLICATES folders)
    list(REMOVE_DUPLICATES sources)
    foreach(path IN LISTS sources)
        foreach(folder IN LISTS folders)
            get_source_file_property(generated "${path}" DIRECTORY "${folder}" GENERATED)
            if(generated)
                camkes_record(generated "${path}")
                break()
            endif()
        endforeach()
    endforeach()
    get_directory_property(names CACHE_VARIABLES)
    foreach(name IN LISTS names)
        camkes_record(cache ${name})
        if(name MATCHES "^CAmkES|^KernelIsMCS$")
            camkes_record(option ${name} "$CACHE{${name}}")
        endif()
    endforeach()
    camkes_record(end)
endfunction()

camkes_record(begin "${CMAKE_ROOT}" "${CMAKE_VERSION}")
# Twice, so that what the application defers comes first.
function(camkes_finish_last)
    cmake_language(DEFER CALL camkes_finish)
endfunction()
cmake_language(DEFER CALL camkes_finish_last)
